"""Re-ranking of first-stage candidates by a cross-encoder, ours or another; documents whole, or in passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.base import deciding
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import Run, read_run, top, write_run
from irpretrain.provenance import sha256
from irpretrain.retrieval.pair_scoring import Pair, as_run, pair_names, score_sequences
from irpretrain.retrieval.partial_scores import PartialScores, partial_scores
from irpretrain.text.keyed_texts import read_queries
from irpretrain.text.passages import combine_scores, piece_bounds
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import BatchBuilder, RankingGroup, StoreSpan

if TYPE_CHECKING:
    from irpretrain.models.cross_encoder import CrossEncoder
    from irpretrain.models.reranker import Reranker

TAG = "irpretrain"
"""Last column of re-ranked runs; which model it was is in the file's path and sidecar."""


@dataclass(frozen=True)
class CorpusTexts:
    """Where the texts of a corpus are.

    A cross-encoder of ours reads word pieces from token stores. One that was not made here has a tokenizer of its own:
    it reads DOCUMENTS tables, and `text` says which fields make a document's text, and the most word pieces read of it.
    """

    tokens: Sequence[str | Path] = ()
    documents: Sequence[str | Path] = ()
    text: TextConfig | None = None


def rerank(
    model: str | Path,
    corpus: CorpusTexts,
    queries: str | Path,
    candidates: str | Path,
    options: RerankingConfig,
    output: str | Path,
    checkpoints: str | Path | None = None,
) -> dict[str, Any]:
    """Score the candidates of every query with a saved cross-encoder and write the new run.

    Args:
        model: directory of the cross-encoder and its tokenizer.
        queries: QUERIES table.
        candidates: TREC run of the first stage.
        options: depth, lengths, batches, threads and device. Candidates below `depth` are left out.
        output: TREC run, gzip, with single-precision scores.
        checkpoints: folder of all jobs' unfinished work, from which a job that was broken off goes on; None keeps none.

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
    job = partial(score_candidates, model, corpus, texts, chosen, options)
    if checkpoints is None:
        pairs = write_run(output, job(), TAG)
    else:
        depends = _depends(model, corpus, queries, candidates, options)
        minutes = options.compute.checkpoint_minutes
        with partial_scores(depends | {"output": str(output)}, checkpoints, "re-rank", minutes) as kept:
            pairs = write_run(output, job(kept), TAG)
    return {
        "queries": len(texts),
        "queries_without_candidates": len(texts.keys() - chosen.keys()),
        "pairs": pairs,
    }


def _depends(
    model: str | Path,
    corpus: CorpusTexts,
    queries: str | Path,
    candidates: str | Path,
    options: RerankingConfig,
) -> dict[str, Any]:
    """Return everything that the scores depend on."""
    from irpretrain.training.compute import choose_device, versions  # torch

    return {
        "stage": "rerank",
        "model": sha256(model),
        "tokens": TokenStore.open(corpus.tokens).fingerprint if corpus.text is None else None,
        "documents": [] if corpus.text is None else [sha256(path) for path in corpus.documents],
        "text": None if corpus.text is None else corpus.text.model_dump(),
        "queries": sha256(queries),
        "candidates": sha256(candidates),
        "options": deciding(options),
        "device": choose_device(options.compute).type,
        "versions": versions(),
    }


def score_candidates(
    model: str | Path,
    corpus: CorpusTexts,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> Run:
    """Return `candidates` re-ranked by a saved cross-encoder, ours or another; see `rerank` for arguments and errors.

    `texts` holds the text of every query of `candidates`, all of whose documents are scored; `kept` is where scores
    are kept meanwhile.
    """
    if corpus.text is not None:
        from irpretrain.models.reranker import load_reranker  # torch

        reranker = load_reranker(model)
        reranker.check_length(options.max_length, "reranking.max_length")
        return score_with_its_tokenizer(
            reranker, corpus.documents, corpus.text, texts, candidates, options, kept
        )
    from irpretrain.models.cross_encoder import CrossEncoder  # torch

    network = CrossEncoder.load(model)
    network.check_length(options.max_length, "reranking.max_length")
    store = TokenStore.open(corpus.tokens)
    return rerank_run(network, load_tokenizer(model), store, texts, candidates, options, kept=kept)


def score_with_its_tokenizer(
    network: Reranker,
    documents: Sequence[str | Path],
    text: TextConfig,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> Run:
    """Return `candidates` re-ranked by a loaded re-ranker that reads DOCUMENTS tables; see `score_candidates`."""
    from irpretrain.retrieval.foreign_pieces import tokenise  # torch

    pieces = tokenise(network.tokenizer, documents, text, texts, candidates, options)
    pairs = [Pair(query, document, 0) for query, document in pair_names(candidates)]
    passages = np.array([len(pieces.documents[pair.document]) for pair in pairs], np.int64)
    parts = [(pair, passage) for pair in pairs for passage in range(len(pieces.documents[pair.document]))]
    lengths = [pieces.length(pair.query, pair.document, passage) for pair, passage in parts]

    def build(rows: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        return pieces.sequences([(parts[i][0].query, parts[i][0].document, parts[i][1]) for i in rows])

    flat = [pair for pair, _ in parts]
    scores = score_sequences(network, network, flat, lengths, build, options, kept)
    return as_run(candidates, pairs, _of_documents(scores, passages, options))


def rerank_run(
    model: CrossEncoder,
    tokenizer: WordPieceTokenizer,
    store: TokenStore,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> Run:
    """Return `candidates` re-ranked by the model's scores, in canonical order.

    Args:
        tokenizer: the store's own.
        texts: query → text; holds all queries of `candidates`.
        candidates: documents to score, all of them: `options.depth` is not applied here.
        kept: where scores are kept meanwhile, and may lie from before.

    Returns:
        The new run. A score is the decimal with the fewest digits that names its single-precision value.

    Raises:
        InputError: the token store lacks a document.
        TrainingError: a score is not a number.
    """
    names = pair_names(candidates)
    rows = store.rows([document for _, document in names])
    pairs = [Pair(query, document, int(row)) for (query, document), row in zip(names, rows, strict=True)]
    builder = BatchBuilder(store, tokenizer, options.max_length, options.query_length)
    return as_run(candidates, pairs, score_pairs(model, builder, texts, pairs, options, kept))


def score_pairs(
    model: CrossEncoder,
    builder: BatchBuilder,
    texts: Mapping[str, str],
    pairs: Sequence[Pair],
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> NDArray[np.float32]:
    """Return the model's score of each pair.

    Args:
        model: the cross-encoder; afterwards it is on the device and in the mode (training or not) it was in before.
        builder: makes the sequences, with the lengths of `options`.
        kept: where scores are kept meanwhile, and may lie from before.

    Returns:
        float32 [pairs], in the order of `pairs`.

    Raises:
        TrainingError: a score is not a number.
    """

    spans = [document_spans(builder.store, pair.row, options) for pair in pairs]
    parts = [(pair, span) for pair, some in zip(pairs, spans, strict=True) for span in some]

    def build(rows: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        batch = builder.build([RankingGroup((texts[parts[i][0].query],), (parts[i][1],)) for i in rows])
        return batch.input_ids, batch.token_type_ids, batch.attention_mask

    flat = [pair for pair, _ in parts]
    lengths = sequence_lengths(builder, texts, parts, options)
    scores = score_sequences(model, lambda *inputs: model(*inputs)[0], flat, lengths, build, options, kept)
    return _of_documents(scores, np.array([len(some) for some in spans], np.int64), options)


def document_spans(store: TokenStore, row: int, options: RerankingConfig) -> list[StoreSpan]:
    """Return what is scored of a document: the whole, or its passages."""
    if options.passages is None:
        return [StoreSpan(row)]
    bounds = piece_bounds(store.word_starts(row), options.passages, options.passages.most)
    return [StoreSpan(row, start, end) for start, end in bounds]


def _of_documents(
    scores: NDArray[np.float32], passages: NDArray[np.int64], options: RerankingConfig
) -> NDArray[np.float32]:
    """Return the scores of documents from those of their passages, if they were cut into any."""
    if options.passages is None:
        return scores
    return combine_scores(scores, passages, options.passages)


def sequence_lengths(
    builder: BatchBuilder,
    texts: Mapping[str, str],
    parts: Sequence[tuple[Pair, StoreSpan]],
    options: RerankingConfig,
) -> list[int]:
    """Return the length of each sequence: special tokens, and query and document after they are cut."""
    queries = list(dict.fromkeys(pair.query for pair, _ in parts))
    encoded = builder.tokenizer.encode([texts[query] for query in queries]) if queries else []
    pieces = {q: min(len(e), options.query_length) for q, e in zip(queries, encoded, strict=True)}
    ends = (int(builder.store.lengths[span.row]) if span.end < 0 else span.end for _, span in parts)
    whole = (
        builder.tokenizer.template.special + pieces[pair.query] + end - span.start
        for (pair, span), end in zip(parts, ends, strict=True)
    )
    return [min(length, options.max_length) for length in whole]
