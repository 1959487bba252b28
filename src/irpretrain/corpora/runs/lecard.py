"""Format `lecard` of runs: a folder a query, with a file for each of its candidates, `<query>/<document>.json`.

Their order has no meaning: all have the score 0.
"""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import Options, retrieved
from irpretrain.corpora.records import Malformed, Retrieved

SUFFIXES = (".json",)


def read(path: Path, options: Options) -> Iterator[Retrieved | Malformed]:
    """Yield the one candidate that a file stands for; it is not opened."""
    yield retrieved(path.parent.name, path.name.partition(".")[0], None, "0", 0, None)
