"""Re-ranking of first-stage candidates by a cross-encoder.

Pairs are scored longest first, in batches under a budget of word pieces, padding included. Which pairs share
a batch depends on the pairs alone (length, query, document), so the order of the candidates changes no bit of
a score. Other pairs in the batch change a score by float rounding at most: attention never reaches padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.contracts import QUERIES
from irpretrain.errors import InputError, TrainingError
from irpretrain.evaluation.runs import Run, canonical, read_run, top, write_run
from irpretrain.progress import progress

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.text.word_pieces import TokenStore

SPECIAL_TOKENS = 3
"""[CLS] query [SEP] document [SEP]."""


class Pair(NamedTuple):
    """What is scored: a query, a document, and the document's row in the token store."""

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
) -> dict[str, Any]:
    """Score the candidates of every query with a saved cross-encoder and write the new run.

    Args:
        model: directory of the cross-encoder and its tokenizer.
        tokens: directories of the corpus's token store.
        queries: QUERIES table.
        candidates: TREC run of the first stage.
        options: depth, lengths, batches, threads and device. Candidates below `depth` are left out.
        output: TREC run, gzip, with single-precision scores.

    Returns:
        Counts: queries of the data set, queries without candidates, pairs scored.

    Raises:
        InputError: the candidates hold a query or a document that the data set or the token store lacks.
    """
    from transformers import AutoTokenizer

    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.text.word_pieces import TokenStore

    texts = read_queries(queries)
    chosen = top(read_run(candidates), options.depth)
    unknown = sorted(chosen.keys() - texts.keys())
    if unknown:
        raise InputError(candidates, f"query {unknown[0]!r} is not in the data set ({queries})")
    store = TokenStore.open([Path(directory) for directory in tokens])
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    try:
        reranked = rerank_run(CrossEncoder.load(model), tokenizer, store, texts, chosen, options)
    except KeyError as error:
        raise InputError(candidates, f"document {error.args[0]!r} is not in the token store") from None
    pairs = write_run(output, reranked, "irpretrain")
    return {
        "queries": len(texts),
        "queries_without_candidates": len(texts.keys() - chosen.keys()),
        "pairs": pairs,
    }


def read_queries(path: str | Path) -> dict[str, str]:
    """Return query → text from a QUERIES table, in its order."""
    table = QUERIES.read(path)
    return dict(zip(table["query_id"].to_pylist(), table["text"].to_pylist(), strict=True))


