"""What happens to records that cannot be read: left out and counted by reason, or refused with their place."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from irpretrain.config.corpora import MalformedConfig
from irpretrain.corpora.fields import BODIES, IDENTIFIERS, TITLES, URLS
from irpretrain.corpora.formats.json_files import IDENTIFIERS as TOPIC_IDENTIFIERS
from irpretrain.corpora.formats.json_files import TEXTS
from irpretrain.corpora.formats.trectext import BARE_TEXT
from irpretrain.corpora.registry import format_of
from irpretrain.foundation.characters import clean_line, displayed_names
from irpretrain.foundation.errors import InputError, cli_or_api, count_of, nearest
from irpretrain.foundation.progress import notice
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.foundation.records import (
    Answers,
    Document,
    Judgement,
    Malformed,
    Query,
    Redirect,
    Retrieved,
    Skipped,
    SpanQuestion,
)

Record = TypeVar("Record", Document | Redirect, Query, Judgement, Answers, Retrieved, SpanQuestion)
EXAMPLES = 20

# Different names of fields that are not read, which are counted; and how many of them a note names.
MOST_UNREAD, NAMED_UNREAD = 1000, 10


@dataclass(frozen=True, slots=True)
class Excess:
    """More malformed records than the configuration allows."""

    message: str  # how many they are and how many may be, in words
    suggested_skip: str  # setting of `malformed` that allows as many; empty if not one record would be left


class RecordTally:
    """Counts of one stage: records read, left out by reason, malformed by reason with the first examples."""

    def __init__(self, policy: MalformedConfig, setting: str, option: str = "--option") -> None:
        """Start at zero; for the message: the key of the configuration that holds `policy`, empty if the user has none,
        and the option of the command that sets it."""
        self.allowed, self.setting = policy.skip, setting
        self._option = option
        self.fault: tuple[Path, Malformed] | None = None
        self.read = 0
        self.skipped: Counter[str] = Counter()
        self.malformed: Counter[str] = Counter()
        self.examples: list[str] = []
        self.parts: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
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
                if isinstance(record, Document | Query) and record.unread:
                    self._count_unread(record.unread)
                yield record

    def _count_unread(self, names: Sequence[str]) -> None:
        if len(self.unread) < MOST_UNREAD:
            self.unread.update(names)
        else:
            self.unread.update(name for name in names if name in self.unread)

    def report(self, path: Path, fault: Malformed) -> None:
        fault_text = clean_line(str(fault))  # it may quote what no terminal or log can show
        location = f"{path}:{fault.line}" if fault.line is not None else f"{path} ({_location(fault)})"
        if self.allowed == 0 or (fault.loses_more and self.allowed < 1):
            raise self._refusal(path, fault)
        self.fault = self.fault or (path, fault)
        self.malformed[fault.reason] += 1
        self.first.setdefault(fault.reason, location)
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{location}: {fault_text}")

    def settle(self) -> None:
        """Refuse what was read, all of it, if more records are malformed than the configuration allows."""
        if self.fault is not None and (excess := over_budget([self.counts()])):
            raise self._refusal(*self.fault, excess)

    def _refusal(self, path: Path, fault: Malformed, excess: Excess | None = None) -> InputError:
        fault_text = clean_line(str(fault)) + ("" if fault.line is not None else f" ({_location(fault)})")
        suggested_skip = excess.suggested_skip if excess else "skip"
        setting = cli_or_api(
            f"set {self.setting}: {suggested_skip}",
            f"add {self._option} {shlex.quote(f'{self.setting}={suggested_skip}')}",
        )
        remedy = f"{fault.remedy}, or {setting} to leave such records out and count them."
        if not self.setting:
            remedy = f"{fault.remedy}."
        elif not suggested_skip:
            remedy = (
                f"{fault.remedy}, or give another format or other options (docs/corpora.md): none was sound."
            )
        return InputError(
            path, f"{fault_text}; {excess.message}" if excess else fault_text, fault.line, remedy
        )

    def _skip(self, path: Path, record: Skipped) -> None:
        self.skipped[record.reason] += 1
        if record.reason not in self.first:
            location = clean_line(record.location or record.detail) or f"record {record.position + 1}"
            self.first[record.reason] = f"{path} ({location})"
        if record.detail and len(self.named) < EXAMPLES:
            self.named.append(f"{path}: {clean_line(f'{record.reason}: {record.detail}')}")

    def counts(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "skipped": dict(sorted(self.skipped.items())),
            "skipped_examples": self.named,
            "malformed": dict(sorted(self.malformed.items())),
            "malformed_examples": self.examples,
            "malformed_allowed": self.allowed,
            "first_left_out": dict(sorted(self.first.items())),
            **({"parts": dict(sorted(self.parts.items()))} if self.parts else {}),
            **({"unread_fields": dict(sorted(self.unread.items()))} if self.unread else {}),
        }


def _location(fault: Malformed) -> str:
    return fault.location or f"record {fault.position + 1}"


def over_budget(counts: Iterable[Mapping[str, Any]]) -> Excess | None:
    """Return the excess of malformed records over the configured share in all shards of a corpus; None within it."""
    records_read = records_malformed = records_skipped = 0
    allowed_share = 1.0
    for shard in counts:
        records_read += int(shard.get("read", 0))
        records_malformed += sum(shard.get("malformed", {}).values())
        records_skipped += sum(shard.get("skipped", {}).values())
        allowed_share = float(shard.get("malformed_allowed", allowed_share))
    # As it is printed: 0.29 of 100 are 29, but the product of the floats is less.
    if records_malformed <= Fraction(str(allowed_share)) * records_read:
        return None
    share = Context(prec=1, rounding=ROUND_UP).divide(records_malformed, records_read)
    suggested_skip = "skip" if share >= 1 else f"{{skip: {share:f}}}"
    return Excess(
        f"{records_malformed:,} of {records_read:,} records are malformed, more than the share of {allowed_share:g} "
        "that is allowed",
        suggested_skip if records_malformed + records_skipped < records_read else "",
    )


def reported_reasons(counts: Iterable[Mapping[str, Any]]) -> str:
    """Return why records were left out, in words: each reason with its number and its first record."""
    reason_counts, first_locations = Counter[str](), dict[str, str]()
    for shard in counts:
        for counts_key in ("skipped", "malformed"):
            reason_counts.update(shard.get(counts_key, {}))
        first_locations = {**shard.get("first_left_out", {}), **first_locations}
    return "; ".join(
        f"{number:,} × {reason}" + (f", first {first_locations[reason]}" if reason in first_locations else "")
        for reason, number in reason_counts.most_common()
    )


def unread_fields(counts: Mapping[str, Any], topics_format: str | None = None) -> str:
    """Return which fields of records are not read, in a sentence, from a tally's counts; nothing if all are.

    The most frequent ones come first; a name that resembles that of a field which is read gets a suggestion. Without
    `topics_format`, the format of topics, the records are documents.
    """
    # A column without a name counts rows, as pandas writes it.
    count_by_field: dict[str, int] = {
        name: n for name, n in counts.get("unread_fields", {}).items() if name.strip()
    }
    if not count_by_field:
        return ""
    known_names = (
        [*IDENTIFIERS, *TITLES, *URLS, *BODIES] if topics_format is None else [*TOPIC_IDENTIFIERS, *TEXTS]
    )
    field_texts = list[str]()
    for name in sorted(count_by_field, key=lambda name: (-count_by_field[name], name))[:NAMED_UNREAD]:
        similar_names = nearest(name.lower(), known_names, 0.7)
        suggestion = f" (did you mean {similar_names[0]}?)" if similar_names else ""
        field_texts.append(f"{displayed_names([name])}{suggestion}")
    remainder = (
        f" and {len(count_by_field) - len(field_texts):,} more"
        if len(count_by_field) > len(field_texts)
        else ""
    )
    keys, option = (
        "title_field, url_field, body_fields",
        "--option title_field=NAME or --option 'body_fields=[NAME]'",
    )
    advice = cli_or_api(f"name others in the options {keys}", f"name others by {option}")
    if topics_format is not None and "text_field" in format_of("topics", topics_format).options.model_fields:
        advice = cli_or_api(
            "name others in the options id_field, text_field",
            "name others by --topics-option text_field=NAME",
        )
    elif topics_format is not None:
        advice = f"the text is that of the column {', '.join(TEXTS[:-1])} or {TEXTS[-1]}"
    return f"fields that are not read: {', '.join(field_texts)}{remainder}; {advice}"


def no_documents(source: str | Path, counts: Sequence[Mapping[str, Any]]) -> InputError:
    """Return the refusal of a corpus without a single document, from the counts of its shards."""
    records_read = sum(int(shard.get("read", 0)) for shard in counts)
    if not records_read:
        remedy = cli_or_api(
            "Check its path, its format and, in a configuration, its `files`.",
            "Check its path and its format.",
        )
        return InputError(source, "the corpus has no documents: its files hold no record", remedy=remedy)
    remedy = cli_or_api(
        "Name the fields or tags that hold text and identifier in `options` of the corpus, or give it another format "
        "(docs/corpora.md).",
        "Name the fields or tags that hold text and identifier by --option KEY=VALUE, or give another format "
        "(docs/corpora.md).",
    )
    reasons = reported_reasons(counts) or "they are redirects"
    return InputError(
        source,
        f"the corpus has no documents: all {records_read:,} records are left out ({reasons})",
        remedy=remedy,
    )


# What a data set loses between its files and the scores, for the screen and for the report.


# Reasons for which a document that ought to have text is left out.
EMPTY = ("empty document", "empty text", "no text", "no text under title_tags and body_tags")

# Share from which on a loss is a warning.
WORTH_A_WARNING = 0.01


@dataclass(frozen=True)
class DroppedRecords:
    """Records that do not count."""

    # number, total: of how many are lost how many.
    number: int
    total: int
    what: str  # in words, behind "3 of 200"
    example: str = ""  # one of them
    hint: str = ""  # a sentence on what may be the cause; nothing if none is seen

    def __str__(self) -> str:
        return f"{self.number:,} of {self.total:,} {self.what}"

    @property
    def is_worth_a_warning(self) -> bool:
        return self.number / self.total > WORTH_A_WARNING

    def log(self, label: str) -> None:
        """Say it on the screen, as a warning where it is worth one."""
        notice(
            label,
            f"WARNING: {self.warning()}" if self.is_worth_a_warning else f"{self}, such as {self.example}",
        )

    def warning(self) -> str:
        """Return the loss with its share, an example and the hint."""
        share = f"{100 * self.number / self.total:.1f} %"
        example = f", such as {self.example}" if self.example else ""
        return f"{self.number:,} of {self.total:,} ({share}) {self.what}{example}." + (
            f" {self.hint}" if self.hint else ""
        )


def empty_documents(shards: Iterable[Mapping[str, Any]]) -> DroppedRecords:
    """Return the loss of documents, by reason, from the counts of a corpus' shards."""
    reason_counts, total, example = Counter[str](), 0, ""
    for counts in shards:
        total += int(counts.get("read", 0))
        reasons = {reason: n for reason, n in counts.get("skipped", {}).items() if reason in EMPTY}
        reasons |= counts.get("malformed", {})
        reason_counts.update(reasons)
        first_locations = counts.get("first_left_out", {})
        example = example or next(
            (first_locations[reason] for reason in sorted(reasons) if reason in first_locations), ""
        )
    reasons_text = ", ".join(f"{number:,} × {reason}" for reason, number in sorted(reason_counts.items()))
    return DroppedRecords(reason_counts.total(), total, f"documents are left out ({reasons_text})", example)


