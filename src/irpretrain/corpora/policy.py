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
MAX_EXAMPLES = 20
UNIQUE_IDENTIFIERS = "Identifiers must be unique: delete all but one of these documents, or rename them."

# Different names of fields that are not read, which are counted; and how many of them a note names.
MAX_UNREAD_FIELDS, MAX_NAMED_FIELDS = 1000, 10


@dataclass(frozen=True, slots=True)
class Excess:
    """More malformed records than the configuration allows."""

    message: str  # how many they are and how many may be, in words
    suggested_skip: str  # setting of `malformed` that allows as many; empty if not one record would be left


class RecordTally:
    """Counts of one stage: records read, left out by reason, malformed by reason with the first examples."""

    def __init__(
        self,
        policy: MalformedConfig,
        setting: str,
        option: str = "--option",
        ids_without_text: set[str] | None = None,
    ) -> None:
        """Start at zero.

        Args:
            policy: which malformed records are allowed.
            setting: for the message: the key of the configuration that holds `policy`, empty if the user has none.
            option: the option of the command that sets it.
            ids_without_text: gets the identifiers of documents that are left out for lack of text; None: not needed.
        """
        self.allowed_share, self.setting = policy.skip, setting
        self._option = option
        self._ids_without_text = ids_without_text
        self.first_fault: tuple[Path, Malformed] | None = None  # one of a whole file if there is one
        self.read_count = 0
        self.skipped: Counter[str] = Counter()
        self.malformed: Counter[str] = Counter()
        self.examples: list[str] = []
        self.part_counts: Counter[str] = Counter()
        self.unread_counts: Counter[str] = Counter()
        self.named_skips: list[str] = []
        self.first_locations: dict[str, str] = {}

    def sound(self, path: Path, records: Iterable[Record | Skipped | Malformed]) -> Iterator[Record]:
        """Yield the sound records of `path`; count malformed ones, or raise InputError where none is allowed."""
        for record in records:
            self.read_count += 1
            if isinstance(record, Malformed):
                self.report(path, record)
            elif isinstance(record, Skipped):
                self._skip(path, record)
            else:
                if isinstance(record, Document):
                    self.part_counts.update(record.parts)
                if isinstance(record, Document | Query) and record.unread:
                    self._count_unread(record.unread)
                yield record

    def _count_unread(self, names: Sequence[str]) -> None:
        if len(self.unread_counts) < MAX_UNREAD_FIELDS:
            self.unread_counts.update(names)
        else:
            self.unread_counts.update(name for name in names if name in self.unread_counts)

    def report(self, path: Path, fault: Malformed) -> None:
        fault_text = clean_line(str(fault))  # it may quote what no terminal or log can show
        location = f"{path}:{fault.line}" if fault.line is not None else f"{path} ({_location(fault)})"
        if self.allowed_share == 0 or (fault.loses_more and self.allowed_share < 1):
            raise self._refusal(path, fault)
        if self.first_fault is None or (fault.of_file and not self.first_fault[1].of_file):
            self.first_fault = path, fault
        self.malformed[fault.reason] += 1
        self.first_locations.setdefault(fault.reason, location)
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(f"{location}: {fault_text}")

    def settle(self) -> None:
        """Refuse what was read, all of it, if more records are malformed than the configuration allows."""
        if self.first_fault is not None and (excess := malformed_excess([self.counts()])):
            raise self._refusal(*self.first_fault, excess)

    def _refusal(self, path: Path, fault: Malformed, excess: Excess | None = None) -> InputError:
        fault_text = clean_line(str(fault)) + ("" if fault.line is not None else f" ({_location(fault)})")
        suggested_skip = excess.suggested_skip if excess else "skip"
        setting = cli_or_api(
            f"set {self.setting}: {suggested_skip}",
            f"add {self._option} {shlex.quote(f'{self.setting}={suggested_skip}')}",
        )
        mend = fault.remedy.replace("--option ", f"{self._option} ")
        remedy = f"{mend}, or {setting} to leave such records out and count them."
        if fault.of_file or not self.setting:
            remedy = f"{mend}."
        elif not suggested_skip:
            remedy = f"{mend}, or give another format or other options (docs/corpora.md): none was sound."
        return InputError(
            path,
            f"{fault_text}; {excess.message}" if excess and not fault.of_file else fault_text,
            fault.line,
            remedy,
        )

    def _skip(self, path: Path, record: Skipped) -> None:
        self.skipped[record.reason] += 1
        if record.document_id and self._ids_without_text is not None:
            self._ids_without_text.add(record.document_id)
        if record.reason not in self.first_locations:
            location = clean_line(record.location or record.detail) or f"record {record.position + 1}"
            self.first_locations[record.reason] = f"{path} ({location})"
        if record.detail and len(self.named_skips) < MAX_EXAMPLES:
            self.named_skips.append(f"{path}: {clean_line(f'{record.reason}: {record.detail}')}")

    def counts(self) -> dict[str, Any]:
        fault = None if self.first_fault is None else self.first_fault[1]
        return {
            "read": self.read_count,
            "skipped": dict(sorted(self.skipped.items())),
            "skipped_examples": self.named_skips,
            "malformed": dict(sorted(self.malformed.items())),
            "malformed_examples": self.examples,
            "malformed_allowed": self.allowed_share,
            "first_left_out": dict(sorted(self.first_locations.items())),
            **({"remedy_of_files": f"{fault.remedy}."} if fault is not None and fault.of_file else {}),
            **({"parts": dict(sorted(self.part_counts.items()))} if self.part_counts else {}),
            **({"unread_fields": dict(sorted(self.unread_counts.items()))} if self.unread_counts else {}),
        }


