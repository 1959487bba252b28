"""The work of a plan: sizes of corpora, and what each job does with them."""

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from irpretrain.config.base import Section, option
from irpretrain.config.root import Config
from irpretrain.foundation.resources import parse_yaml, resources_directory

# How large the corpora and data sets of a configuration are, as far as it says so.


Wildcards = Mapping[str, str]

# A size that the configuration does not state.
UNKNOWN = math.nan
# Of a document, where words are counted; the documents that were measured have as many.
WORDS_PER_DOCUMENT = 1_000


def record_count(config: Config, corpus: str) -> float:
    """Return how many records the files of a corpus hold; of passages, how many of `WORDS` words they fill."""
    section = config.corpora[corpus]
    if section.passage_words is None:
        return section.about or section.expected or UNKNOWN
    return section.expected or (section.about or UNKNOWN) * section.passage_words / WORDS_PER_DOCUMENT


def document_count(config: Config, corpus: str) -> float:
    """Return how many documents a corpus has: passages, where it is cut into them."""
    section = config.corpora[corpus]
    return record_count(config, corpus) if section.passage_words is None else section.about or UNKNOWN


def documents_of_shard(config: Config, wildcards: Wildcards) -> float:
    """Return how many documents one shard of a job's corpus has, on average."""
    return document_count(config, wildcards["corpus"]) / config.corpora[wildcards["corpus"]].shards


def documents_of_collection(config: Config, wildcards: Wildcards) -> float:
    """Return how many documents a job's collection has."""
    return sum(document_count(config, corpus) for corpus in config.collections[wildcards["collection"]])


def query_count(config: Config, dataset: str) -> float:
    """Return how many queries a data set has."""
    section = config.datasets[dataset]
    configured_count = section.queries.about or section.queries.expected
    return min(filter(None, (configured_count, section.sample_queries)), default=UNKNOWN)


def relevant_pairs(config: Config, dataset: str) -> float:
    """Return how many (query, relevant document) pairs a data set has; `expected` counts other judgements too."""
    section = config.datasets[dataset]
    pairs = section.qrels.about or UNKNOWN
    if section.sample_queries is None:
        return pairs
    return pairs * section.sample_queries / (section.queries.about or UNKNOWN)


# What a job does, counted.


Device = Literal["cpu", "gpu"]
Unit = Literal["documents", "queries", "words", "word pieces"]


class Computing(Section):
    """What a rate of an encoder holds for: no other encoder, arithmetic or device is guessed from it."""

    encoder: str = option(..., "Its name, as `encoder.label` gives it.")
    layers: int | None = option(..., "As `encoder.layers`.")
    precision: str = option(..., "As `compute.precision`.")
    device: Device = option(..., "cpu, or gpu for jobs that ask for one.")


class Throughput(Section):
    """How much one core, or one GPU, did in a second of its time."""

    stage: str = option(..., "A rule, with what its speed depends on, as `costs.work` calls it.")
    per_second: float = option(..., "Units in a second of one core or GPU.", gt=0)
    unit: Unit = option(..., "What is counted.")
    computing: Computing | None = option(None, "null where no encoder computes.")
    of: str = option(..., "What it was measured on, in a few words.")
    date: datetime.date = option(..., "When.")
    section: str = option(
        ..., "Heading in docs/benchmarks.md under which the command stands that measured it."
    )


