"""Format `trec` of judgements: query, iteration, document, relevance, separated by white space. Comments begin with
`#`.

Lines of five columns are of two kinds, of which a file has one. Prels (Million Query, Web 2009) are query, document,
relevance, sampling method, sampling probability. Others are query, iteration, document, relevance, weight. Method,
probability and weight are ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from irpretrain.corpora.checked import NoOptions, comment_or, judgement
from irpretrain.corpora.files import Line, read_lines
from irpretrain.corpora.records import Judgement, Malformed, Skipped
from irpretrain.errors import InputError
from irpretrain.progress import notice

OPTIONS = NoOptions

Layout = Literal["qrels", "prels", "weighted"]

# Of each layout: number of columns, and the positions of document and relevance.
LOCATIONS: dict[Layout, tuple[int, int, int]] = {
    "qrels": (4, 2, 3),
    "prels": (5, 1, 2),
    "weighted": (5, 2, 3),
}
NAMES: dict[Layout, str] = {
    "qrels": "query iteration document relevance",
    "prels": "query document relevance method chance",
    "weighted": "query iteration document relevance weight",
}
WITH_HEADER = "This looks like a table with a header: give format: tsv"
WITHOUT_ITERATION = "awk '{print $1, 0, $2, $3}' makes TREC's columns of query, document, relevance"

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_CHANCE = re.compile(r"[01](?:\.[0-9]*)?(?:[eE]-?[0-9]{1,3})?|\.[0-9]+")
_ITERATION = re.compile(r"Q?[0-9]{1,3}", re.IGNORECASE)


def read(path: Path, options: NoOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file.

    Raises:
        InputError: the third column is 0 on every line and documents are in the second, as in SMART collections.
    """
    facts = _Facts.of(path)
    facts.refuse_smart(path)
    layout = facts.layout()
    if layout != "qrels":
        notice(str(path), f"its lines of five columns are read as: {NAMES[layout]}")
    for line in read_lines(path):
        yield line if isinstance(line, Malformed) else comment_or(line, _judgement(line, layout))


def _judgement(line: Line, layout: Layout) -> Judgement | Malformed:
    cells, (number, document, relevance) = line.text.split(), LOCATIONS[layout]
    if len(cells) != number:
        detail = f"{len(cells)} instead of {number} ({NAMES[layout]})"
        fault = line.malformed("wrong number of columns", detail)
        if len(cells) != 3:
            return fault
        return replace(fault, remedy=WITHOUT_ITERATION if _WHOLE.fullmatch(cells[2]) else WITH_HEADER)
    if layout != "qrels" and not (_CHANCE if layout == "prels" else _NUMBER).fullmatch(cells[4]):
        return line.malformed("the fifth column is no chance or weight", repr(cells[4][:40]))
    return judgement(cells[0], cells[document], cells[relevance], line.position, line.number)


@dataclass
class _Facts:
    """What tells the layouts of a file's lines apart; of the many lines only what differs is kept."""

    lines: int = 0
    fives: int = 0
    prels: int = 0
    weighted: int = 0
    iterations: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    documents: set[tuple[str, str, str]] = field(default_factory=set)
    second: set[str] = field(default_factory=set)  # columns of lines of four, at most two values each
    third: set[str] = field(default_factory=set)
    is_unmarked: bool = True
    is_written_as_smart: bool = False

    @classmethod
    def of(cls, path: Path) -> Self:
        facts = cls()
        for line in read_lines(path):
            if isinstance(line, Line) and not line.text.startswith("#"):
                facts.lines += 1
                facts._add(line.text.split())
        return facts

    def _add(self, cells: list[str]) -> None:
        if len(cells) == 5:
            self.fives += 1
            self.prels += bool(_WHOLE.fullmatch(cells[2]) and _CHANCE.fullmatch(cells[4]))
            self.weighted += bool(_WHOLE.fullmatch(cells[3]) and _NUMBER.fullmatch(cells[4]))
            self.iterations.add(cells[1])
            self.pairs.add((cells[0], cells[1]))
            self.documents.add((cells[0], cells[1], cells[2]))
        elif len(cells) == 4 and len(self.third) < 2:
            self.third.add(cells[2])
            if len(self.second) < 2:
                self.second.add(cells[1])
            self.is_unmarked &= bool(_NUMBER.fullmatch(cells[3])) and float(cells[3]) == 0
            self.is_written_as_smart |= not _WHOLE.fullmatch(cells[3])  # 0.000000

    def layout(self) -> Layout:
        """Return the kind of most lines; weighted if documents would be in the iteration's column.

        Of lines that can be both kinds, the second column decides: an iteration is one short number on all lines, or
        occurs with several documents of one query, which no document does.
        """
        if 2 * self.fives <= self.lines or not self.prels + self.weighted:
            return "qrels"
        if 2 * abs(self.prels - self.weighted) > self.fives:  # fewer may be damaged
            return "prels" if self.prels > self.weighted else "weighted"
        is_iteration = len(self.iterations) == 1 and _ITERATION.fullmatch(min(self.iterations))
        return "weighted" if is_iteration or 2 * len(self.pairs) <= len(self.documents) else "prels"

    def refuse_smart(self, path: Path) -> None:
        if self.third != {"0"}:
            return
        if len(self.second) == 1 and not self.is_written_as_smart:
            return  # a corpus may have a document 0
        last, smart, relevance = (
            ("0", ", as in SMART collections", "1") if self.is_unmarked else ("relevance", "", "$4")
        )
        remedy = (
            f"The columns seem to be query, document, 0, {last}{smart}; TREC's are query, 0, document, relevance: "
            f"awk '{{print $1, 0, $2, {relevance}}}' makes these."
        )
        raise InputError(path, "the third column, that of the document, is 0 on every line", remedy=remedy)
