"""Memory that the streaming stages take: python memory_of_stages.py <folder> <encoder> <documents>

Prints a JSON object: stage → megabytes at its peak. Row groups are small, so that a few thousand documents fill many.
"""

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from stages_to_fill import STAGES

from irpretrain.foundation import tables

ROWS = 256
WORDS_OF_A_PAGE = 400
LETTERS = np.array(list("abcdefghij"))
HEAD = (
    "<mediawiki><siteinfo><dbname>w</dbname><base>https://w.example/wiki/A</base>"
    '<namespaces><namespace key="0"/></namespaces></siteinfo>\n'
)


def write_dump(path: Path, pages: int) -> int:
    """Write a dump with a vocabulary that does not grow, page after page; return its characters."""
    draw = np.random.default_rng(1)
    vocabulary = ["".join(draw.choice(LETTERS, 6)) for _ in range(1000)]
    with open(path, "w") as file:
        file.write(HEAD)
        for number in range(pages):
            words = [vocabulary[n] for n in draw.integers(0, len(vocabulary), WORDS_OF_A_PAGE)]
            words[5] = f"[[{title(vocabulary, number * 7 % pages)}|{words[5]}]]"
            file.write(
                f"<page><title>{title(vocabulary, number)}</title><ns>0</ns><id>{number + 1}</id>"
                f"<revision><id>1</id><text>{' '.join(words)}.</text></revision></page>\n"
            )
        file.write("</mediawiki>\n")
    return path.stat().st_size


def title(vocabulary: list[str], number: int) -> str:
    """A title of its own for each page, of words that other pages have too."""
    return f"{vocabulary[number // 1000]} {vocabulary[number % 1000]}"


def stages(folder: Path, encoder: Path) -> dict[str, Callable[[], Any]]:
    """The stages, each on what those before it wrote; documents are those of the dump."""
    (folder / "encoder").symlink_to(encoder)
    (folder / "read").symlink_to("read_wiki")
    names = ("read_wiki", "count", "merge", "tokens", "links", "groups")
    for name in names:
        (folder / name).mkdir()
    return {name: partial(STAGES[name][0], folder, folder / name) for name in names}


def peak(stage: Callable[[], Any]) -> float:
    """Run a stage; return the most megabytes that Python and NumPy held at a time because of it.

    What the process holds depends on the allocators too, which keep what was freed: it differs from run to run.
    """
    gc.collect()
    tracemalloc.start()
    stage()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 2**20


def main(folder: Path, encoder: Path, documents: int) -> None:
    tables.ROWS_PER_GROUP = ROWS
    tables.Contract.stream.__defaults__ = (None, ROWS)
    (folder / "warm").mkdir()
    write_dump(folder / "warm/wiki.xml", 2 * ROWS)
    for stage in stages(folder / "warm", encoder).values():  # imports and compiled code
        stage()
    size = write_dump(folder / "wiki.xml", documents)
    found: dict[str, float] = {"characters": size / 2**20}
    for name, stage in stages(folder, encoder).items():
        found[name] = peak(stage)
    found["Arrow's buffers in all stages"] = pa.default_memory_pool().max_memory() / 2**20
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
