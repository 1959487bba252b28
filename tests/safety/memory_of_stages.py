"""Memory that the streaming stages take: python memory_of_stages.py <folder> <encoder> <documents>

Prints a JSON object: stage → megabytes at its peak. Row groups are small, so that a few thousand documents fill many.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config import load_config
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.text import GraphConfig, TextConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation import tables
from irpretrain.objectives.shard import Shard, write_groups
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.token_store import write_token_store
from irpretrain.wikipedia.links import extract_links

ROOT = Path(__file__).resolve().parents[2]
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
    """The stages, each on what those before it wrote."""
    text = TextConfig(words="alphanumeric")
    options = load_config(ROOT / "config.yaml").objectives["rop"]
    options = options.model_copy(update={"minimum_count": 1, "short_document_pieces": 0})
    documents, counts, words = (folder / f"{name}.parquet" for name in ("documents", "counts", "words"))
    given = CorpusConfig(format="wikipedia-dump", path="x")
    return {
        "read_corpus": lambda: write_shard(
            given, folder / "wiki.xml", 0, documents, folder / "redirects.parquet"
        ),
        "count_words": lambda: count_words(documents, text, counts),
        "merge_counts": lambda: merge_counts([counts], words),
        "store_tokens": lambda: write_token_store(documents, encoder, text, folder / "tokens"),
        "extract_links": lambda: extract_links(
            documents, GraphConfig(), folder / "sources.parquet", folder / "links.parquet"
        ),
        "build_groups": lambda: write_groups(
            Shard(documents, text, 1, tokens=folder / "tokens", statistics=words),
            options,
            folder / "groups.parquet",
        ),
    }


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
