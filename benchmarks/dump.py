"""Megabytes of wikitext per second and core from a dump to the table of articles: all that a shard's job does.

    python benchmarks/dump.py

A dump as Wikimedia makes them (bzip2, a stream of its own for every 100 pages) of the embedded excerpt of the English
Wikipedia again and again up to --megabytes of its articles' wikitext, read by
`irpretrain.corpora.sources.write_shard`: decompressed, cut into pages, parsed in the guarded process, written as
Parquet; as one shard on one core, then as two shards in two jobs at a time on two cores. Once with the excerpt's
articles, which are long, and once with the same text in pages of the mean length of the English Wikipedia. A job's
processor time and peak memory are those of its two processes together: the reader, which also writes, and the parser.
Times by the clock mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
import bz2
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.pieces import Piece, read_pieces
from irpretrain.foundation.records import everything
from irpretrain.wikipedia.pages import read_pages
from wikitext import ENGLISH_WIKIPEDIA, MANIFEST, excerpt

ENGLISH_ARTICLES = 7_000_000
MEAN_CHARACTERS = ENGLISH_WIKIPEDIA * 10**6 // ENGLISH_ARTICLES
PAGES_IN_STREAM = 100
PAGE = (
    "  <page>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n{redirect}    <revision>\n"
    '      <text xml:space="preserve">{text}</text>\n    </revision>\n  </page>\n'
)


def short(pages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cut pages between paragraphs into pages of about MEAN_CHARACTERS."""
    found: list[tuple[str, str]] = []
    for title, text in pages:
        retained: list[str] = []
        for paragraph in re.split(r"(?<=\n)\n", text):
            retained.append(paragraph)
            if sum(map(len, retained)) >= MEAN_CHARACTERS:
                found.append((f"{title}, part {len(found)}", "\n".join(retained)))
                retained = []
        if retained:
            found.append((f"{title}, part {len(found)}", "\n".join(retained)))
    return found


def copies(pages: Sequence[tuple[str, str]], repeats: int) -> Iterator[str]:
    """Yield the XML of pages, again and again under other titles, and a redirect to each."""
    number = 0
    for copy in range(repeats):
        for title, text in pages:
            name = escape(f"{title} ({copy})")
            moved = f'    <redirect title="{name}" />\n'
            yield PAGE.format(title=name, number=number, redirect="", text=escape(text))
            yield PAGE.format(
                title=f"To {name}", number=number + 1, redirect=moved, text=f"#REDIRECT [[{name}]]"
            )
            number += 2


def write_dump(path: Path, pages: Sequence[tuple[str, str]], repeats: int) -> None:
    """Write a multistream dump with the head of the excerpt's."""
    source = installed_path(read_manifest(MANIFEST).asset("enwiki-excerpt"))
    assert source is not None
    head = bz2.decompress(source.read_bytes()).partition(b"</siteinfo>")[0] + b"</siteinfo>\n"
    with path.open("wb") as file:
        file.write(bz2.compress(head))
        stream: list[str] = []
        for page in copies(pages, repeats):
            stream.append(page)
            if len(stream) == PAGES_IN_STREAM:
                file.write(bz2.compress("".join(stream).encode()))
                stream = []
        file.write(bz2.compress(("".join(stream) + "</mediawiki>\n").encode()))


def job(dump: Path, shard: int, shards: int, folder: Path) -> dict[str, Any]:
    """Write one shard, on as many cores as there are shards; return seconds and memory of the reader and the parser."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:shards])
    config = CorpusConfig(format="wikipedia-dump", path=str(dump), shards=shards)
    before = time.process_time()
    counts = write_shard(
        config, dump, shard, folder / f"documents-{shard}.parquet", folder / f"redirects-{shard}.parquet"
    )
    reader = time.process_time() - before
    own, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "read": counts["read"],
        "documents": counts["written"],
        "reader": reader,
        "parser": child.ru_utime + child.ru_stime,
        "memory": (own.ru_maxrss + child.ru_maxrss) // 1024,
    }


def pages_alone(dump: Path) -> float:
    """Return the processor seconds of decompressing a dump and finding its pages."""
    before = time.process_time()
    for _ in read_pages(read_pieces(dump, everything), 1_000_000):
        pass
    return time.process_time() - before


def jobs(dump: Path, shards: int) -> tuple[list[dict[str, Any]], float]:
    """Run a job for each shard, all at a time; return what each measured, and seconds by the clock."""
    with tempfile.TemporaryDirectory(dir=dump.parent) as folder:
        start = time.perf_counter()
        running = []
        for shard in range(shards):
            command = [
                sys.executable,
                __file__,
                "--dump",
                str(dump),
                "--shard",
                str(shard),
                "--of",
                str(shards),
            ]
            running.append(
                subprocess.Popen([*command, "--folder", folder], stdout=subprocess.PIPE, text=True)
            )
        outputs = [process.communicate()[0] for process in running]
        wall = time.perf_counter() - start
    if any(process.returncode for process in running):
        sys.exit("a shard failed")
    return [json.loads(output) for output in outputs], wall


def measure(name: str, pages: Sequence[tuple[str, str]], megabytes: float, folder: Path) -> None:
    """Write a dump, read it in one shard and in two, and print a row for each."""
    size = sum(len(text.encode()) for _, text in pages) / 1e6
    repeats = int(-(-megabytes // size))
    dump = folder / "enwiki-pages-articles-multistream.xml.bz2"
    write_dump(dump, pages, repeats)
    one, two = jobs(dump, 1), jobs(dump, 2)
    for shards, (found, wall) in ((1, one), (2, two)):
        documents = sum(shard["documents"] for shard in found)
        if sum(shard["read"] for shard in found) != 2 * repeats * len(pages):
            sys.exit(f"{shards} shards did not read each of the {2 * repeats * len(pages)} pages once")
        seconds = sum(shard["reader"] + shard["parser"] for shard in found)
        reader = sum(shard["reader"] for shard in found) / seconds
        print(
            f"| {name} | {documents:,} | {shards} | {repeats * size / seconds:.1f} | {documents / seconds:,.0f} "
            f"| {reader:.0%} | {max(shard['memory'] for shard in found):,} | {repeats * size / wall:.1f} "
            f"| {ENGLISH_WIKIPEDIA / (repeats * size / seconds) / 60:.0f} |",
            flush=True,
        )
    used = [sum(shard["reader"] + shard["parser"] for shard in found) for found, _ in (one, two)]
    text = sum(len(piece.text) for piece in read_pieces(dump, everything) if isinstance(piece, Piece)) / 1e6
    print(
        f"\n{name}: two shards on two cores do {one[1] / two[1]:.2f} times as much as one on one by the clock, and "
        f"take {used[1] / used[0]:.2f} times its processor time; decompressing and finding pages alone "
        f"{text / pages_alone(dump):.1f} MB of XML/s per core\n",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100, help="wikitext of articles, at least")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--shard", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--of", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.dump:
        print(json.dumps(job(given.dump, given.shard, given.of, given.folder)))
        return
    print(
        "| pages | articles | shards | MB/s per core | articles/s per core | reader's share | peak MB a job "
        "| MB/s by the clock | English Wikipedia, core-minutes |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    for name, pages in (("as in the excerpt", excerpt()), (f"of {MEAN_CHARACTERS:,}", short(excerpt()))):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            measure(name, pages, given.megabytes, Path(folder))


if __name__ == "__main__":
    main()
