"""Our parser of wikitext against mwparserfromhell, on a sample of each corpus of format wikipedia-dump.

    python benchmarks/audit_wikitext.py --configfile mine.yaml

For every such corpus of the configuration it writes `<corpus>.md`, and the same as `<corpus>.json`, to `--output`. The
method is in docs/methods/wikipedia.md. mwparserfromhell may need minutes or tens of gigabytes for a page, so both parse
in a process that a page may cost its life (`irpretrain.wikipedia.guarded_parser`).
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

from audit_table import markdown, verdict
from irpretrain.config import load_config
from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.embedded import installed_path, read_manifest, resolve
from irpretrain.corpora.file_lists import list_files
from irpretrain.corpora.formats import wikipedia_dump
from irpretrain.corpora.formats.wikipedia_dump import Unparsed, WikipediaDumpDocumentOptions
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.errors import InputError, IRPretrainError
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.randomness import stream_key
from irpretrain.wikipedia.guarded_parser import Failure, GuardedParser, Settings
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from wikitext_comparison import KINDS, SAME, Compared, Comparison, Difference, compare_readings
from wikitext_reference import Edition, Reading

PARSER = "audit_wikitext:audit_page"
LONGEST_EXAMPLE = 300
"""Characters of an example that are shown."""
LONGEST_HEADING = 100
_STREAM = "wikitext-audit"


ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Sampling:
    """How many pages are compared, and what one may cost.

    Attributes:
        pages: articles of each corpus, drawn by seed and page id; a larger sample contains a smaller one.
        page_seconds: processor time of a page; one that takes more is named and not compared.
        page_memory_mb: memory of a page, likewise.
        examples: unexplained differences shown of each kind.
    """

    pages: int = 200
    page_seconds: float = 20.0
    page_memory_mb: int = 1000
    examples: int = 20


@dataclass(frozen=True)
class PageAudit:
    """Of one page: the comparison, with few of the unexplained differences of a kind; their number; and its headings
    with what they say of their sections."""

    comparison: Comparison
    unexplained: dict[str, int]
    headings: Sequence[tuple[str, str]]


@dataclass
class Audit:
    """Of a sample of pages.

    Attributes:
        articles: in the corpus.
        compared: pages of the sample that were.
        failures: title and reason of those that were not.
        total: what is the same and what differs, by kind and class.
        unexplained: number of differences that no class explains, by kind.
        examples: some of these by kind, each with the title of its page.
        headings: number of pages with a heading of that text and role.
    """

    articles: int = 0
    compared: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    total: Comparison = field(default_factory=Comparison)
    unexplained: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[str, Difference]]] = field(
        default_factory=lambda: {kind: [] for kind in KINDS}
    )
    headings: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, title: str, page: PageAudit, most_examples: int) -> None:
        """Add a page; at most three examples are taken of a kind, as long as there is room."""
        self.compared += 1
        self.total.add(page.comparison)
        self.unexplained.update(page.unexplained)
        self.headings.update(set(page.headings))
        for kind in KINDS:
            differences = getattr(page.comparison, kind).unexplained
            room = most_examples - len(self.examples[kind])
            self.examples[kind] += [(title, difference) for difference in differences[: max(0, min(room, 3))]]
            differences.clear()


def audit_wikitext(
    corpus: str, config: CorpusConfig, source: str | Path, options: Sampling, seed: int, table: str | Path,
    record: str | Path,
) -> dict[str, Any]:  # fmt: skip
    """Compare both parsers on a sample of a corpus of format wikipedia-dump.

    Args:
        corpus: its name, for the title.
        config: how its dump is read.
        source: file or folder of the dump.
        options: how many pages, what one may cost, how many examples.
        seed: of the sample.
        table: where to write what a reader needs, as Markdown.
        record: where to write the same as JSON.

    Returns:
        Counts: articles, those in the sample and compared; the same, explained and unexplained of each kind.

    Raises:
        InputError: the source is missing or has no article.
    """
    found = audit_pages(config, source, options, seed)
    content = {"corpus": corpus, "mwparserfromhell": metadata.version("mwparserfromhell"), **_plain(found)}
    write_text(record, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_text(table, markdown(content))
    notice(corpus, f"{verdict(content)}; {table}")
    counts = {name: content[name] for name in ("articles", "sampled", "compared")}
    return counts | {kind: {**content[kind], "examples": len(content[kind]["examples"])} for kind in KINDS}


def audit_pages(config: CorpusConfig, source: str | Path, options: Sampling, seed: int) -> Audit:
    """Compare both parsers on the sample."""
    reading = WikipediaDumpDocumentOptions(**config.options)
    files = list_files(source, wikipedia_dump.DOCUMENTS.suffixes)
    articles = _Counted(_articles(files, reading))
    sample = heapq.nsmallest(
        options.pages,
        progress(articles, f"draw pages of {Path(source).name}", "articles"),
        key=lambda drawn: stream_key(seed, _STREAM, drawn[1].identifier),
    )
    if not sample:
        remedy = (
            "Read the corpus, which says what is left out and why: "
            "snakemake --cores 2 results/corpora/<corpus>/documents-0.parquet"
        )
        raise InputError(source, "the dump has no article to look at", remedy=remedy)
    found = Audit(articles.count)
    sample.sort(key=lambda drawn: (drawn[0], drawn[1].page.position))
    for part, drawn_pages in groupby(sample, key=lambda drawn: drawn[0]):
        pages = [unparsed.page for _, unparsed in drawn_pages]
        language = wikipedia_dump.language_of(files[part], reading)
        settings = Settings(
            PARSER, (language, options.examples), options.page_seconds, options.page_memory_mb
        )
        with GuardedParser(settings) as parser:
            for page, audited in parser.parse((page, page.text) for page in pages):
                if isinstance(audited, Failure):
                    found.failures.append((page.title, audited.reason))
                else:
                    found.add(page.title, audited, options.examples)
    return found


class _Counted:
    """Counts what is iterated over."""

    def __init__(self, items: Iterator[tuple[int, Unparsed]]) -> None:
        self._items, self.count = items, 0

    def __iter__(self) -> Iterator[tuple[int, Unparsed]]:
        for item in self._items:
            self.count += 1
            yield item


def _articles(files: list[Path], options: WikipediaDumpDocumentOptions) -> Iterator[tuple[int, Unparsed]]:
    for part, path in enumerate(files):
        for found in wikipedia_dump.read_unparsed(path, options):
            yield part, found


def audit_page(wikitext: str, language: WikiLanguage, most: int) -> PageAudit:
    """Audit a page, in the worker; `most` is the number of examples that are wanted of a kind."""
    article = parse_article(wikitext, language)
    found = compare_readings(article, Reading.of(wikitext, Edition.of(language)))
    unexplained = {kind: len(getattr(found, kind).unexplained) for kind in KINDS}
    for kind in KINDS:
        compared = getattr(found, kind)
        compared.unexplained = [_shortened(difference) for difference in compared.unexplained[:most]]
    headings = [(section.heading[:LONGEST_HEADING], section.role) for section in article.sections[1:]]
    return PageAudit(found, unexplained, headings)


def _shortened(difference: Difference) -> Difference:
    ours, theirs = (
        text if len(text) <= LONGEST_EXAMPLE else text[:LONGEST_EXAMPLE] + "…"
        for text in (difference.ours, difference.theirs)
    )
    return Difference(ours, theirs)


def _plain(found: Audit) -> dict[str, Any]:
    return {
        "articles": found.articles,
        "sampled": found.compared + len(found.failures),
        "compared": found.compared,
        "not_compared": [{"page": title, "reason": reason} for title, reason in found.failures],
        **{
            kind: _plain_kind(getattr(found.total, kind), found.unexplained[kind], found.examples[kind])
            for kind in KINDS
        },
        "frequent_headings": [
            {"heading": heading, "role": role, "pages": pages}
            for (heading, role), pages in sorted(found.headings.items(), key=lambda row: (-row[1], row[0]))[
                :30
            ]
        ],
    }


def _plain_kind(
    compared: Compared, unexplained: int, examples: list[tuple[str, Difference]]
) -> dict[str, Any]:
    return {
        "same": compared.classes[SAME],
        "explained": {name: count for name, count in sorted(compared.classes.items()) if name != SAME},
        "unexplained": unexplained,
        "examples": [{"page": title, "ours": d.ours, "theirs": d.theirs} for title, d in examples],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit every dump of a configuration; return an exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configfile", nargs="+", default=[], help="overlays over config.yaml")
    parser.add_argument("--output", type=Path, default=Path("results/audits"), help="folder of the pages")
    for name, default in vars(Sampling()).items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help=f"default: {default}")
    given = parser.parse_args(arguments)
    options = Sampling(**{name: getattr(given, name) for name in vars(Sampling())})
    try:
        config = load_config(ROOT / "config.yaml", *given.configfile)
        wikis = {n: corpus for n, corpus in config.corpora.items() if corpus.format == "wikipedia-dump"}
        if not wikis:
            raise InputError("corpora", "the configuration names no corpus of format wikipedia-dump; add one")
        for name, corpus in wikis.items():
            outputs = given.output / f"{name}.md", given.output / f"{name}.json"
            audit_wikitext(name, corpus, _source(corpus), options, config.seed, *outputs)
    except IRPretrainError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _source(corpus: CorpusConfig) -> Path:
    """Return where a dump lies: of an embedded one, in its package."""
    kind, location = resolve(corpus.path)
    if kind != "embedded":
        return Path(location)
    installed = installed_path(read_manifest(ROOT / "resources/embedded.yaml").asset(str(location)))
    if installed is None:
        raise InputError(corpus.path, "its package is not installed")
    return installed


if __name__ == "__main__":
    sys.exit(main())