def _location(fault: Malformed) -> str:
    return fault.location or f"record {fault.position + 1}"


def malformed_excess(shard_counts: Iterable[Mapping[str, Any]]) -> Excess | None:
    """Return the excess of malformed records over the configured share in all shards of a corpus; None within it."""
    record_count = malformed_count = skipped_count = 0
    allowed_share = 1.0
    for counts in shard_counts:
        record_count += int(counts.get("read", 0))
        malformed_count += sum(counts.get("malformed", {}).values())
        skipped_count += sum(counts.get("skipped", {}).values())
        allowed_share = float(counts.get("malformed_allowed", allowed_share))
    # As it is printed: 0.29 of 100 are 29, but the product of the floats is less.
    if malformed_count <= Fraction(str(allowed_share)) * record_count:
        return None
    share = Context(prec=1, rounding=ROUND_UP).divide(malformed_count, record_count)
    suggested_skip = "skip" if share >= 1 else f"{{skip: {share:f}}}"
    return Excess(
        f"{malformed_count:,} of {record_count:,} records are malformed, more than the share of {allowed_share:g} "
        "that is allowed",
        suggested_skip if malformed_count + skipped_count < record_count else "",
    )


def left_out_reasons(shard_counts: Iterable[Mapping[str, Any]]) -> str:
    """Return why records were left out, in words: each reason with its number and its first record."""
    reason_counts, first_locations = Counter[str](), dict[str, str]()
    for counts in shard_counts:
        for counts_key in ("skipped", "malformed"):
            reason_counts.update(counts.get(counts_key, {}))
        first_locations = {**counts.get("first_left_out", {}), **first_locations}
    return "; ".join(
        f"{count:,} × {reason}" + (f", first {first_locations[reason]}" if reason in first_locations else "")
        for reason, count in reason_counts.most_common()
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
    unread_names = sorted(count_by_field, key=lambda name: (-count_by_field[name], name))
    if topics_format is None:
        advice = cli_or_api(
            "name others in the options title_field, url_field, body_fields",
            "name others by --option title_field=NAME or --option 'body_fields=[NAME]'",
        )
    elif "text_field" in format_of("topics", topics_format).options.model_fields:
        advice = cli_or_api(
            "name others in the options id_field, text_field",
            "name others by --topics-option text_field=NAME",
        )
    else:
        advice = f"the text is that of the column {', '.join(TEXTS[:-1])} or {TEXTS[-1]}"
    return f"fields that are not read: {names_with_suggestions(unread_names, known_names)}; {advice}"


def names_with_suggestions(unread_names: Sequence[str], known_names: Sequence[str]) -> str:
    """Return the first names for a note; one that resembles a name that is read gets a suggestion."""
    field_texts = list[str]()
    for name in unread_names[:MAX_NAMED_FIELDS]:
        similar_names = nearest(name.lower(), known_names, 0.7)
        suggestion = f" (did you mean {similar_names[0]}?)" if similar_names else ""
        field_texts.append(f"{displayed_names([name])}{suggestion}")
    remaining = len(unread_names) - len(field_texts)
    return ", ".join(field_texts) + (f" and {remaining:,} more" if remaining else "")


def no_documents(source: str | Path, shard_counts: Sequence[Mapping[str, Any]]) -> InputError:
    """Return the refusal of a corpus without a single document, from the counts of its shards."""
    record_count = sum(int(counts.get("read", 0)) for counts in shard_counts)
    if not record_count:
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
    reasons = left_out_reasons(shard_counts) or "they are redirects"
    return InputError(
        source,
        f"the corpus has no documents: all {record_count:,} records are left out ({reasons})",
        remedy=remedy,
    )


# What a data set loses between its files and the scores, for the screen and for the report.


# Reasons for which a document that ought to have text is left out.
EMPTY_REASONS = ("empty document", "empty text", "no text", "no text under title_tags and body_tags")

# Share above which a loss is a warning.
WARNING_SHARE = 0.01


@dataclass(frozen=True)
class DroppedRecords:
    """Records that do not count."""

    count: int
    total: int  # records, lost or not
    description: str  # in words, behind "3 of 200"
    example: str = ""  # one of them
    hint: str = ""  # a sentence on what may be the cause; nothing if none is seen

    def __str__(self) -> str:
        return f"{self.count:,} of {self.total:,} {self.description}"

    @property
    def is_worth_a_warning(self) -> bool:
        return self.count / self.total > WARNING_SHARE

    def log(self, label: str) -> None:
        """Say it on the screen, as a warning where it is worth one."""
        notice(
            label,
            f"WARNING: {self.warning()}" if self.is_worth_a_warning else f"{self}, such as {self.example}",
        )

    def warning(self) -> str:
        """Return the loss with its share, an example and the hint."""
        share = f"{100 * self.count / self.total:.1f} %"
        example = f", such as {self.example}" if self.example else ""
        return f"{self.count:,} of {self.total:,} ({share}) {self.description}{example}." + (
            f" {self.hint}" if self.hint else ""
        )


def empty_documents(shard_counts: Iterable[Mapping[str, Any]]) -> DroppedRecords:
    """Return the loss of documents, by reason, from the counts of a corpus' shards."""
    reason_counts, record_count, example = Counter[str](), 0, ""
    for counts in shard_counts:
        record_count += int(counts.get("read", 0))
        skipped = counts.get("skipped", {})
        reasons = {reason: skipped[reason] for reason in EMPTY_REASONS if reason in skipped}
        reasons |= counts.get("malformed", {})
        reason_counts.update(reasons)
        first_locations = counts.get("first_left_out", {})
        example = example or next(
            (first_locations[reason] for reason in sorted(reasons) if reason in first_locations), ""
        )
    reasons_text = ", ".join(f"{count:,} × {reason}" for reason, count in sorted(reason_counts.items()))
    loss_text = f"documents are left out ({reasons_text})"
    return DroppedRecords(reason_counts.total(), record_count, loss_text, example)


def bare_texts(shard_counts: Sequence[Mapping[str, Any]]) -> DroppedRecords:
    """Return the loss of text that stands under no tag of a body, from the counts of a corpus' shards."""
    hint = (
        "Name its tags in body_tags; text directly under <DOC> is read of documents without such a tag alone."
    )
    loss_text = "documents have text outside body_tags, which is left out"
    return DroppedRecords(
        sum(counts.get("parts", {}).get(BARE_TEXT, 0) for counts in shard_counts),
        sum(counts.get("read", 0) for counts in shard_counts),
        loss_text,
        hint=hint,
    )


def document_losses(documents: Iterable[str | Path]) -> list[DroppedRecords]:
    """Return what a corpus loses, from the sidecars of its shards."""
    shard_counts = [read_sidecar(path).get("counts", {}) for path in documents]
    return [empty_documents(shard_counts), bare_texts(shard_counts)]


def malformed_records(tally: RecordTally, record_kind: str) -> DroppedRecords:
    """Return the loss of records that cannot be read and are skipped."""
    lost_count = sum(tally.malformed.values())
    example = tally.examples[0] if tally.examples else ""
    return DroppedRecords(
        lost_count, tally.read_count, f"{record_kind} cannot be read and are left out", example
    )


def log_losses(label: str, queries: str, documents: int, losses: Iterable[DroppedRecords]) -> dict[str, Any]:
    """Log what a data set holds and loses; return `summary`, a line, and `warnings`, one per loss above 1 %."""
    actual_losses = [loss for loss in losses if loss.count]
    losses_text = "; ".join(map(str, actual_losses)) or "nothing left out"
    summary = f"{count_of(documents, 'document')}, {queries}; {losses_text}"
    warnings = [loss.warning() for loss in actual_losses if loss.is_worth_a_warning]
    for line in (summary, *(f"WARNING: {warning}" for warning in warnings)):
        notice(label, line)
    return {"summary": summary, "warnings": warnings}


def describe_location_in(file: str | Path, position: int, format: str) -> str:
    """Return the number of a record; of a dump, which nobody edits, how its option leaves the record out."""
    if format == "wikipedia-dump":
        return f"in {file} (the option leave_out takes it as {Path(file).name}:{position})"
    return f"in {file} (record {position + 1})"
