"""Targets and weights of a weighting, whichever kind and model it is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_WEIGHTS
from irpretrain.retrieval.term_weights.folds import Weigher, models_of_folds
from irpretrain.retrieval.term_weights.targets import TEXTS_AT_ONCE, Oracle, passage_targets, query_targets
from irpretrain.retrieval.term_weights.word_vector_regression import WordFeatures, WordVectorPredictor
from irpretrain.text.texts import document_texts, query_texts

# Models that need no torch.
WITHOUT_ENCODER = ("oracle", "word-vectors")


def make_targets(
    documents: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the targets that a weighting learns from; see `passage_targets` and `query_targets`."""
    make = passage_targets if options.kind == "passages" else query_targets
    return make(documents, queries, qrels, options.labels, text, output)


@dataclass(frozen=True)
class Learned:
    # Of documents one, of queries one per test fold, or one without folds; none for an oracle.
    models: Sequence[str | Path]
    targets: str | Path = ""  # TERM_TARGETS table, of an oracle
    # vectors, statistics: word vectors and what numbers them, of word-vectors.
    vectors: str | Path = ""
    statistics: str | Path = ""


def weigh_documents(
    learned: Learned,  # what the weights come from
    documents: str | Path,  # DOCUMENTS table
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
    checkpoints: str | Path,  # folder of all jobs' unfinished work
    title: str,  # name of the job in status lines
) -> dict[str, Any]:
    """Write the weights of the words of every document of a shard as a TERM_WEIGHTS table."""
    if options.model in WITHOUT_ENCODER:
        return _write_weights(_weighers(learned, options, text)[0](), documents, text, output)
    from irpretrain.retrieval.term_weights.infer import infer_documents  # torch

    return infer_documents(learned.models[0], documents, options, text, output, checkpoints, title)


def weigh_queries(
    learned: Learned,  # what the weights come from; one model a test fold, or one where `folds` is None
    # What `make_folds` wrote; a query is weighted by the model of its test fold, which has not seen it.
    folds: str | Path | None,
    queries: str | Path,  # QUERIES table
    # options, text, output: as in `weigh_documents`.
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of the words of every query of a data set as a TERM_WEIGHTS table."""
    if options.model in WITHOUT_ENCODER:
        used_folds = None if options.model == "oracle" else folds
        return models_of_folds(_weighers(learned, options, text), query_texts(queries), used_folds, output)
    from irpretrain.retrieval.term_weights.infer import infer_queries  # torch

    return infer_queries(learned.models, queries, folds, options, text, output)


def _weighers(learned: Learned, options: TermWeightsConfig, text: TextConfig) -> list[Callable[[], Weigher]]:
    if options.model == "oracle":
        return [partial(Oracle, learned.targets, text)]
    features = WordFeatures.open(learned.vectors, learned.statistics)
    return [partial(WordVectorPredictor.open, model, features, text) for model in learned.models]


def _write_weights(
    weigher: Weigher, documents: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    totals = dict(weigher.rows([])[1])  # an empty shard has counts too

    def tables() -> Iterator[pa.Table]:
        for texts in document_texts(documents, text, TEXTS_AT_ONCE):
            table, counts = weigher.rows(texts)
            for name, value in counts.items():
                totals[name] += value
            yield table

    TERM_WEIGHTS.write_tables(output, tables())
    return totals
