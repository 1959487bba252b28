"""Minutes and peak memory of grouping a generated link set into D1 to D5.

    python benchmarks/graph.py --edges 5 50

So many million links over a twenty-fifth as many articles, titles as text, a tenth of the links through redirects, a
tenth red, an eighth symmetric, targets as uneven as Wikipedia's (few articles draw most links). Each size runs in a
process of its own, whose peak memory includes everything: DuckDB, Arrow, Python.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.contracts import LINK_SOURCES, LINKS, REDIRECTS
from irpretrain.wikipedia.build_graph import build_graph

DEGREE = 25
SHARDS = 8
WORDS = 128
"""Words of a segment."""
SEGMENTS = 6
NEIGHBOURS = (1, 2, 3)
"""Article i links i XOR these, which therefore link back: 3 of 25."""


def write_shard(folder: Path, shard: int, articles: int, random: np.random.Generator) -> None:
    """Write one shard's sources, links and redirects: a run of neighbouring articles, a million links at a time."""
    first, last = shard * articles // SHARDS, (shard + 1) * articles // SHARDS
    names = np.char.add("Article number ", np.arange(first, last).astype(str))
    positions = np.arange(last - first)
    LINK_SOURCES.write(
        folder / f"sources-{shard}.parquet",
        pa.table(
            {
                "part": pa.array(np.full(last - first, shard, np.int32)),
                "position": positions,
                "document_id": np.char.add("wiki/", np.arange(first, last).astype(str)),
                "title": names,
                "key": names,
                "words": pa.array(np.full(last - first, SEGMENTS * WORDS, np.int32)),
                "segments": pa.array(np.full(last - first, SEGMENTS, np.int32)),
                "disambiguation": np.zeros(last - first, bool),
            }
        ),
    )
    REDIRECTS.write(
        folder / f"redirects-{shard}.parquet",
        pa.table(
            {
                "part": pa.array(np.full(last - first, shard, np.int32)),
                "position": positions + 2**20,
                "title": np.char.add("Old name of ", np.arange(first, last).astype(str)),
                "target": names,
                "fragment": np.full(last - first, ""),
            }
        ),
    )
    pieces = (
        links(np.arange(at, min(at + 40_000, last)), first, shard, articles, random)
        for at in range(first, last, 40_000)
    )
    LINKS.write(folder / f"links-{shard}.parquet", pa.concat_tables(pieces))


def links(
    numbers: np.ndarray, first: int, shard: int, articles: int, random: np.random.Generator
) -> pa.Table:
    """The links of some articles, DEGREE each, in the order of the text."""
    rows = len(numbers) * DEGREE
    sources = np.repeat(numbers, DEGREE)
    # A cube law: the top thousandth of the articles draws a tenth of the links.
    targets = (articles * random.random(rows) ** 3).astype(np.int64)
    targets = targets * 7_368_787 % articles
    for position, other in enumerate(NEIGHBOURS):
        near = numbers ^ other
        targets[position::DEGREE] = np.where(near < articles, near, numbers)
    kind = random.random(rows)
    kind[np.arange(rows) % DEGREE < len(NEIGHBOURS)] = 1.0
    texts = np.char.add(
        np.where(kind < 0.1, "Old name of ", np.where(kind < 0.2, "Nothing called ", "Article number ")),
        targets.astype(str),
    )
    segments = np.sort(random.integers(0, SEGMENTS, (len(numbers), DEGREE)), axis=1).ravel()
    order = np.tile(np.arange(DEGREE), len(numbers))
    # The neighbours' links come first in the text otherwise.
    shuffled = (
        np.argsort(random.random((len(numbers), DEGREE))) + np.arange(len(numbers))[:, None] * DEGREE
    ).ravel()
    starts = (segments * 800 + order * 12).astype(np.int32)
    return pa.table(
        {
            "part": pa.array(np.full(rows, shard, np.int32)),
            "position": sources - first,
            "segment": pa.array(segments.astype(np.int16)),
            "section": pa.array((segments // 2).astype(np.int16)),
            "start": starts,
            "end": starts + 10,
            "target": texts[shuffled],
            "see_also": segments == SEGMENTS - 1,
            "mention": np.zeros(rows, bool),
        }
    )


def measure(millions: float, memory_mb: int, threads: int, folder: Path) -> None:
    """Generate in one process, build in another; print a row."""
    for step in ("generate", "build"):
        command = [
            sys.executable, __file__, "--step", step, "--edges", str(millions), "--memory-mb", str(memory_mb),
            "--threads", str(threads), "--folder", str(folder),
        ]  # fmt: skip
        subprocess.run(command, check=True)
    result = json.loads((folder / "measured.json").read_text())
    counts = result["counts"]["hyperlinks"]
    groups = ", ".join(f"{counts[name]:,}" for name in ("D1", "D2", "D3", "D4", "D5"))
    print(
        f"| {millions:g} | {result['counts']['nodes']['documents'] / 1e6:g} | {result['wall'] / 60:.1f} "
        f"| {result['cpu'] / 60:.1f} | {result['memory']:,} | {result['disk']:,} | {groups} |",
        flush=True,
    )


def generate(articles: int, folder: Path) -> None:
    for shard in range(SHARDS):
        write_shard(folder, shard, articles, np.random.default_rng([1, shard]))


def build(folder: Path, options: GraphConfig) -> None:
    """Build the graph and note what it cost."""
    sources, links, redirects = (
        [[folder / f"{name}-{shard}.parquet" for shard in range(SHARDS)]]
        for name in ("sources", "links", "redirects")
    )
    start, cpu = time.monotonic(), time.process_time()
    counts = build_graph(sources, links, redirects, options, folder / "graph")
    used = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "wall": time.monotonic() - start,
        "cpu": time.process_time() - cpu,
        "memory": used.ru_maxrss // 1024,
        "disk": sum(path.stat().st_size for path in (folder / "graph").iterdir()) // 2**20,
        "counts": counts,
    }
    (folder / "measured.json").write_text(json.dumps(result))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=float, nargs="+", default=[5.0, 50.0], help="millions of links")
    parser.add_argument("--memory-mb", type=int, default=3000, help="graph.memory_mb: what DuckDB may take")
    parser.add_argument("--threads", type=int, default=2, help="graph.threads")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    parser.add_argument("--step", choices=["generate", "build"], help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.step == "generate":
        generate(round(given.edges[0] * 1e6 / DEGREE), given.folder)
    elif given.step == "build":
        build(given.folder, GraphConfig(memory_mb=given.memory_mb, threads=given.threads))
    else:
        print("| million links | million articles | minutes | core-minutes | peak MB | result MB | D1 … D5 |")
        print("|---:|---:|---:|---:|---:|---:|---|", flush=True)
        for millions in given.edges:
            with tempfile.TemporaryDirectory(dir=given.folder) as name:
                measure(millions, given.memory_mb, given.threads, Path(name))


if __name__ == "__main__":
    main()
