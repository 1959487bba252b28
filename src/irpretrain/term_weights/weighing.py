"""Targets and weights of a weighting, whichever kind and model it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.term_weights.known_weights import oracle_documents, oracle_queries
from irpretrain.term_weights.targets import passage_targets, query_targets
from irpretrain.term_weights.word_vector_regression import weight_documents, weight_queries


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
    """What weights of words come from.

    Attributes:
        models: of documents one, of queries one a test fold, or one without folds; none for an oracle.
        targets: TERM_TARGETS table, of an oracle.
        vectors, statistics: word vectors and what numbers them, of word-vectors.
    """

    models: Sequence[str | Path]
    targets: str | Path = ""
    vectors: str | Path = ""
    statistics: str | Path = ""


def weigh_documents(
    learned: Learned,
    documents: str | Path,
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
    checkpoints: str | Path,
    title: str,
) -> dict[str, Any]:
    """Write the weights of the words of every document of a shard as a TERM_WEIGHTS table.

    Args:
        learned: what the weights come from.
        documents: DOCUMENTS table.
        checkpoints: folder of all jobs' unfinished work.
        title: what status lines call this job.
    """
    if options.model == "oracle":
        return oracle_documents(learned.targets, documents, text, output)
    if options.model == "word-vectors":
        return weight_documents(
            learned.models[0], learned.vectors, learned.statistics, documents, text, output
        )
    from irpretrain.term_weights.infer import infer_documents  # torch

    return infer_documents(learned.models[0], documents, options, text, output, checkpoints, title)


def weigh_queries(
    learned: Learned,
    folds: str | Path | None,
    queries: str | Path,
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of the words of every query of a data set as a TERM_WEIGHTS table.

    Args:
        learned: what the weights come from; one model a test fold, or one where `folds` is None.
        folds: what `make_folds` wrote; a query is weighted by the model of its test fold, which has not seen it.
        queries: QUERIES table.
        options, text, output: as in `weigh_documents`.
    """
    if options.model == "oracle":
        return oracle_queries(learned.targets, queries, text, output)
    if options.model == "word-vectors":
        return weight_queries(
            learned.models, learned.vectors, learned.statistics, queries, folds, text, output
        )
    from irpretrain.term_weights.infer import infer_queries  # torch

    return infer_queries(learned.models, queries, folds, options, text, output)
