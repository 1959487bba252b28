"""Re-ranking of first-stage candidates by a cross-encoder.

Pairs are scored longest first, in batches under a budget of word pieces, padding included. Which pairs share
a batch depends on the pairs alone (length, query, document), so the order of the candidates changes no bit of
a score. Other pairs in the batch change a score by float rounding at most: attention never reaches padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import QUERIES
from irpretrain.errors import InputError, TrainingError
from irpretrain.evaluation.runs import Run, canonical, read_run, top, write_run
from irpretrain.progress import progress
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import SPECIAL_POSITIONS, BatchBuilder, Group, Span

if TYPE_CHECKING:
    from torch import Tensor

    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.models.reranker import Reranker

TAG = "irpretrain"
"""Last column of re-ranked runs; which model it was is in the file's path and sidecar."""


class Pair(NamedTuple):
    """What is scored: a query, a document, and the document's row in the token store (0 where there is none)."""

    query: str
    document: str
    row: int


def rerank(
    model: str | Path,
    tokens: Sequence[str | Path],
    queries: str | Path,
    candidates: str | Path,
    options: RerankingConfig,
    output: str | Path,
    documents: Sequence[str | Path] = (),
    text: TextConfig | None = None,
) -> dict[str, Any]:
    """Score the candidates of every query with a saved cross-encoder and write the new run.

    A cross-encoder of ours reads word pieces from the token store. One that was not made here has a tokenizer of its
    own: it is given `documents` and `text` in place of `tokens`.

    Args:
        model: directory of the cross-encoder and its tokenizer.
        tokens: directories of the corpus's token store.
        queries: QUERIES table.
        candidates: TREC run of the first stage.
        options: depth, lengths, batches, threads and device. Candidates below `depth` are left out.
        output: TREC run, gzip, with single-precision scores.
        documents: DOCUMENTS tables of the corpus.
        text: fields of a document's text, and the most word pieces read of it.

    Returns:
        Counts: queries of the data set, queries without candidates, pairs scored.

    Raises:
        ConfigError: `options.max_length` exceeds the model's positions.
        InputError: the candidates hold a query or a document that the data set or the corpus lacks, or the directory
            holds no such model.
        TrainingError: a score is not a number.
    """
    texts = read_queries(queries)
    chosen = top(read_run(candidates), options.depth)
    unknown = sorted(chosen.keys() - texts.keys())
    if unknown:
        raise InputError(candidates, f"query {unknown[0]!r} is not in the data set ({queries})")
    reranked = score_candidates(model, tokens, documents, text, texts, chosen, options)
    return {
        "queries": len(texts),
        "queries_without_candidates": len(texts.keys() - chosen.keys()),
        "pairs": write_run(output, reranked, TAG),
    }


