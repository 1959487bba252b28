"""Format `lecard` of runs: a folder a query, with a file for each of its candidates, `<query>/<document>.json`.

Their order has no meaning: all have the score 0.
"""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, retrieved
from irpretrain.corpora.records import Malformed, Retrieved

OPTIONS = NoOptions

SUFFIXES = (".json",)


def read(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    """Yield the one candidate of a file's name; the file is not opened."""
    yield retrieved(path.parent.name, path.name.partition(".")[0], None, "0", 0, None)
