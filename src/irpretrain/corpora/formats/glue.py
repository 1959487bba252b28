"""Format `glue`: the tab-separated files of GLUE's tasks (Wang et al., 2019), as their archives hold them.

Cells are taken as they are, without quotes. CoLA's files for training and development have no header. Some rows of QQP
are cut short by a line end within a question: they are left out, as in every use of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import clean_line
from irpretrain.corpora.files import Line, read_lines, split_fields
from irpretrain.corpora.records import LabelledText, Malformed, Skipped
from irpretrain.corpora.registry import Format

Task = Literal["cola", "sst-2", "mrpc", "sts-b", "qqp", "mnli", "qnli", "rte"]
_BINARY = ("0", "1")
_SCORE = re.compile(r"[0-5](?:\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns of a task: its texts, its label, and what a label can be (a number from 0 to 5 where empty)."""

    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...]
    header: tuple[str, ...] = ()


LAYOUTS: dict[Task, _Layout] = {
    "cola": _Layout(("sentence",), "label", _BINARY, ("source", "label", "mark", "sentence")),
    "sst-2": _Layout(("sentence",), "label", _BINARY),
    "mrpc": _Layout(("#1 String", "#2 String"), "Quality", _BINARY),
    "sts-b": _Layout(("sentence1", "sentence2"), "score", ()),
    "qqp": _Layout(("question1", "question2"), "is_duplicate", _BINARY),
    "mnli": _Layout(("sentence1", "sentence2"), "gold_label", ("entailment", "neutral", "contradiction")),
    "qnli": _Layout(("question", "sentence"), "label", ("entailment", "not_entailment")),
    "rte": _Layout(("sentence1", "sentence2"), "label", ("entailment", "not_entailment")),
}


class GlueSentenceOptions(Section):
    """Options of the format glue."""

    task: Task = option(..., "Which of GLUE's tasks the file is of.")


def read(path: Path, options: GlueSentenceOptions) -> Iterator[LabelledText | Skipped | Malformed]:
    """Yield the rows in the order of the file; a position is a line's number less 1. Test files have no labels."""
    layout = LAYOUTS[options.task]
    columns: list[str] = []
    for line in read_lines(path):
        if isinstance(line, Malformed):
            yield line
            continue
        if not columns:
            columns = [cell.strip() for cell in split_fields(line.text, "\t")]
            if layout.header and layout.texts[0] not in columns:
                columns = list(layout.header)
            elif missing := [name for name in layout.texts if name not in columns]:
                detail = f"there is no column {missing[0]}; there are {', '.join(columns)[:80]}"
                yield line.malformed(f"no file of {options.task}", detail)
                return
            else:
                continue
        yield _labelled_text(line, columns, options.task)


def _labelled_text(line: Line, columns: list[str], task: Task) -> LabelledText | Skipped | Malformed:
    layout, cells = LAYOUTS[task], split_fields(line.text, "\t")
    if len(cells) != len(columns):
        if task == "qqp" and len(cells) < len(columns):
            return Skipped(line.position, "row cut short")
        return line.wrong_columns(f"{len(cells)} instead of {len(columns)}")
    row = dict(zip(columns, cells, strict=True))
    label = row[layout.label].strip() if layout.label in row else None
    label_is_valid = label is None or (
        label in layout.labels if layout.labels else bool(_SCORE.fullmatch(label))
    )
    if not label_is_valid or (label is not None and not layout.labels and float(label) > 5):
        return line.malformed("unknown label", repr(label)[:40])
    texts = tuple(clean_line(row[name]) for name in layout.texts)
    return LabelledText(line.position, texts, label, line.number)


SENTENCES = Format(GlueSentenceOptions, read)
