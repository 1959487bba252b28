"""Work on documents, words and links: every rule that counts documents or queries and runs no encoder."""

from collections.abc import Callable
from typing import Any

from irpretrain.config.root import Config
from irpretrain.costs import sizes
from irpretrain.costs.sizes import Size, product
from irpretrain.costs.work import Describe, Wildcards, Work

Stage = Callable[[Config, Wildcards], str]
Amount = Callable[[Config, Wildcards], Size]
WORDS = 1_000
"""Of a document, where words are counted; the documents that were measured have as many."""


def _documents(stage: str | Stage, amount: Amount) -> Describe:
    def describe(config: Config, wildcards: Wildcards) -> list[Work]:
        name = stage if isinstance(stage, str) else stage(config, wildcards)
        return [Work(name, "documents", amount(config, wildcards))]

    return describe


def _queries(stage: str, amount: Amount) -> Describe:
    return lambda config, wildcards: [Work(stage, "queries", amount(config, wildcards))]


def _shard(config: Config, wildcards: Wildcards) -> Size:
    return sizes.documents_of_shard(config, wildcards["corpus"])


def _records_of_shard(config: Config, wildcards: Wildcards) -> Size:
    corpus = wildcards["corpus"]
    return product(sizes.records(config, corpus), 1 / config.corpora[corpus].shards)


def _corpus(config: Config, wildcards: Wildcards) -> Size:
    return sizes.documents(config, wildcards["corpus"])


def _collection(config: Config, wildcards: Wildcards) -> Size:
    return sizes.documents_of_collection(config, wildcards["collection"])


def _pseudo_queries(config: Config, wildcards: Wildcards) -> Size:
    return product(_shard(config, wildcards), config.pseudo_queries.per_document)


def _dataset(config: Config, wildcards: Wildcards) -> Size:
    return sizes.queries(config, wildcards["dataset"])


def _make_word_vectors(config: Config, wildcards: Wildcards) -> list[Work]:
    """What is trained; vectors that a file has are read, which is not counted."""
    options, collection = config.word_vectors, wildcards["collection"]
    if collection in options.files:
        return []
    words = product(sizes.documents_of_collection(config, collection), WORDS)
    if options.most_words is not None:
        words = options.most_words if words is None else min(words, options.most_words)
    stage = f"make_word_vectors of {options.dimensions} dimensions"
    return [Work(stage, "words", product(words, options.epochs))]


def _reading(config: Config, wildcards: Wildcards) -> str:
    return f"read_corpus {config.corpora[wildcards['corpus']].format}"


def _linking(config: Config, wildcards: Wildcards) -> str:
    return "extract_links" + (" with mentions" if config.graph.mentions != "none" else "")


def _of_objective(rule: str) -> Stage:
    def stage(config: Config, wildcards: Wildcards) -> str:
        options: Any = config.objectives[wildcards["objective"]]
        return f"{rule} {options.type}"

    return stage


TEXT_RULES: dict[str, Describe] = {
    "read_corpus": _documents(_reading, _records_of_shard),
    "count_words": _documents("count_words", _shard),
    "store_tokens": _documents("store_tokens", _shard),
    "store_words": _documents("store_words", _shard),
    "extract_links": _documents(_linking, _shard),
    "build_graph": _documents("build_graph", _collection),
    "list_anchor_texts": _documents("list_anchor_texts", _collection),
    "build_groups": _documents(_of_objective("build_groups"), _shard),
    "merge_groups": _documents(_of_objective("merge_groups"), _collection),
    "build_postings": _documents("build_postings", _collection),
    "make_word_vectors": _make_word_vectors,
    "weigh_textrank": _documents("weigh_textrank", _shard),
    "count_term_frequencies": _documents("count_term_frequencies", _shard),
    "index_corpus": _documents("index_corpus", _corpus),
    "index_weights": _documents("index_weights", _corpus),
    "build_positions": _documents("build_positions", _corpus),
    "sample_pseudo_queries": _queries("sample_pseudo_queries", _pseudo_queries),
    "compute_axioms": _queries("compute_axioms", _pseudo_queries),
    "compute_judged_axioms": _queries("compute_judged_axioms", _dataset),
    "search": _queries("search", _dataset),
    "search_first_stage": _queries("search_first_stage", _dataset),
    "search_structured": _queries("search_structured", _dataset),
}
"""Rule → how its work is counted."""
