"""Megabytes of wikitext per second and core from a dump to the table of articles: all that a shard's job does.

    python benchmarks/dump.py

A dump as Wikimedia makes them (bzip2, a stream of its own for every 100 pages) of the embedded excerpt of the English
Wikipedia again and again up to --megabytes of its articles' wikitext, read by
`irpretrain.corpora.sources.write_shard`: decompressed, cut into pages, parsed in the guarded process, written as
Parquet; as one shard on one core. Once with the excerpt's articles, which are long, and once with the same text in
pages of the mean length of the English Wikipedia. Processor time and peak memory are those of the job's two processes
together: the reader, which also writes, and the parser.
"""

import argparse
import bz2
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import WHOLE_FILE
from irpretrain.foundation.resources import resources_directory
from irpretrain.wikipedia.pages import Page, read_pages

ENGLISH_WIKIPEDIA, ENGLISH_ARTICLES = 25_000, 7_000_000
"""Megabytes of wikitext of the articles of the English Wikipedia, and articles, about."""
MEAN_CHARACTERS = ENGLISH_WIKIPEDIA * 10**6 // ENGLISH_ARTICLES
PAGES_IN_STREAM = 100
PAGE = (
    "  <page>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n{redirect}    <revision>\n"
    '      <text xml:space="preserve">{text}</text>\n    </revision>\n  </page>\n'
)
Pages = Sequence[tuple[str, str]]
"""(title, wikitext) of each."""


def excerpt_path() -> Path:
    """Return the embedded excerpt's dump."""
    path = installed_path(read_manifest(resources_directory() / "embedded.yaml").asset("enwiki-excerpt"))
    if path is None:
        sys.exit("the gensim package, which holds the excerpt, is not installed")
    return path


def excerpt() -> Pages:
    """Return the excerpt's articles."""
    pages = read_pages(read_pieces(excerpt_path(), WHOLE_FILE), 1_000_000)
    articles = [
        page for page in pages if isinstance(page, Page) and page.namespace == 0 and page.redirect is None
    ]
    return [(page.title, page.text) for page in articles if page.text]


def short(pages: Pages) -> Pages:
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


def copies(pages: Pages, repeats: int) -> Iterator[str]:
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


def write_dump(path: Path, pages: Pages, repeats: int) -> None:
    """Write a multistream dump with the head of the excerpt's."""
    head = bz2.decompress(excerpt_path().read_bytes()).partition(b"</siteinfo>")[0] + b"</siteinfo>\n"
    with path.open("wb") as file:
        file.write(bz2.compress(head))
        stream: list[str] = []
        for page in copies(pages, repeats):
            stream.append(page)
            if len(stream) == PAGES_IN_STREAM:
                file.write(bz2.compress("".join(stream).encode()))
                stream = []
        file.write(bz2.compress(("".join(stream) + "</mediawiki>\n").encode()))


def job(dump: Path) -> tuple[dict[str, int], float, float, int]:
    """Write one shard on one core; return its counts, seconds of the reader and of the parser, and their MB."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    config = CorpusConfig(format="wikipedia-dump", path=str(dump))
    before = time.process_time()
    counts = write_shard(config, dump, 0, dump.with_name("documents"), dump.with_name("redirects"))
    reader = time.process_time() - before
    own, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return counts, reader, child.ru_utime + child.ru_stime, (own.ru_maxrss + child.ru_maxrss) // 1024


def measure(name: str, pages: Pages, megabytes: float, folder: Path) -> None:
    """Write a dump, read it, and print a row."""
    size = sum(len(text.encode()) for _, text in pages) / 1e6
    repeats = int(-(-megabytes // size))
    dump = folder / "enwiki-pages-articles-multistream.xml.bz2"
    write_dump(dump, pages, repeats)
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # for its own peak of memory
        counts, reader, parser, memory = pool.apply(job, [dump])
    if counts["read"] != 2 * repeats * len(pages):
        sys.exit(f"{counts['read']} pages were read, not each of the {2 * repeats * len(pages)} once")
    documents, seconds = counts["written"], reader + parser
    print(
        f"| {name} | {documents:,} | {repeats * size / seconds:.1f} | {documents / seconds:,.0f} "
        f"| {reader / seconds:.0%} | {memory:,} | {ENGLISH_WIKIPEDIA / (repeats * size / seconds) / 60:.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100, help="wikitext of articles, at least")
    given = parser.parse_args()
    print(
        "| pages | articles | MB/s per core | articles/s per core | reader's share | peak MB "
        "| English Wikipedia, core-minutes |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    for name, pages in (("as in the excerpt", excerpt()), (f"of {MEAN_CHARACTERS:,}", short(excerpt()))):
        with tempfile.TemporaryDirectory() as folder:
            measure(name, pages, given.megabytes, Path(folder))


if __name__ == "__main__":
    main()
