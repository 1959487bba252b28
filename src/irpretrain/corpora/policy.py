"""What happens to records that cannot be read: refused with their place, or skipped and counted by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

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

Policy = Literal["refuse", "skip"]
Record = TypeVar(
    "Record", Document | Redirect, Query, Judgement, Answers, Retrieved, SpanQuestion, LabelledText
)
EXAMPLES = 20


class Tally:
    """Counts of one stage: records read, left out by reason, malformed by reason with the first examples."""

    def __init__(self, policy: Policy, setting: str) -> None:
        """Start at zero; `setting` is the key of the configuration that holds `policy`, for the message."""
        self.policy, self.setting = policy, setting
        self.read = 0
        self.skipped: Counter[str] = Counter()
        self.malformed: Counter[str] = Counter()
        self.examples: list[str] = []
        self.named: list[str] = []
        self.first: dict[str, str] = {}

    def sound(self, path: Path, records: Iterable[Record | Skipped | Malformed]) -> Iterator[Record]:
        """Yield the sound records of `path`; raise InputError at a malformed one, or count it."""
        for record in records:
            self.read += 1
            if isinstance(record, Malformed):
                self.report(path, record)
            elif isinstance(record, Skipped):
                self._skip(path, record)
            else:
                yield record

    def report(self, path: Path, fault: Malformed) -> None:
        """Refuse or count one malformed record."""
        what = clean_line(str(fault))  # it may quote what no terminal or log can show
        place = f"{path}:{fault.line}" if fault.line is not None else f"{path} ({_place(fault)})"
        if self.policy == "refuse":
            where = "" if fault.line is not None else f" ({_place(fault)})"
            remedy = f"{fault.remedy}, or set {self.setting}: skip to leave such records out and count them."
            raise InputError(path, f"{what}{where}", fault.line, remedy)
        self.malformed[fault.reason] += 1
        self.first.setdefault(fault.reason, place)
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{place}: {what}")

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
            "first_left_out": dict(sorted(self.first.items())),
        }


def _place(fault: Malformed) -> str:
    return fault.place or f"record {fault.position + 1}"


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
