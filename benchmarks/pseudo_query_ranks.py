"""At which ranks pseudo-queries find their own document, by the options of the contrastive distribution.

    python benchmarks/pseudo_query_ranks.py --temperatures 1 0.1 0.03 --collections paragraphs pretraining

Prints a table row for each choice: shares of queries in the five intervals that ARES prints (section 4.1), at rank 1,
and the total variation distance to the printed shares. Text is the embedded default's (config.yaml): SQuAD 1.1's
training paragraphs, their passages of 40 words, these with the excerpt of Wikipedia, and the development paragraphs.
RANK is the workflow's: BM25 over the whole collection, Porter stems, INQUERY's stop list, k1 = 3.8, b = 0.87.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from irpretrain.axioms.calibration import QUERIES_PER_DOCUMENT, RankSample
from irpretrain.axioms.pseudo_queries import PseudoQuerySampler
from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_intervals import count_in_intervals, interval_ends
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.papers import load_published, read_preset
from irpretrain.config.text import TextConfig
from irpretrain.corpora.embedded import materialise, resolve
from irpretrain.corpora.sources import write_shard
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.terms import read_terms
from irpretrain.text.word_store import WordStore, write_word_store

ROOT = Path(__file__).resolve().parents[1]
COLLECTIONS = {
    "paragraphs": ("squad-train",),
    "passages": ("squad-train-passages",),
    "pretraining": ("enwiki-excerpt", "squad-train-passages"),
    "dev": ("squad-dev",),
}
PUBLISHED = load_published(ROOT / "resources/published/ares.yaml").axioms
assert PUBLISHED is not None
PAPER = PUBLISHED.rank_intervals.shares
"""The share of each interval of ranks, by its name."""
TEXT = TextConfig(words="alphanumeric")
AXIOMS = AxiomsConfig()


class Corpus(NamedTuple):
    documents: Path
    counts: Path


class Collection:
    """A collection of the default configuration with all that RANK needs, in a folder."""

    def __init__(self, name: str, corpora: Sequence[Corpus], folder: Path) -> None:
        folder.mkdir()
        self.name, self.statistics, self.postings = name, folder / "counts.parquet", folder / "postings"
        merge_counts([corpus.counts for corpus in corpora], self.statistics)
        self.stores = [folder / f"store-{i}" for i in range(len(corpora))]
        for corpus, store in zip(corpora, self.stores, strict=True):
            write_word_store(corpus.documents, self.statistics, TEXT, store)
        terms = read_terms(self.statistics, AXIOMS.stop_list, AXIOMS.stemming)
        shards = [[WordStore(store)] for store in self.stores]
        write_postings(shards, terms.term_of, len(terms.names), self.postings, AXIOMS.bm25)

    def sample(self, documents: int, seed: int) -> RankSample:
        """Draw documents as the workflow does when it calibrates a temperature."""
        return RankSample(self.stores, self.statistics, self.postings, AXIOMS, documents, seed)


def prepare(names: Sequence[str], folder: Path) -> list[Collection]:
    """Read the corpora of these collections, each once, and prepare the collections."""
    described = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["corpora"]
    corpora: dict[str, Corpus] = {}
    for corpus in dict.fromkeys(corpus for name in names for corpus in COLLECTIONS[name]):
        config = CorpusConfig(**{**described[corpus], "shards": 1})
        made = Corpus(folder / f"{corpus}.parquet", folder / f"{corpus}-counts.parquet")
        source = folder / f"{corpus}-source"
        materialise(str(resolve(config.path)[1]), ROOT / "resources/embedded.yaml", source)
        write_shard(config, source, 0, made.documents, folder / "redirects.parquet")
        count_words(made.documents, TEXT, made.counts)
        corpora[corpus] = made
    return [
        Collection(name, [corpora[corpus] for corpus in COLLECTIONS[name]], folder / name) for name in names
    ]


def row(name: str, setting: str, ranks: np.ndarray) -> str:
    shares = count_in_intervals(ranks, interval_ends([*PAPER])) / len(ranks)
    distance = np.abs(shares - [*PAPER.values()]).sum() / 2
    cells = [f"{100 * share:.2f}" for share in (*shares, (ranks == 1).mean(), distance)]
    return f"| {name} | {setting} | {len(ranks):,} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = PseudoQueriesConfig.model_validate(read_preset("paper")["pseudo_queries"])
    parser.add_argument("--collections", nargs="+", choices=list(COLLECTIONS), default=list(COLLECTIONS))
    parser.add_argument("--temperatures", nargs="+", type=float, default=[0.03])
    parser.add_argument("--supports", nargs="+", default=[default.support])
    parser.add_argument("--stop-lists", nargs="+", default=[default.stop_list])
    parser.add_argument("--minimum-counts", nargs="+", type=int, default=[default.minimum_count])
    parser.add_argument("--per-document", type=int, default=QUERIES_PER_DOCUMENT)
    parser.add_argument(
        "--documents", type=int, default=1000, help="rank the queries of so many documents, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    print("| collection | setting | queries | 1-2 | 3-5 | 6-10 | 11-50 | >50 | rank 1 | distance |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print(
        f"| paper | | | {' | '.join(f'{100 * share:.2f}' for share in PAPER.values())} | >30 | |", flush=True
    )
    settings = list(product(given.supports, given.temperatures, given.stop_lists, given.minimum_counts))
    with tempfile.TemporaryDirectory() as folder:
        for collection in prepare(given.collections, Path(folder)):
            sample = collection.sample(given.documents, given.seed)
            for support, temperature, stop_list, minimum_count in settings:
                options = PseudoQueriesConfig.model_validate(
                    {
                        "support": support,
                        "temperature": temperature,
                        "stop_list": stop_list,
                        "minimum_count": minimum_count,
                        "per_document": given.per_document,
                    }
                )
                words = (
                    f"{support}, T = {temperature:g}, stop words {stop_list}, minimum count {minimum_count}"
                )
                ranks = sample.ranks(PseudoQuerySampler(collection.statistics, options, given.seed))
                print(row(collection.name, words, ranks), flush=True)


if __name__ == "__main__":
    main()
