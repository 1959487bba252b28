"""Format `colon` of topics: `1:after school program evaluation`, a query a line (TREC's Million Query track)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, query
from irpretrain.corpora.files import Encoding, Line, read_lines
from irpretrain.corpora.records import Malformed, Query


class Options(Section):
    """Options of the format colon."""

    encoding: Encoding = option("utf-8", "Of the file; the track's own are latin-1.")


def read(path: Path, options: Options) -> Iterator[Query | Malformed]:
    """Yield the queries in the order of the file."""
    return converted(read_lines(path, encoding=options.encoding), _query)


def _query(line: Line) -> Query | Malformed:
    identifier, colon, text = line.text.partition(":")
    if not colon:
        return line.malformed("no colon", repr(line.text[:40]))
    return query(identifier.strip(), text, line.position, line.number)
