"""Format `lecard` of runs: a folder a query, with a file for each of its candidates, `<query>/<document>.json`.

Their order has no meaning: all have the score 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.base import Section
from irpretrain.corpora.records import Malformed, Retrieved
from irpretrain.corpora.runs.retrieved import retrieved

SUFFIXES = (".json",)


class Options(Section):
    """The format has no options."""


def read(path: Path, options: Options) -> Iterator[Retrieved | Malformed]:
    """Yield the one candidate that a file stands for; it is not opened."""
    yield retrieved(path.parent.name, path.name.partition(".")[0], None, "0", 0, None)
