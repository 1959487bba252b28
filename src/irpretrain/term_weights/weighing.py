"""Targets and weights of a weighting, whichever kind and model it is."""

from __future__ import annotations

from collections.abc import Sequence
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


def weigh_documents(
    models: Sequence[str | Path],
    vectors: str | Path,
    statistics: str | Path,
    targets: str | Path,
    documents: str | Path,
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
    checkpoints: str | Path,
    title: str,
) -> dict[str, Any]:
    """Write the weights of the words of every document of a shard as a TERM_WEIGHTS table.

    Args:
        models: the weighting's one model; none for an oracle.
        vectors, statistics: word vectors and what numbers them, of word-vectors.
        targets: TERM_TARGETS table, of an oracle.
        documents: DOCUMENTS table.
        options: of the weighting.
        text: how fields become a text, and a text words.
        output: the table.
        checkpoints: folder of all jobs' unfinished work.
        title: what status lines call this job.

    Returns:
        Counts, as the model's own function says.
    """
    if options.model == "oracle":
        return oracle_documents(targets, documents, text, output)
    if options.model == "word-vectors":
        return weight_documents(models[0], vectors, statistics, documents, text, output)
    from irpretrain.term_weights.infer import infer_documents

    return infer_documents(models[0], documents, options, text, output, checkpoints, title)


def weigh_queries(
    models: Sequence[str | Path],
    folds: str | Path | None,
    vectors: str | Path,
    statistics: str | Path,
    targets: str | Path,
    queries: str | Path,
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of the words of every query of a data set as a TERM_WEIGHTS table.

    Args:
        models: one a test fold of `folds`, or one where that is None; none for an oracle.
        folds: what `make_folds` wrote; a query is weighted by the model of its test fold, which has not seen it.
        queries: QUERIES table.
        vectors, statistics, targets, options, text, output: as in `weigh_documents`.
    """
    if options.model == "oracle":
        return oracle_queries(targets, queries, text, output)
    if options.model == "word-vectors":
        return weight_queries(models, vectors, statistics, queries, folds, text, output)
    from irpretrain.term_weights.infer import infer_queries

    return infer_queries(models, queries, folds, options, text, output)
