"""From groups to padded batches, in NumPy: word pieces of a token store, or words of word stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.text.pair_layout import lay_out
from irpretrain.text.token_store import TokenStore
from irpretrain.text.vocabulary import Vocabulary
from irpretrain.text.word_pieces import ChunkCache, WordPieceTokenizer
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.ranking_groups import RankingGroups, text_rows

if TYPE_CHECKING:
    from irpretrain.models.encoder_batches import EncoderBatch, Layout, PaddedBatch
    from irpretrain.training.masking import MaskedBatch


@dataclass
class Batch:
    """Sequences of some groups, padded to the longest, group after group."""

    input_ids: np.ndarray  # int64 [sequences, positions]
    token_type_ids: np.ndarray  # int64 [sequences, positions]; of BERT 1 for the document and its [SEP]
    attention_mask: np.ndarray  # int64 [sequences, positions]; 0 for padding
    query_mask: np.ndarray  # bool [sequences, positions]; the query's word pieces, without special tokens
    document_mask: np.ndarray  # bool [sequences, positions]; the document's
    # bool [sequences, positions]; those of the query's that are the anchor to the document.
    anchor_mask: np.ndarray
    # bool [sequences, positions]; where a word of query or document begins, or the rest of one that is cut.
    word_starts: np.ndarray
    group_sizes: np.ndarray  # int64 [groups]; sequences of each group

    @property
    def tokens(self) -> int:
        """Word pieces and special tokens, without padding."""
        return int(self.attention_mask.sum())

    def padded(self, masked_batch: MaskedBatch | None = None) -> PaddedBatch:
        """Return what an encoder reads; `masked_batch` has replaced word pieces and their positions."""
        from irpretrain.models.encoder_batches import PaddedBatch  # torch

        input_ids = self.input_ids if masked_batch is None else masked_batch.input_ids
        is_selected = None if masked_batch is None else masked_batch.is_selected
        return PaddedBatch(input_ids, self.token_type_ids, self.attention_mask, is_selected)


# Characters of the words of literal queries whose word pieces are remembered: they take about 25 MB.
CACHED_CHARACTERS = 1 << 20


class BatchBuilder:
    """Turns groups into batches. The query is cut to `query_length`; beyond that only the document is cut.

    A builder serves one thread at a time. Most of its work holds no global lock, so that another thread can compute.

    Raises:
        ConfigError: no room is left for the document.
    """

    def __init__(
        self, store: TokenStore, tokenizer: WordPieceTokenizer, max_length: int, query_length: int
    ) -> None:
        if query_length + tokenizer.template.special_count >= max_length:
            raise ConfigError(
                f"query_length {query_length} leaves no room for a document in max_length {max_length}; "
                f"lower query_length or raise max_length"
            )
        store.check_tokenizer(tokenizer)
        self.store, self.tokenizer = store, tokenizer
        self._max_length, self._query_length = max_length, query_length
        self._cutter = ChunkCache(tokenizer, CACHED_CHARACTERS) if tokenizer.cuts_at_spaces else tokenizer

    def build(self, groups: RankingGroups) -> Batch:
        cut_texts = self._cut(groups)
        template = self.tokenizer.template
        (ids, types, attention), query_mask, document_mask = lay_out(
            template, cut_texts.query_lengths, cut_texts.document_lengths, self.tokenizer.pad_token_id
        )
        word_starts, anchor_mask = np.zeros(ids.shape, bool), np.zeros(ids.shape, bool)
        query_column = len(template.prefix.ids)
        text_columns = np.append(
            np.full(len(ids), query_column), query_column + cut_texts.query_lengths + len(template.middle.ids)
        )
        for source in cut_texts.sources:
            _copy_pieces(*source, cut_texts.piece_runs, text_columns, ids, word_starts)
        _mark_anchors(groups.anchors, groups.queries, cut_texts.query_lengths, query_column, anchor_mask)
        return Batch(ids, types, attention, query_mask, document_mask, anchor_mask, word_starts, groups.sizes)

    def for_encoder(self, padded: PaddedBatch, layout: Layout) -> EncoderBatch:
        """Return a batch of this builder in the layout of an encoder."""
        from irpretrain.models.encoder_batches import encoder_batch  # torch

        return encoder_batch(layout, padded, self._max_length)

    def lengths(self, groups: RankingGroups) -> np.ndarray:
        """Return the word pieces and special tokens of each sequence, int64 [sequences]."""
        cut_texts = self._cut(groups)
        return self.tokenizer.template.special_count + cut_texts.query_lengths + cut_texts.document_lengths

    def _cut(self, groups: RankingGroups) -> _CutTexts:
        spans = np.concatenate([groups.queries, groups.documents])
        rows, sequence_count = spans["row"], len(groups.queries)
        stored_rows, literal_rows = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        lengths = np.empty(len(rows), np.int64)
        lengths[stored_rows] = self.store.lengths[rows[stored_rows]]
        sources = [
            (stored_rows[indices], *source) for indices, *source in self.store.in_shards(rows[stored_rows])
        ]
        if len(literal_rows):
            # A text is tokenised once; `groups.texts` may have many more than these groups.
            distinct_texts, inverse = np.unique(text_rows(rows[literal_rows]), return_inverse=True)
            pieces, bounds = self._cutter.end_to_end([groups.texts[text] for text in distinct_texts.tolist()])
            lengths[literal_rows] = np.diff(bounds)[inverse]
            arrays = pieces.ids.astype(self.store.piece_type), pieces.word_starts
            for array in arrays:
                array.flags.writeable = False  # as those of the store, so that `_copy_pieces` meets one type
            sources.append((literal_rows, *arrays, bounds[inverse]))
        max_pieces = self._max_length - self.tokenizer.template.special_count
        piece_runs = np.empty((len(rows), 4), np.int64)
        _cut_spans(spans, lengths, self._query_length, max_pieces, piece_runs)
        piece_counts = piece_runs[:, 1] + piece_runs[:, 3]
        return _CutTexts(sources, piece_runs, piece_counts[:sequence_count], piece_counts[sequence_count:])


class _CutTexts(NamedTuple):
    """What is read of the queries and then the documents of sequences: texts 0 to 2 · sequences."""

    # For each array that some texts lie in: the first arguments of `_copy_pieces`.
    sources: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]
    # int64 [texts, 4]: start, from the text's beginning, and number of the pieces before its gap; of those after it.
    piece_runs: np.ndarray
    query_lengths: np.ndarray  # int64 [sequences]; word pieces of each query
    document_lengths: np.ndarray  # int64 [sequences]; of each document


@compiled
def _cut_spans(
    spans: np.ndarray, lengths: np.ndarray, query_length: int, max_pieces: int, piece_runs: np.ndarray
) -> None:
    """Write the runs of texts of these lengths; `max_pieces` is for query and document together."""
    sequence_count = len(spans) // 2
    for text in range(len(spans)):
        limit = query_length
        if text >= sequence_count:
            query_run = piece_runs[text - sequence_count]
            limit = max_pieces - query_run[1] - query_run[3]
        span, length = spans[text], lengths[text]
        start, end = _clamp(span.start, length), length if span.end < 0 else _clamp(span.end, length)
        gap_start = gap_end = end
        if span.gap_start != span.gap_end:
            gap_start, gap_end = _clamp(span.gap_start, length), _clamp(span.gap_end, length)
        before_gap = min(max(gap_start - start, 0), limit)
        piece_runs[text, 0], piece_runs[text, 1] = start, before_gap
        piece_runs[text, 2], piece_runs[text, 3] = gap_end, min(max(end - gap_end, 0), limit - before_gap)


@compiled
def _clamp(position: int, length: int) -> int:
    return min(max(position, 0), length)


@compiled
def _copy_pieces(
    text_indices: np.ndarray,
    tokens: np.ndarray,  # word pieces of these texts, and maybe of others
    source_word_starts: np.ndarray,  # of `tokens`
    source_starts: np.ndarray,  # where each text begins in `tokens`
    piece_runs: np.ndarray,
    text_columns: np.ndarray,  # where each text begins in its sequence
    ids: np.ndarray,
    word_starts: np.ndarray,
) -> None:
    for index, text in enumerate(text_indices):
        row, column = text % len(ids), text_columns[text]
        for run_column in range(0, 4, 2):
            first_piece = source_starts[index] + piece_runs[text, run_column]
            count = piece_runs[text, run_column + 1]
            for piece in range(count):
                ids[row, column + piece] = tokens[first_piece + piece]
                word_starts[row, column + piece] = source_word_starts[first_piece + piece]
            if count > 0:
                # A text that begins inside a word, or goes on inside one after its gap, does so with the word's rest.
                word_starts[row, column] = True
            column += count


@compiled
def _mark_anchors(
    anchor_spans: np.ndarray,
    query_spans: np.ndarray,
    query_lengths: np.ndarray,
    query_column: int,
    anchor_mask: np.ndarray,
) -> None:
    for row in range(len(anchor_spans)):
        query_start = query_spans[row].start  # an anchor counts from the beginning of the document
        start = query_column + _clamp(anchor_spans[row, 0] - query_start, query_lengths[row])
        end = query_column + _clamp(anchor_spans[row, 1] - query_start, query_lengths[row])
        anchor_mask[row, start:end] = True


@dataclass(frozen=True)
class WordBatch:
    """Pairs of some groups, padded with 0 to the longest, group after group."""

    query: np.ndarray  # int64 [pairs, query words]
    document: np.ndarray  # int64 [pairs, document words]
    group_sizes: np.ndarray  # int64 [groups]; pairs of each group

    @property
    def tokens(self) -> int:
        return int((self.query > 0).sum() + (self.document > 0).sum())


class WordBatchBuilder:
    """Turns groups of a literal query and whole documents into batches.

    Raises:
        IntegrityError: the documents' words are numbered by another collection.
    """

    def __init__(
        self, documents: WordDocuments, vocabulary: Vocabulary, query_words: int, document_words: int
    ) -> None:
        if documents.collection_words != vocabulary.collection_words:
            raise IntegrityError(
                documents.directory,
                f"these word stores are of a collection of {documents.collection_words:,} words, the ranker of one of "
                f"{vocabulary.collection_words:,}",
                remedy="Delete both and run the workflow again.",
            )
        self._documents, self._vocabulary = documents, vocabulary
        self._query_words, self._document_words = query_words, document_words

    def query(self, text: str) -> np.ndarray:
        return self._vocabulary.encode(text)[: self._query_words]

    def document(self, row: int) -> np.ndarray:
        return self._vocabulary.ids_of_numbers(self._documents.words(row))[: self._document_words]

    def build(self, groups: RankingGroups) -> WordBatch:
        text_indices = text_rows(groups.queries["row"]).tolist()
        queries = [self.query(groups.texts[index]) for index in text_indices]
        documents = [self.document(row) for row in groups.documents["row"].tolist()]
        return WordBatch(pad(queries), pad(documents), groups.sizes)


def pad(texts: Sequence[np.ndarray]) -> np.ndarray:
    """Return ids as int64 [texts, words of the longest], one word at least, padded with 0."""
    padded = np.zeros((len(texts), max([1, *map(len, texts)])), np.int64)
    for row, text in enumerate(texts):
        padded[row, : len(text)] = text
    return padded
