"""Format `tsv` of topics: identifier, tab, text (MS MARCO)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import converted, query
from irpretrain.corpora.fields import read_rows
from irpretrain.corpora.records import Malformed, Query


class TsvTopicOptions(Section):
    """Options of the format tsv."""

    header: bool = option(False, "Skip the first line.")


OPTIONS = TsvTopicOptions


def read(path: Path, options: TsvTopicOptions) -> Iterator[Query | Malformed]:
    rows = read_rows(path, ("id", "text"), options.header)
    return converted(rows, lambda r: query(r.fields["id"], r.fields["text"], r.position, r.line))
