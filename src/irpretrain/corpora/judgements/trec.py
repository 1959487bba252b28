"""Format `trec` of judgements: query, iteration, document, relevance, separated by white space.

Lines of five columns are those of the Million Query and the Web 2009 tracks: query, document, relevance, method by
which the document was drawn, and the chance that it was; these two are passed over.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import Options, converted, judgement
from irpretrain.corpora.files import Line, read_lines
from irpretrain.corpora.records import Judgement, Malformed

_CHANCE = re.compile(r"[01](?:\.[0-9]*)?(?:[eE]-?[0-9]{1,3})?|\.[0-9]+")


def read(path: Path, options: Options) -> Iterator[Judgement | Malformed]:
    """Yield the judgements in the order of the file."""
    return converted(read_lines(path), _judgement)


def _judgement(line: Line) -> Judgement | Malformed:
    cells = line.text.split()
    if len(cells) == 4:
        return judgement(cells[0], cells[2], cells[3], line.position, line.number)
    if len(cells) == 5 and _CHANCE.fullmatch(cells[4]):
        return judgement(cells[0], cells[1], cells[2], line.position, line.number)
    return line.malformed("wrong number of columns", f"{len(cells)} instead of 4")


def documents_come_second(path: Path) -> bool:
    """Whether the third column, where the document belongs, is 0 on every line, and the second one is not always the
    same."""
    rows = [line.text.split() for line in read_lines(path) if not isinstance(line, Malformed)]
    whole = [cells for cells in rows if len(cells) == 4]
    return {cells[2] for cells in whole} == {"0"} and len({cells[1] for cells in whole}) > 1


def columns_hint(*, graded: bool) -> str:
    """Return how a file whose documents come second is mended; not `graded`: its fourth column is 0 on every line."""
    last, smart, relevance = ("relevance", "", "$4") if graded else ("0", ", as in SMART collections", "1")
    return (
        f"The columns seem to be query, document, 0, {last}{smart}; TREC's are query, 0, document, relevance: "
        f"awk '{{print $1, 0, $2, {relevance}}}' makes these."
    )
