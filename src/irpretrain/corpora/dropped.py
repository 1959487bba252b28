"""What a data set loses between its files and the scores, for the screen and for the report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.corpora.formats.trectext import BARE_TEXT
from irpretrain.corpora.policy import RecordTally
from irpretrain.errors import count_of
from irpretrain.foundation.progress import notice
from irpretrain.foundation.provenance import read_sidecar

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
    lost, total, example = Counter[str](), 0, ""
    for counts in shards:
        total += int(counts.get("read", 0))
        reasons = {reason: n for reason, n in counts.get("skipped", {}).items() if reason in EMPTY}
        reasons |= counts.get("malformed", {})
        lost.update(reasons)
        first = counts.get("first_left_out", {})
        example = example or next((first[reason] for reason in sorted(reasons) if reason in first), "")
    reported = ", ".join(f"{number:,} × {reason}" for reason, number in sorted(lost.items()))
    return DroppedRecords(lost.total(), total, f"documents are left out ({reported})", example)


def bare_texts(shards: Iterable[Mapping[str, Any]]) -> DroppedRecords:
    """Return the loss of text that stands under no tag that is read, from the counts of a corpus' shards."""
    pairs = [(counts.get("parts", {}).get(BARE_TEXT, 0), counts.get("read", 0)) for counts in shards]
    hint = "Text directly under <DOC> is read of documents without such a tag alone; put it into one."
    what = "documents have text outside body_tags, which is left out"
    return DroppedRecords(sum(lost for lost, _ in pairs), sum(read for _, read in pairs), what, hint=hint)


def lost_documents(documents: Iterable[str | Path]) -> list[DroppedRecords]:
    """Return what a corpus loses, from the sidecars of its shards."""
    shards = [read_sidecar(path).get("counts", {}) for path in documents]
    return [empty_documents(shards), bare_texts(shards)]


def malformed_records(tally: RecordTally, what: str) -> DroppedRecords:
    """Return the loss of records that cannot be read and are skipped."""
    lost = sum(tally.malformed.values())
    example = tally.examples[0] if tally.examples else ""
    return DroppedRecords(lost, tally.read, f"{what} cannot be read and are left out", example)


def log(label: str, queries: str, documents: int, losses: Iterable[DroppedRecords]) -> dict[str, Any]:
    """Log what a data set holds and loses; return `summary`, a line, and `warnings`, one per loss above 1 %."""
    present = [loss for loss in losses if loss.number]
    lost = "; ".join(map(str, present)) or "nothing left out"
    summary = f"{count_of(documents, 'document')}, {queries}; {lost}"
    warnings = [loss.warning() for loss in present if loss.is_worth_a_warning]
    for line in (summary, *(f"WARNING: {warning}" for warning in warnings)):
        notice(label, line)
    return {"summary": summary, "warnings": warnings}
