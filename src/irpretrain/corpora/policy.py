"""What happens to records that cannot be read: left out and counted by reason, or refused with their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from irpretrain.config.malformed import MalformedConfig
from irpretrain.corpora.characters import clean_line
from irpretrain.corpora.records import (
    Answers,
    Document,
    Judgement,
    LabelledText,
    Malformed,
    Query,
    Redirect,
    Retrieved,
    Skipped,
    SpanQuestion,
)
from irpretrain.errors import InputError

Record = TypeVar(
    "Record", Document | Redirect, Query, Judgement, Answers, Retrieved, SpanQuestion, LabelledText
)
EXAMPLES = 20


class Tally:
    """Counts of one stage: records read, left out by reason, malformed by reason with the first examples."""

    def __init__(self, policy: MalformedConfig, setting: str) -> None:
        """Start at zero; `setting` is the key of the configuration that holds `policy`, for the message."""
        self.allowed, self.setting = policy.skip, setting
        self.fault: InputError | None = None
        self.read = 0
        self.skipped: Counter[str] = Counter()
        self.malformed: Counter[str] = Counter()
        self.examples: list[str] = []
        self.parts: Counter[str] = Counter()
        self.named: list[str] = []
        self.first: dict[str, str] = {}

    def sound(self, path: Path, records: Iterable[Record | Skipped | Malformed]) -> Iterator[Record]:
        """Yield the sound records of `path`; count malformed ones, or raise InputError where none is allowed."""
        for record in records:
            self.read += 1
            if isinstance(record, Malformed):
                self.report(path, record)
            elif isinstance(record, Skipped):
                self._skip(path, record)
            else:
                if isinstance(record, Document):
                    self.parts.update(record.parts)
                yield record

    def report(self, path: Path, fault: Malformed) -> None:
        """Refuse or count one malformed record."""
        what = clean_line(str(fault))  # it may quote what no terminal or log can show
        place = f"{path}:{fault.line}" if fault.line is not None else f"{path} ({_place(fault)})"
        if self.fault is None or fault.loses_more:
            where = "" if fault.line is not None else f" ({_place(fault)})"
            remedy = f"{fault.remedy}, or set {self.setting}: skip to leave such records out and count them."
            self.fault = InputError(path, f"{what}{where}", fault.line, remedy)
        if self.allowed == 0 or (fault.loses_more and self.allowed < 1):
            raise self.fault
        self.malformed[fault.reason] += 1
        self.first.setdefault(fault.reason, place)
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{place}: {what}")

    def settle(self) -> None:
        """Refuse what was read, all of it, if more records are malformed than the configuration allows."""
        if self.fault is not None and is_over_budget([self.counts()]):
            raise self.fault

    def _skip(self, path: Path, record: Skipped) -> None:
        self.skipped[record.reason] += 1
        if record.reason not in self.first:
            place = clean_line(record.place or record.detail) or f"record {record.position + 1}"
            self.first[record.reason] = f"{path} ({place})"
        if record.detail and len(self.named) < EXAMPLES:
            self.named.append(f"{path}: {clean_line(f'{record.reason}: {record.detail}')}")

    def counts(self) -> dict[str, Any]:
        """Return the counts for the sidecar."""
        return {
            "read": self.read,
            "skipped": dict(sorted(self.skipped.items())),
            "skipped_examples": self.named,
            "malformed": dict(sorted(self.malformed.items())),
            "malformed_examples": self.examples,
            "malformed_allowed": self.allowed,
            "first_left_out": dict(sorted(self.first.items())),
            **({"parts": dict(sorted(self.parts.items()))} if self.parts else {}),
        }


def _place(fault: Malformed) -> str:
    return fault.place or f"record {fault.position + 1}"


def is_over_budget(counts: Iterable[Mapping[str, Any]]) -> bool:
    """Whether more of the records read are malformed than the configuration allows.

    Args:
        counts: what `Tally.counts` returned, of all shards of a corpus: the answer does not depend on their number.
    """
    read = malformed = 0
    allowed = 1.0
    for shard in counts:
        read += int(shard.get("read", 0))
        malformed += sum(shard.get("malformed", {}).values())
        allowed = float(shard.get("malformed_allowed", 1.0))
    # As it is printed: 0.29 of 100 are 29, but the product of the floats is less.
    return malformed > Fraction(str(allowed)) * read


def told_reasons(counts: Iterable[Mapping[str, Any]]) -> str:
    """Return why records were left out, in words: each reason with its number and its first record.

    Args:
        counts: what `Tally.counts` returned, of one shard or several.
    """
    numbers, first = Counter[str](), dict[str, str]()
    for shard in counts:
        for kind in ("skipped", "malformed"):
            numbers.update(shard.get(kind, {}))
        first = {**shard.get("first_left_out", {}), **first}
    return "; ".join(
        f"{number:,} × {reason}" + (f", first {first[reason]}" if reason in first else "")
        for reason, number in numbers.most_common()
    )


def no_documents(source: str | Path, counts: Sequence[Mapping[str, Any]]) -> InputError:
    """Return the refusal of a corpus without a single document, from the counts of its shards."""
    read = sum(int(shard.get("read", 0)) for shard in counts)
    if not read:
        remedy = "Check its path, its format and its `files` in the configuration."
        return InputError(source, "the corpus has no documents: its files hold no record", remedy=remedy)
    remedy = (
        "Name the fields or tags that hold text and identifier in `options` of the corpus, or give it another format "
        "(docs/corpora.md)."
    )
    reasons = told_reasons(counts) or "they are redirects"
    return InputError(
        source, f"the corpus has no documents: all {read:,} records are left out ({reasons})", remedy=remedy
    )