def score_candidates(
    model: str | Path,
    tokens: Sequence[str | Path],
    documents: Sequence[str | Path],
    text: TextConfig | None,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> Run:
    """Return `candidates` re-ranked by a saved cross-encoder, ours or another; see `rerank` for arguments and errors.

    `texts` holds the text of every query of `candidates`, all of whose documents are scored.
    """
    if text is None:
        return _with_our_tokenizer(model, tokens, texts, candidates, options)
    return _with_its_tokenizer(model, documents, text, texts, candidates, options)


def _with_our_tokenizer(
    model: str | Path,
    tokens: Sequence[str | Path],
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> Run:
    from irpretrain.models.cross_encoder import CrossEncoder

    network = CrossEncoder.load(model)
    network.check_length(options.max_length, "reranking.max_length")
    return rerank_run(network, load_tokenizer(model), TokenStore.open(tokens), texts, candidates, options)


def _with_its_tokenizer(
    model: str | Path,
    documents: Sequence[str | Path],
    text: TextConfig,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> Run:
    from irpretrain.models.reranker import load_reranker
    from irpretrain.retrieval.foreign_pieces import tokenise

    network = load_reranker(model)
    network.check_length(options.max_length, "reranking.max_length")
    pieces = tokenise(network.tokenizer, documents, text, texts, candidates, options)
    names = [(query, document) for query, ranking in candidates.items() for document, _ in ranking]
    pairs = [Pair(query, document, 0) for query, document in names]
    lengths = [pieces.length(pair.query, pair.document) for pair in pairs]

    def build(rows: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        return pieces.sequences([(pairs[i].query, pairs[i].document) for i in rows])

    return _as_run(
        candidates, pairs, score_sequences(network, network, pairs, lengths, build, options, "re-rank")
    )


def read_queries(path: str | Path) -> dict[str, str]:
    """Return query → text from a QUERIES table, in its order."""
    table = QUERIES.read(path)
    return dict(zip(table["query_id"].to_pylist(), table["text"].to_pylist(), strict=True))


def rerank_run(
    model: CrossEncoder,
    tokenizer: WordPieceTokenizer,
    store: TokenStore,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    title: str = "re-rank",
) -> Run:
    """Return `candidates` re-ranked by the model's scores, in canonical order.

    Args:
        model: the cross-encoder; see `score_pairs`.
        tokenizer: the store's own.
        store: word pieces of the documents.
        texts: query → text; holds all queries of `candidates`.
        candidates: documents to score, all of them: `options.depth` is not applied here.
        options: lengths, batches, threads and device.
        title: what the progress bar says.

    Returns:
        The new run. A score is the decimal with the fewest digits that names its single-precision value.

    Raises:
        InputError: the token store lacks a document.
        TrainingError: a score is not a number.
    """
    names = [(query, document) for query, ranking in candidates.items() for document, _ in ranking]
    rows = store.rows([document for _, document in names])
    pairs = [Pair(query, document, int(row)) for (query, document), row in zip(names, rows, strict=True)]
    builder = BatchBuilder(store, tokenizer, options.max_length, options.query_length)
    return _as_run(candidates, pairs, score_pairs(model, builder, texts, pairs, options, title))


def _as_run(candidates: Run, pairs: Sequence[Pair], scores: NDArray[np.float32]) -> Run:
    scored: dict[str, list[tuple[str, float]]] = {query: [] for query in candidates}
    for pair, score in zip(pairs, scores, strict=True):
        scored[pair.query].append((pair.document, float(str(score))))
    return canonical(scored)


def score_pairs(
    model: CrossEncoder,
    builder: BatchBuilder,
    texts: Mapping[str, str],
    pairs: Sequence[Pair],
    options: RerankingConfig,
    title: str = "re-rank",
) -> NDArray[np.float32]:
    """Return the model's score of each pair.

    Args:
        model: the cross-encoder; afterwards it is on the device and in the mode (training or not) it was in before.
        builder: makes the sequences, with the lengths of `options`.
        texts: query → text.
        pairs: what to score, in any order.
        options: lengths, batches, threads, precision and device.
        title: what the progress bar says.

    Returns:
        float32 [pairs], in the order of `pairs`.

    Raises:
        TrainingError: a score is not a number.
    """

    def build(rows: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        batch = builder.build([Group((texts[pairs[i].query],), (Span(pairs[i].row),)) for i in rows])
        return batch.input_ids, batch.token_type_ids, batch.attention_mask

    lengths = sequence_lengths(builder, texts, pairs, options)
    return score_sequences(model, lambda *inputs: model(*inputs)[0], pairs, lengths, build, options, title)


def score_sequences(
    model: CrossEncoder | Reranker,
    score: Callable[..., Tensor],
    pairs: Sequence[Pair],
    lengths: Sequence[int],
    build: Callable[[Sequence[int]], Sequence[NDArray[np.int64]]],
    options: RerankingConfig,
    title: str,
) -> NDArray[np.float32]:
    """Return the score of each pair, float32 [pairs]: what all re-rankers share.

    Args:
        model: put on the device and out of training mode meanwhile.
        score: from the tensors of a batch to scores [sequences].
        pairs: what to score, in any order.
        lengths: of the sequence of each.
        build: from indices of `pairs` to the arrays of their batch, each [sequences, positions].
        options: batches, threads, precision and device.
        title: what the progress bar says.

    Raises:
        TrainingError: a score is not a number.
    """
    import torch

    from irpretrain.training.compute import autocast, reproducible

    scores = np.zeros(len(pairs), np.float32)
    batches = list(batch_by_length(pairs, lengths, options.batch_tokens))
    training, place = model.training, model.device
    with reproducible(options.compute) as device:
        model.to(device).eval()  # not in inference mode, in which moved weights could never be trained again
        try:
            with torch.inference_mode(), autocast(device, options.compute):
                for rows in progress(batches, title, "batches"):
                    found = score(*(torch.from_numpy(array).to(device) for array in build(rows)))
                    scores[rows] = found.float().cpu().numpy()
        finally:
            model.to(place).train(training)
    for index in np.flatnonzero(~np.isfinite(scores))[:1]:
        pair = pairs[index]
        raise TrainingError(
            f"the score of document {pair.document!r} for query {pair.query!r} is {scores[index]}"
        )
    return scores


def sequence_lengths(
    builder: BatchBuilder, texts: Mapping[str, str], pairs: Sequence[Pair], options: RerankingConfig
) -> list[int]:
    """Return the length of each pair's sequence: special tokens, and query and document after they are cut."""
    queries = list(dict.fromkeys(pair.query for pair in pairs))
    encoded = builder.tokenizer.encode([texts[query] for query in queries]) if queries else []
    pieces = {q: min(len(e), options.query_length) for q, e in zip(queries, encoded, strict=True)}
    whole = (SPECIAL_POSITIONS + pieces[pair.query] + int(builder.store.lengths[pair.row]) for pair in pairs)
    return [min(length, options.max_length) for length in whole]


def batch_by_length(pairs: Sequence[Pair], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of indices of `pairs`, longest first, of at most `budget` word pieces with padding.

    Equal lengths are ordered by query and document, so that batches depend on the set of pairs alone. The
    longest come first, so that a device with too little memory fails at the start. One sequence longer than
    the budget is a batch of its own.
    """
    batch: list[int] = []
    for index in sorted(range(len(pairs)), key=lambda i: (-lengths[i], pairs[i].query, pairs[i].document)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
