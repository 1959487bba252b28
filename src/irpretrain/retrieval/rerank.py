"""Re-ranking of first-stage candidates by a cross-encoder; an interrupted job resumes from its scores.

Pairs have one order whatever the batches, which depend on the machine, so a count says which are scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from irpretrain.config.base import deciding
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Run, read_run, top, write_run
from irpretrain.foundation.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sha256
from irpretrain.retrieval.pair_scoring import Pair, SavedScores, are_finite, as_run, pairs_of, score_sequences
from irpretrain.text.pair_tokenizer import PairTokenizer
from irpretrain.text.passages import piece_bounds, text_passages
from irpretrain.text.texts import read_queries, stream_chosen
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.ranking_groups import RankingGroups, make_spans, text_rows

if TYPE_CHECKING:
    from torch import Tensor

    from irpretrain.models.cross_encoder import CrossEncoderModel
    from irpretrain.models.encoder_batches import EncoderBatch, Layout
    from irpretrain.models.reranker import Reranker


# Last column of re-ranked runs; which model it was is in the file's path and sidecar.
TAG = "irpretrain"


@dataclass(frozen=True)
class CorpusTexts:
    """Where texts are: token stores, or, for an external re-ranker, DOCUMENTS tables and text options."""

    tokens: Sequence[str | Path] = ()
    documents: Sequence[str | Path] = ()
    text: TextConfig | None = None

    @cached_property
    def store(self) -> TokenStore:
        """The token stores as one."""
        return TokenStore.open(self.tokens)


def rerank(
    model: str | Path,  # directory of the cross-encoder and its tokenizer
    corpus: CorpusTexts,
    queries: str | Path,  # QUERIES table
    candidates: str | Path,  # TREC run of the first stage
    # Depth, lengths, batches, threads and device. Candidates below `depth` are left out.
    options: RerankingConfig,
    output: str | Path,  # TREC run, gzip, with single-precision scores
    # Folder of all jobs' unfinished work, from which an interrupted job resumes; None stores none.
    checkpoints: str | Path | None = None,
) -> dict[str, Any]:
    """Score the candidates of every query with a saved cross-encoder and write the new run.

    Returns:
        Counts: queries of the data set, queries without candidates, pairs scored.

    Raises:
        ConfigError: `options.max_length` exceeds the model's positions.
        InputError: a candidate's query or document is missing in the data set or the corpus, or the model is missing.
        TrainingError: a score is NaN.
    """
    query_texts = read_queries(queries)
    candidate_lists = top(read_run(candidates), options.depth)
    unknown_queries = sorted(candidate_lists.keys() - query_texts.keys())
    if unknown_queries:
        raise InputError(candidates, f"query {unknown_queries[0]!r} is not in the data set ({queries})")
    score_all = partial(score_candidates, model, corpus, query_texts, candidate_lists, options)
    if checkpoints is None:
        pairs = write_run(output, score_all(), TAG)
    else:
        job_key = _job_key(model, corpus, queries, candidates, options)
        from irpretrain.training.checkpoints import Checkpoints  # torch

        minutes = options.compute.checkpoint_minutes
        with Checkpoints(checkpoints, job_key | {"output": str(output)}, "re-rank", minutes) as folder:
            earlier = folder.load(are_finite)
            saved_scores = SavedScores(earlier, folder.clock, lambda state: folder.save(state["done"], state))
            pairs = write_run(output, score_all(saved_scores), TAG)
            folder.discard()
    return {
        "queries": len(query_texts),
        "queries_without_candidates": len(query_texts.keys() - candidate_lists.keys()),
        "pairs": pairs,
    }


def _job_key(
    model: str | Path,
    corpus: CorpusTexts,
    queries: str | Path,
    candidates: str | Path,
    options: RerankingConfig,
) -> dict[str, Any]:
    from irpretrain.training.compute import choose_device, versions  # torch

    return {
        "stage": "rerank",
        "model": sha256(model),
        "tokens": corpus.store.fingerprint if corpus.text is None else None,
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
    query_texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    saved_scores: SavedScores | None = None,
) -> Run:
    """Return all of `candidates` re-ranked by a saved cross-encoder; errors as of `rerank`."""
    from irpretrain.training.compute import reproducible  # torch

    # Models are checked as they are loaded: on the job's threads, or torch would take all cores.
    if corpus.text is not None:
        from irpretrain.models.reranker import load_reranker  # torch

        with reproducible(options.compute):
            reranker = load_reranker(model)
        reranker.check_length(options.max_length, "reranking.max_length")
        ranked_documents = {document for ranking in candidates.values() for document, _ in ranking}
        batches = stream_chosen(corpus.documents, ranked_documents, corpus.text)
        return score_with_its_tokenizer(
            reranker, batches, corpus.text, query_texts, candidates, options, saved_scores
        )
    from irpretrain.models.cross_encoder import CrossEncoderModel  # torch

    with reproducible(options.compute):
        cross_encoder = CrossEncoderModel.load(model)
    cross_encoder.check_length(options.max_length, "reranking.max_length")
    tokenizer = load_tokenizer(model)
    return rerank_run(cross_encoder, tokenizer, corpus.store, query_texts, candidates, options, saved_scores)


def score_with_its_tokenizer(
    reranker: Reranker,
    batches: Iterable[tuple[list[str], list[str]]],  # identifiers and texts of the candidates, in batches
    text: TextConfig,
    query_texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    saved_scores: SavedScores | None = None,
) -> Run:
    """Return `candidates` re-ranked by a loaded re-ranker that reads texts; see `score_candidates`."""
    tokenizer = reranker.tokenizer
    queries, documents_pieces = _own_pieces(tokenizer, batches, text, query_texts, candidates, options)
    pairs, cut_pairs = list[Pair](), list[tuple[np.ndarray, np.ndarray]]()
    for query, document in pairs_of(candidates):
        for pieces in documents_pieces[document]:
            pairs.append((query, document))
            cut_pairs.append(tokenizer.cut(queries[query], pieces, options.max_length, options.query_length))
    lengths = [tokenizer.template.special_count + len(query) + len(document) for query, document in cut_pairs]

    from irpretrain.models.encoder_batches import PaddedBatch, encoder_batch  # torch

    def build(rows: Sequence[int], layout: Layout) -> EncoderBatch:
        padded = PaddedBatch(*tokenizer.join([cut_pairs[index] for index in rows]))
        return encoder_batch(layout, padded, options.max_length)

    scores = score_sequences(reranker, reranker.score, pairs, lengths, build, options, saved_scores)
    return as_run(candidates, pairs, scores)


def _own_pieces(
    tokenizer: PairTokenizer,
    batches: Iterable[tuple[list[str], list[str]]],
    text: TextConfig,
    query_texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> tuple[dict[str, np.ndarray], dict[str, list[np.ndarray]]]:
    """Return the word pieces of a run's queries, and of each of its documents' passages, up to a sequence's room.

    The token store has the configured encoder's pieces, so texts are tokenised again, once each.
    """
    run_queries = [query_texts[query] for query in candidates]
    encoded_queries = tokenizer.encode(run_queries, options.query_length) if run_queries else []
    longest = min(options.max_length, text.max_word_pieces or options.max_length)
    pieces: dict[str, list[np.ndarray]] = {}
    for identifiers, documents in batches:
        passages_of_texts = [
            text_passages(body, options.passages, text.language) if options.passages else [body]
            for body in documents
        ]
        encoded = iter(tokenizer.encode(list(chain.from_iterable(passages_of_texts)), longest))
        for identifier, passages in zip(identifiers, passages_of_texts, strict=True):
            pieces[identifier] = list(islice(encoded, len(passages)))
    return dict(zip(candidates, encoded_queries, strict=True)), pieces


def rerank_run(
    # The cross-encoder; afterwards it is on the device and in the mode (training or not) it was in before.
    model: CrossEncoderModel,
    tokenizer: WordPieceTokenizer,  # the store's own
    store: TokenStore,
    query_texts: Mapping[str, str],  # query → text; holds all queries of `candidates`
    candidates: Run,  # documents to score, all of them: `options.depth` is not applied here
    options: RerankingConfig,
    saved_scores: SavedScores | None = None,  # storage of scores, perhaps with those of an earlier run
) -> Run:
    """Return `candidates` re-ranked by the model's scores, in canonical order; see `as_run`.

    Raises:
        InputError: the token store lacks a document.
        TrainingError: a score is NaN.
    """
    query_documents = pairs_of(candidates)
    rows = store.rows([document for _, document in query_documents])
    builder = BatchBuilder(store, tokenizer, options.max_length, options.query_length)
    # First piece and end of each passage; end -1: to the document's end.
    passages = [
        piece_bounds(store.word_starts(row), options.passages) if options.passages else [(0, -1)]
        for row in rows.tolist()
    ]
    counts = np.array([len(bounds) for bounds in passages], np.int64)
    query_indices = {query: index for index, query in enumerate(candidates)}
    query_rows = np.repeat(np.array([query_indices[query] for query, _ in query_documents], np.int64), counts)
    bounds = np.array(list(chain.from_iterable(passages)), np.int64).reshape(-1, 2)
    sequences = RankingGroups.of_queries(
        make_spans(text_rows(query_rows)),
        make_spans(np.repeat(rows, counts), *bounds.T),
        np.ones(len(query_rows), np.int64),
        [query_texts[query] for query in candidates],
    )

    def build(indices: Sequence[int], layout: Layout) -> EncoderBatch:
        batch = builder.build(sequences.take(np.array(indices)))
        return builder.for_encoder(batch.padded(), layout)

    pairs = [pair for pair, bounds in zip(query_documents, passages, strict=True) for _ in bounds]
    lengths = builder.lengths(sequences).tolist()

    def score(batch: EncoderBatch) -> Tensor:
        return model.encode(batch)[0]

    return as_run(
        candidates, pairs, score_sequences(model, score, pairs, lengths, build, options, saved_scores)
    )


def score_diagnosis_pairs(
    model: str | Path,  # directory of a cross-encoder and its tokenizer
    corpus: CorpusTexts,  # texts of the collection
    pairs: str | Path,  # AXIOM_PAIRS table
    options: RerankingConfig,  # lengths, batches, threads and device; `depth` is not applied
    output: str | Path,  # a PAIR_SCORES table
) -> dict[str, Any]:
    """Score both pseudo-queries of each pair for its document.

    Returns:
        Counts: pairs, and sequences scored; a query of several pairs of a document is scored once.

    Raises:
        ConfigError: `options.max_length` exceeds the model's positions.
        InputError: a document is missing, or there is no such model.
        IntegrityError: the token stores have another tokenizer than the model.
        TrainingError: a score is NaN.
    """
    table = AXIOM_PAIRS.read(pairs)
    identifiers = table["document_id"].to_pylist()
    sides = [list(zip(table[side].to_pylist(), identifiers, strict=True)) for side in ("first", "second")]
    candidates: dict[str, list[tuple[str, float]]] = {}
    for query, document in dict.fromkeys([*sides[0], *sides[1]]):
        candidates.setdefault(query, []).append((document, 0.0))
    query_texts = {query: query for query in candidates}
    scored_run = score_candidates(model, corpus, query_texts, candidates, options)
    scores = {
        (query, document): score for query, ranking in scored_run.items() for document, score in ranking
    }
    first, second = (np.array([scores[sequence] for sequence in side], np.float32) for side in sides)
    columns = {"pair": np.arange(table.num_rows, dtype=np.int32), "first": first, "second": second}
    PAIR_SCORES.write(output, pa.table(columns, schema=PAIR_SCORES.schema))
    return {"pairs": table.num_rows, "sequences": len(scores)}
