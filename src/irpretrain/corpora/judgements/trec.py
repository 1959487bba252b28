"""Format `trec` of judgements: query, iteration, document, relevance, separated by white space. Comments begin with
`#`.

Lines of five columns are of two kinds, of which a file has one. Prels (Million Query, Web 2009) are query, document,
relevance, sampling method, sampling probability. Others are query, iteration, document, relevance, weight. Method,
probability and weight are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

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
    lines = list(read_lines(path))  # judgements are held in memory anyway
    rows = [line.text.split() for line in lines if isinstance(line, Line) and not line.text.startswith("#")]
    _refuse_smart(path, rows)
    layout = _layout(rows)
    if layout != "qrels":
        notice(str(path), f"its lines of five columns are read as: {NAMES[layout]}")
    for line in lines:
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


def _layout(rows: Sequence[Sequence[str]]) -> Layout:
    """Return the kind of most lines; weighted if documents would be in the iteration's column.

    Of lines that can be both kinds, the second column decides: an iteration is one short number on all lines, or occurs
    with several documents of one query, which no document does.
    """
    fives = [cells for cells in rows if len(cells) == 5]
    if 2 * len(fives) <= len(rows):
        return "qrels"
    prels = sum(bool(_WHOLE.fullmatch(cells[2]) and _CHANCE.fullmatch(cells[4])) for cells in fives)
    weighted = sum(bool(_WHOLE.fullmatch(cells[3]) and _NUMBER.fullmatch(cells[4])) for cells in fives)
    if not prels + weighted:
        return "qrels"
    if 2 * abs(prels - weighted) > len(fives):  # fewer may be damaged
        return "prels" if prels > weighted else "weighted"
    seconds = {cells[1] for cells in fives}
    is_iteration = len(seconds) == 1 and _ITERATION.fullmatch(min(seconds))
    pairs = {(cells[0], cells[1]) for cells in fives}
    documents = {(cells[0], cells[1], cells[2]) for cells in fives}
    return "weighted" if is_iteration or 2 * len(pairs) <= len(documents) else "prels"


def _refuse_smart(path: Path, rows: Sequence[Sequence[str]]) -> None:
    whole = [cells for cells in rows if len(cells) == 4]
    if {cells[2] for cells in whole} != {"0"}:
        return
    unmarked = all(_NUMBER.fullmatch(cells[3]) and float(cells[3]) == 0 for cells in whole)
    written_as_smart = any(not _WHOLE.fullmatch(cells[3]) for cells in whole)  # 0.000000
    if len({cells[1] for cells in whole}) == 1 and not written_as_smart:
        return  # a corpus may have a document 0
    last, smart, relevance = ("0", ", as in SMART collections", "1") if unmarked else ("relevance", "", "$4")
    remedy = (
        f"The columns seem to be query, document, 0, {last}{smart}; TREC's are query, 0, document, relevance: "
        f"awk '{{print $1, 0, $2, {relevance}}}' makes these."
    )
    raise InputError(path, "the third column, that of the document, is 0 on every line", remedy=remedy)
