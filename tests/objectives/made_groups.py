"""Synthetic wikis with all that objectives need: token stores with positions, statistics, graph, anchor texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthetic_wiki import Wiki, make_graph

from irpretrain.config.base import deep_merge
from irpretrain.config.objectives import needs, read_options
from irpretrain.config.papers import read_preset
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import GROUPS
from irpretrain.objectives.shard import Shard, merge_groups, write_groups
from irpretrain.text.passages import sentences
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.texts import body_start
from irpretrain.text.token_store import TokenStore, write_token_store
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.wikipedia.links import write_anchor_texts

TEXT = TextConfig(words="alphanumeric")


@dataclass
class Made:
    """A collection of one or several corpora, each in the same number of shards."""

    wikis: Sequence[Wiki]
    folder: Path
    encoder: Path
    shards: int = 1
    text: TextConfig = TEXT
    seed: int = 1
    segment_words: int = 8

    def __post_init__(self) -> None:
        self.graph = make_graph(self.wikis, self.folder, self.shards, segment_words=self.segment_words)
        self.documents = [
            [self.folder / f"corpus-{corpus}" / f"documents-{shard}.parquet" for shard in range(self.shards)]
            for corpus in range(len(self.wikis))
        ]
        self.every = [path for corpus in self.documents for path in corpus]
        for path in self.every:
            write_token_store(path, self.encoder, self.text, self._tokens(path), positions=True)
            count_words(path, self.text, path.with_suffix(".words"))
        self.statistics = self.folder / "words.parquet"
        merge_counts([path.with_suffix(".words") for path in self.every], self.statistics)
        self.anchor_texts = self.folder / "anchor-texts.parquet"
        write_anchor_texts(self.every, self.graph, 256, 1, self.anchor_texts)
        self.store = TokenStore.open([self._tokens(path) for path in self.every])
        self.tokenizer = load_tokenizer(self.encoder)

    def build(self, type: str, preset: str = "paper", **given: Any) -> Path:
        """Build the groups of an objective, shard by shard, and merge them; counts of the shards are in `counts`."""
        chosen = deep_merge(read_preset(preset)["objectives"].get(type, {}), {"type": type, **given})
        options = read_options(type, chosen)
        offers: dict[str, Any] = {
            "statistics": self.statistics,
            "graph": self.graph,
            "collection": tuple(self.every),
            "collection_tokens": tuple(self._tokens(path) for path in self.every),
            "anchor_texts": self.anchor_texts,
        }
        needed = {name: offer for name, offer in offers.items() if name in needs(options)}
        self.counts: list[dict[str, Any]] = []
        outputs = []
        for corpus, paths in enumerate(self.documents):
            outputs.append(
                [self.folder / f"{type}-{corpus}-{number}.parquet" for number in range(len(paths))]
            )
            for path, output in zip(paths, outputs[-1], strict=True):
                shard = Shard(path, self.text, self.seed, tokens=self._tokens(path), **needed)
                self.counts.append(write_groups(shard, options, output))
        merged = self.folder / f"{type}.parquet"
        merge_groups(outputs, merged)
        return merged

    def groups(self, type: str, preset: str = "paper", **given: Any) -> list[dict[str, Any]]:
        """Return the groups of an objective, queries and documents as texts."""
        return [self.readable(row) for row in GROUPS.read(self.build(type, preset, **given)).to_pylist()]

    def readable(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with the word pieces of its spans in place of the spans; anchors too."""
        [query] = row["queries"][:1]
        anchors = [
            self.read(query["document_id"], a["start"], a["end"]) if a["start"] >= 0 else None
            for a in row["anchors"]
        ]
        return {
            "place": (row["part"], row["position"], row["sample"]),
            "queries": [
                q["text"] or self.read(q["document_id"], q["start"], q["end"]) for q in row["queries"]
            ],
            "documents": [
                self.read(d["document_id"], d["start"], d["end"], (d["gap_start"], d["gap_end"]))
                for d in row["documents"]
            ],
            "ids": [d["document_id"] for d in row["documents"]],
            "anchors": anchors,
            "raw": row,
        }

    def read(self, document_id: str, start: int, end: int, gap: tuple[int, int] = (0, 0)) -> str:
        """Return the word pieces of a span as one text."""
        [number] = self.store.rows([document_id])
        tokens = self.store.tokens(int(number))
        locations = range(start, len(tokens) if end < 0 else end)
        return " ".join(self.tokenizer.token(int(tokens[n])) for n in locations if not gap[0] <= n < gap[1])

    def sentences(self, row: dict[str, Any]) -> list[tuple[int, int]]:
        """Return the sentences of a row of DOCUMENTS, as word pieces of the document."""
        [number], before = self.store.rows([row["document_id"]]), body_start(row, self.text)
        return [
            self.store.span(int(number), before + start, before + end)
            for start, end in sentences(row["body"])
        ]

    def _tokens(self, path: Path) -> Path:
        return path.with_suffix(".tokens")
