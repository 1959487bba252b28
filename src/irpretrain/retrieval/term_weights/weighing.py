"""Targets and weights of a weighting, whichever kind and model it is.

Queries are weighted by models that have not seen them: one model a test fold, or one for all queries.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.folds import read_folds
from irpretrain.foundation.contracts import TERM_WEIGHTS
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval.term_weights.targets import Oracle, passage_targets, query_targets
from irpretrain.retrieval.term_weights.word_vector_regression import WordFeatures, WordVectorPredictor
from irpretrain.text.texts import Text, document_texts, query_texts

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
class WeightSource:
    # Of documents one, of queries one per test fold, or one without folds; none for an oracle.
    models: Sequence[str | Path]
    targets: str | Path = ""  # TERM_TARGETS table, of an oracle
    # vectors, statistics: word vectors and what numbers them, of word-vectors.
    vectors: str | Path = ""
    statistics: str | Path = ""


def weigh_documents(
    source: WeightSource,  # what the weights come from
    documents: str | Path,  # DOCUMENTS table
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
    checkpoints: str | Path,  # folder of all jobs' unfinished work
    title: str,  # name of the job in status lines
) -> dict[str, Any]:
    """Write the weights of the words of every document of a shard as a TERM_WEIGHTS table."""
    if options.model in WITHOUT_ENCODER:
        return _write_weights(_weigher_openers(source, options, text)[0](), documents, text, output)
    from irpretrain.retrieval.term_weights.infer import infer_documents  # torch

    return infer_documents(source.models[0], documents, options, text, output, checkpoints, title)


def weigh_queries(
    source: WeightSource,  # what the weights come from; one model a test fold, or one where `folds` is None
    # What `make_folds` wrote; a query is weighted by the model of its test fold, which has not seen it.
    folds: str | Path | None,
    queries: str | Path,  # QUERIES table
    # options, text, output: as in `weigh_documents`.
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of the words of every query of a data set as a TERM_WEIGHTS table.

    Raises:
        InputError: the folds do not fit the queries or the models.
    """
    texts = query_texts(queries)
    if options.model in WITHOUT_ENCODER:
        used_folds = None if options.model == "oracle" else folds
        return _weigh_by_folds(_weigher_openers(source, options, text), texts, used_folds, output)
    from irpretrain.retrieval.term_weights.infer import WeightPredictor  # torch
    from irpretrain.training.compute import reproducible  # torch

    with reproducible(options.inference.compute) as device:
        open_models = [partial(WeightPredictor.open, model, options, text, device) for model in source.models]
        return _weigh_by_folds(open_models, texts, folds, output)


class _Weigher(Protocol):
    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of some texts, in their order, and counts."""


def _weigh_by_folds(
    # Open one model a test fold, in their order; or one, for all texts.
    model_openers: Sequence[Callable[[], _Weigher]],
    texts: Sequence[Text],  # queries
    folds: str | Path | None,  # what `make_folds` wrote; None with one model
    output: str | Path,
) -> dict[str, Any]:
    groups = [list(texts)] if folds is None else _texts_by_fold(texts, folds, len(model_openers))
    rows: list[dict[str, Any]] = []
    totals = Counter[str]()
    for open_model, group in zip(model_openers, groups, strict=True):
        table, counts = open_model().rows(group)
        rows += table.to_pylist()
        totals.update(counts)
    TERM_WEIGHTS.write(output, sorted(rows, key=lambda row: row["position"]))
    return dict(totals)


def _texts_by_fold(texts: Sequence[Text], folds: str | Path, models: int) -> list[list[Text]]:
    query_folds = read_folds(folds)
    without_fold = [text.document_id for text in texts if text.document_id not in query_folds.fold_of]
    if without_fold or query_folds.fold_count != models:
        fault = f"{query_folds.fold_count} folds for {models} models"
        if without_fold:
            fault = f"query {without_fold[0]!r} has no fold"
        raise InputError(folds, fault, remedy="Delete the folds and run the workflow again.")
    groups: list[list[Text]] = [[] for _ in range(models)]
    for text in texts:
        groups[query_folds.fold_of[text.document_id] - 1].append(text)
    return groups


def _weigher_openers(
    source: WeightSource, options: TermWeightsConfig, text: TextConfig
) -> list[Callable[[], _Weigher]]:
    if options.model == "oracle":
        return [partial(Oracle, source.targets, text)]
    features = WordFeatures.open(source.vectors, source.statistics)
    return [partial(WordVectorPredictor.open, model, features, text) for model in source.models]


def _write_weights(
    weigher: _Weigher, documents: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    totals = Counter(weigher.rows([])[1])  # an empty shard has counts too

    def tables() -> Iterator[pa.Table]:
        for texts in document_texts(documents, text):
            table, counts = weigher.rows(texts)
            totals.update(counts)
            yield table

    TERM_WEIGHTS.write(output, tables())
    return dict(totals)
