"""Format `colon` of topics: `1:after school program evaluation`, a query a line (TREC's Million Query track)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import query
from irpretrain.corpora.files import Encoding, read_lines
from irpretrain.corpora.records import Malformed, Query, Skipped


class Options(Section):
    """Options of the format colon."""

    encoding: Encoding = option("utf-8", "Of the file; the track's own are latin-1.")


def read(path: Path, options: Options) -> Iterator[Query | Skipped | Malformed]:
    """Yield the queries in the order of the file."""
    for line in read_lines(path, encoding=options.encoding):
        if isinstance(line, Malformed):
            yield line
            continue
        identifier, colon, text = line.text.partition(":")
        if colon:
            yield query(identifier.strip(), text, line.number - 1, line.number)
        else:
            yield Malformed(line.number - 1, "no colon", repr(line.text[:40]), line.number)