def read_throughputs(path: Path | None = None) -> list[Throughput]:
    """Return the measured rates of a file, by default those of `resources/throughput.yaml`."""
    path = path or resources_directory() / "throughput.yaml"
    return [Throughput.model_validate(entry) for entry in parse_yaml(path.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Work:
    """A part of a job's work.

    Attributes:
        stage: its rule, with what the speed depends on; as in `resources/throughput.yaml`.
        unit: what is counted.
        amount: how much.
        computing: encoder, arithmetic and device; None where no encoder computes.
    """

    stage: str
    unit: Unit
    amount: float
    computing: Computing | None = None


# From the configuration and a job's wildcards to the parts of its work; none where it is not estimated.
CountWork = Callable[[Config, Wildcards], list[Work]]


# Work on documents, words and links: every rule that counts documents or queries and runs no encoder.


Stage = Callable[[Config, Wildcards], str]
Amount = Callable[[Config, Wildcards], float]


def _work_on(stage: str | Stage, amount: Amount, unit: Unit = "documents") -> CountWork:
    def describe(config: Config, wildcards: Wildcards) -> list[Work]:
        name = stage if isinstance(stage, str) else stage(config, wildcards)
        return [Work(name, unit, amount(config, wildcards))]

    return describe


def _records_of_shard(config: Config, wildcards: Wildcards) -> float:
    corpus = wildcards["corpus"]
    return record_count(config, corpus) / config.corpora[corpus].shards


def _documents_of_corpus(config: Config, wildcards: Wildcards) -> float:
    return document_count(config, wildcards["corpus"])


def _pseudo_queries_of_shard(config: Config, wildcards: Wildcards) -> float:
    return documents_of_shard(config, wildcards) * config.pseudo_queries.per_document


def _queries_of_dataset(config: Config, wildcards: Wildcards) -> float:
    return query_count(config, wildcards["dataset"])


def _negatives_of_dataset(config: Config, wildcards: Wildcards) -> float:
    return _queries_of_dataset(config, wildcards) * config.pseudo_queries.per_document


def _make_word_vectors(config: Config, wildcards: Wildcards) -> list[Work]:
    """What is trained; vectors that a file has are read, which is not counted."""
    options = config.word_vectors
    if wildcards["collection"] in options.files:
        return []
    words = documents_of_collection(config, wildcards) * WORDS_PER_DOCUMENT
    if options.most_words is not None:
        words = min(options.most_words, words)  # the former where the latter is not known
    stage = f"make_word_vectors {options.dimensions}"
    return [Work(stage, "words", words * options.epochs)]


def _reading_stage(config: Config, wildcards: Wildcards) -> str:
    return f"read_corpus {config.corpora[wildcards['corpus']].format}"


def _linking_stage(config: Config, wildcards: Wildcards) -> str:
    return "extract_links" + (" with mentions" if config.graph.mentions != "none" else "")


def _objective_stage(rule: str) -> Stage:
    def stage(config: Config, wildcards: Wildcards) -> str:
        options: Any = config.objectives[wildcards["objective"]]
        return f"{rule} {options.type}"

    return stage


# Rule → how its work is counted.
TEXT_RULES: dict[str, CountWork] = {
    "read_corpus": _work_on(_reading_stage, _records_of_shard),
    "count_words": _work_on("count_words", documents_of_shard),
    "store_tokens": _work_on("store_tokens", documents_of_shard),
    "store_words": _work_on("store_words", documents_of_shard),
    "extract_links": _work_on(_linking_stage, documents_of_shard),
    "build_graph": _work_on("build_graph", documents_of_collection),
    "list_anchor_texts": _work_on("list_anchor_texts", documents_of_collection),
    "build_groups": _work_on(_objective_stage("build_groups"), documents_of_shard),
    "merge_groups": _work_on(_objective_stage("merge_groups"), documents_of_collection),
    "build_postings": _work_on("build_postings", documents_of_collection),
    "make_word_vectors": _make_word_vectors,
    "weigh_textrank": _work_on("weigh_textrank", documents_of_shard),
    "count_term_frequencies": _work_on("count_term_frequencies", documents_of_shard),
    "index_corpus": _work_on("index_corpus", _documents_of_corpus),
    "index_weights": _work_on("index_weights", _documents_of_corpus),
    "build_positions": _work_on("build_positions", _documents_of_corpus),
    "sample_pseudo_queries": _work_on("sample_pseudo_queries", _pseudo_queries_of_shard, "queries"),
    "compute_axioms": _work_on("compute_axioms", _pseudo_queries_of_shard, "queries"),
    "compute_judged_axioms": _work_on("compute_judged_axioms", _queries_of_dataset, "queries"),
    "sample_negative_queries": _work_on("sample_pseudo_queries", _negatives_of_dataset, "queries"),
    "compute_negative_axioms": _work_on("compute_axioms", _negatives_of_dataset, "queries"),
    "search": _work_on("search", _queries_of_dataset, "queries"),
    "search_first_stage": _work_on("search_first_stage", _queries_of_dataset, "queries"),
    "search_structured": _work_on("search_structured", _queries_of_dataset, "queries"),
}