def bare_texts(shards: Iterable[Mapping[str, Any]]) -> DroppedRecords:
    """Return the loss of text that stands under no tag of a body, from the counts of a corpus' shards."""
    pairs = [(counts.get("parts", {}).get(BARE_TEXT, 0), counts.get("read", 0)) for counts in shards]
    hint = (
        "Name its tags in body_tags; text directly under <DOC> is read of documents without such a tag alone."
    )
    loss_text = "documents have text outside body_tags, which is left out"
    return DroppedRecords(
        sum(documents_with_text for documents_with_text, _ in pairs),
        sum(records_read for _, records_read in pairs),
        loss_text,
        hint=hint,
    )


def lost_documents(documents: Iterable[str | Path]) -> list[DroppedRecords]:
    """Return what a corpus loses, from the sidecars of its shards."""
    shards = [read_sidecar(path).get("counts", {}) for path in documents]
    return [empty_documents(shards), bare_texts(shards)]


def malformed_records(tally: RecordTally, record_kind: str) -> DroppedRecords:
    """Return the loss of records that cannot be read and are skipped."""
    lost_count = sum(tally.malformed.values())
    example = tally.examples[0] if tally.examples else ""
    return DroppedRecords(lost_count, tally.read, f"{record_kind} cannot be read and are left out", example)


def log(label: str, queries: str, documents: int, losses: Iterable[DroppedRecords]) -> dict[str, Any]:
    """Log what a data set holds and loses; return `summary`, a line, and `warnings`, one per loss above 1 %."""
    present = [loss for loss in losses if loss.number]
    lost = "; ".join(map(str, present)) or "nothing left out"
    summary = f"{count_of(documents, 'document')}, {queries}; {lost}"
    warnings = [loss.warning() for loss in present if loss.is_worth_a_warning]
    for line in (summary, *(f"WARNING: {warning}" for warning in warnings)):
        notice(label, line)
    return {"summary": summary, "warnings": warnings}