def rerank_run(
    model: CrossEncoder,
    tokenizer: PreTrainedTokenizerBase,
    store: TokenStore,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> Run:
    """Return `candidates` re-ranked by the model's scores, in canonical order.

    Args:
        model: the cross-encoder.
        tokenizer: its tokenizer, for the queries and the special tokens.
        store: word pieces of the documents.
        texts: query → text; holds all queries of `candidates`.
        candidates: documents to score, all of them: `options.depth` is not applied here.
        options: lengths, batches, threads and device.

    Returns:
        The new run. A score is the decimal with the fewest digits that names its single-precision value.
    """
    names = [(query, document) for query, ranking in candidates.items() for document, _ in ranking]
    rows = store.rows([document for _, document in names])
    pairs = [Pair(query, document, int(row)) for (query, document), row in zip(names, rows, strict=True)]
    pieces = tokenize_queries(tokenizer, {query: texts[query] for query in candidates}, options.query_length)
    scores = score_pairs(model, tokenizer, store, pieces, pairs, options)
    scored: dict[str, list[tuple[str, float]]] = {query: [] for query in candidates}
    for pair, score in zip(pairs, scores, strict=True):
        scored[pair.query].append((pair.document, float(str(score))))
    return canonical(scored)


def tokenize_queries(
    tokenizer: PreTrainedTokenizerBase, texts: Mapping[str, str], length: int
) -> dict[str, list[int]]:
    """Return the first `length` word pieces of each query, without special tokens."""
    if not texts:
        return {}
    encoded = tokenizer(list(texts.values()), add_special_tokens=False, verbose=False)["input_ids"]
    return {query: list(pieces[:length]) for query, pieces in zip(texts, encoded, strict=True)}


def score_pairs(
    model: CrossEncoder,
    tokenizer: PreTrainedTokenizerBase,
    store: TokenStore,
    queries: Mapping[str, Sequence[int]],
    pairs: Sequence[Pair],
    options: RerankingConfig,
) -> NDArray[np.float32]:
    """Return the model's score of each pair.

    Args:
        model: the cross-encoder; it is moved to the device, scored in evaluation mode, and left in the mode
            it was in.
        tokenizer: gives the special tokens.
        store: word pieces of the documents; only the document is cut to `options.max_length`.
        queries: word pieces of each query.
        pairs: what to score, in any order.
        options: lengths, batches, threads, precision and device.

    Returns:
        float32 [pairs], in the order of `pairs`.

    Raises:
        TrainingError: a score is not a number.
    """
    import torch

    lengths = [_length(len(queries[pair.query]), int(store.lengths[pair.row]), options) for pair in pairs]
    scores = np.zeros(len(pairs), np.float32)
    with _evaluation(model, options) as device:
        batches = list(batch_by_length(pairs, lengths, options.batch_tokens))
        for batch in progress(batches, "re-rank", "batches"):
            inputs = _inputs(tokenizer, store, queries, [pairs[i] for i in batch], lengths[batch[0]], options)
            with torch.autocast(device.type, *_precision(options)):
                found, _ = model(**{name: tensor.to(device) for name, tensor in inputs.items()})
            scores[batch] = found.float().cpu().numpy()
    if not np.isfinite(scores).all():
        fault = pairs[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise TrainingError(
            f"the score of document {fault.document!r} for query {fault.query!r} is not a number"
        )
    return scores


def _length(query: int, document: int, options: RerankingConfig) -> int:
    """Word pieces of one sequence, special tokens included, after the document is cut."""
    room = max(options.max_length - SPECIAL_TOKENS - query, 0)
    return SPECIAL_TOKENS + query + min(document, room)


def batch_by_length(pairs: Sequence[Pair], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of indices of `pairs`, longest first, of at most `budget` word pieces with padding.

    Equal lengths are ordered by query and document, so that batches depend on the set of pairs alone. The
    longest comes first, so that a device with too little memory fails at the start. One sequence longer than
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


def _inputs(
    tokenizer: PreTrainedTokenizerBase,
    store: TokenStore,
    queries: Mapping[str, Sequence[int]],
    pairs: Sequence[Pair],
    longest: int,
    options: RerankingConfig,
) -> dict[str, torch.Tensor]:
    """[CLS] query [SEP] document [SEP], padded at the end: int64 tensors [pairs, longest]."""
    import torch

    shape = (len(pairs), longest)
    ids = np.full(shape, tokenizer.pad_token_id, np.int64)
    types, attention = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, pair in enumerate(pairs):
        query = [tokenizer.cls_token_id, *queries[pair.query], tokenizer.sep_token_id]
        document = store.tokens(pair.row)
        length = _length(len(query) - 2, len(document), options)
        ids[row, : len(query)] = query
        ids[row, len(query) : length - 1] = document[: length - 1 - len(query)]
        ids[row, length - 1] = tokenizer.sep_token_id
        types[row, len(query) : length] = 1
        attention[row, :length] = 1
    names = ("input_ids", "token_type_ids", "attention_mask")
    return {name: torch.from_numpy(a) for name, a in zip(names, (ids, types, attention), strict=True)}


@contextmanager
def _evaluation(model: CrossEncoder, options: RerankingConfig) -> Iterator[torch.device]:
    """Evaluation mode, no gradients, the configured threads and device; the model's mode comes back after."""
    import torch

    wanted = options.compute.device
    cuda = wanted == "cuda" or (wanted == "auto" and torch.cuda.is_available())
    device = torch.device("cuda" if cuda else "cpu")
    threads, training = torch.get_num_threads(), model.training
    torch.set_num_threads(options.compute.threads)
    model.to(device).eval()
    try:
        with torch.inference_mode():
            yield device
    finally:
        model.train(training)
        torch.set_num_threads(threads)


def _precision(options: RerankingConfig) -> tuple[torch.dtype | None, bool]:
    """Type of matrix products, and whether that differs from single precision."""
    import torch

    narrow = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.compute.precision)
    return narrow, narrow is not None
