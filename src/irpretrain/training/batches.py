"""From groups to padded batches, in NumPy: word pieces of a token store, or words of word stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from irpretrain.foundation.contracts import NO_ANCHOR
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.text.token_store import TokenStore
from irpretrain.text.vocabulary import Vocabulary
from irpretrain.text.word_pieces import WordPieceTokenizer, Words
from irpretrain.text.word_store import WordDocuments


@dataclass(frozen=True)
class StoreSpan:
    """Word pieces `start` to `end` of the document in `row` of the store (end -1: to its end), without the gap.

    The gap, `gap_start` to `gap_end`, also counts from the first piece of the document.
    """

    row: int
    start: int = 0
    end: int = -1
    gap_start: int = 0
    gap_end: int = 0

    def runs(self, length: int) -> list[tuple[int, int]]:
        """Return start and end of each unbroken run in a document of `length` pieces: at most two, none empty."""
        end = length if self.end < 0 else self.end
        runs = [(self.start, end)]
        if self.gap_start != self.gap_end:
            runs = [(self.start, self.gap_start), (self.gap_end, end)]
        return [(first, last) for first, last in runs if first < last]


@dataclass(frozen=True)
class RankingGroup:
    """A ranking group: sequences of which the first is preferred."""

    queries: tuple[str | StoreSpan, ...]  # literal texts or spans; one for all sequences, or one per sequence
    documents: tuple[StoreSpan, ...]  # spans; one for all sequences, or one per sequence
    # None, or one per sequence: start and end of the word pieces of the query's document that are the anchor to
    # the sequence's document; `NO_ANCHOR` where there is none.
    anchors: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return max(len(self.queries), len(self.documents))

    def sequences(self) -> list[tuple[str | StoreSpan, StoreSpan, tuple[int, int]]]:
        size = len(self)
        queries = self.queries * size if len(self.queries) == 1 else self.queries
        documents = self.documents * size if len(self.documents) == 1 else self.documents
        return list(zip(queries, documents, self.anchors or (NO_ANCHOR,) * size, strict=True))


@dataclass
class Batch:
    """Sequences of some groups, padded to the longest, group after group."""

    input_ids: np.ndarray  # int64 [sequences, positions]
    token_type_ids: np.ndarray  # int64 [sequences, positions]; of BERT 1 for the document and its [SEP]
    attention_mask: np.ndarray  # int64 [sequences, positions]; 0 for padding
    query: np.ndarray  # bool [sequences, positions]; the query's word pieces, without special tokens
    document: np.ndarray  # bool [sequences, positions]; the document's
    # bool [sequences, positions]; those of the query's that are the anchor to the document.
    anchors: np.ndarray
    # bool [sequences, positions]; where a word of query or document begins, or the rest of one that is cut.
    word_starts: np.ndarray
    sizes: np.ndarray  # int64 [groups]; sequences of each group

    @property
    def tokens(self) -> int:
        """Word pieces and special tokens, without padding."""
        return int(self.attention_mask.sum())


class GroupSource(Protocol):
    """Where a step's groups come from."""

    def groups(self, step: int) -> list[RankingGroup]:
        """Return the groups of optimiser step `step`, counted from 0."""


class BatchBuilder:
    """Turns groups into batches. The query is cut to `query_length`; beyond that only the document is cut.

    Raises:
        ConfigError: no room is left for the document.
    """

    def __init__(
        self, store: TokenStore, tokenizer: WordPieceTokenizer, max_length: int, query_length: int
    ) -> None:
        if query_length + tokenizer.template.special >= max_length:
            raise ConfigError(
                f"query_length {query_length} leaves no room for a document in max_length {max_length}; "
                f"lower query_length or raise max_length"
            )
        store.check_tokenizer(tokenizer)
        self.store, self.tokenizer = store, tokenizer
        self.max_length, self._query_length = max_length, query_length

    def build(self, groups: Sequence[RankingGroup]) -> Batch:
        sequences = [sequence for group in groups for sequence in group.sequences()]
        literal = self._tokenise([query for query, _, _ in sequences if isinstance(query, str)])
        template, cut = self.tokenizer.template, []
        for query, span, anchor in sequences:
            first = 0 if isinstance(query, str) else query.start
            pieces, starts = literal[query][:2] if isinstance(query, str) else self._pieces(query)
            pieces, starts = pieces[: self._query_length], starts[: self._query_length]
            linking = slice(*(min(max(end - first, 0), len(pieces)) for end in anchor))
            room = self.max_length - template.special - len(pieces)
            pieces_of_document, begins = self._pieces(span)
            cut.append((pieces, starts, linking, pieces_of_document[:room], begins[:room]))
        pairs = [(pieces, text) for pieces, _, _, text, _ in cut]
        ids, types, attention = template.join(pairs, self.tokenizer.pad_token_id)
        query_mask, document_mask, anchors, word_starts = (np.zeros(ids.shape, dtype=bool) for _ in range(4))
        for row, (pieces, starts, linking, text, begins) in enumerate(cut):
            requested, read = template.positions(len(pieces), len(text))
            query_mask[row, requested] = True
            document_mask[row, read] = True
            anchors[row, requested][linking] = True
            word_starts[row, requested] = starts
            word_starts[row, read] = begins
            # A text that begins inside a word does so with the rest of that word.
            word_starts[row, requested.start] |= requested.stop > requested.start
            word_starts[row, read.start] |= read.stop > read.start
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        return Batch(ids, types, attention, query_mask, document_mask, anchors, word_starts, sizes)

    def _tokenise(self, texts: list[str]) -> dict[str, Words]:
        different = list(dict.fromkeys(texts))
        return dict(zip(different, self.tokenizer.words(different), strict=True)) if different else {}

    def _pieces(self, span: StoreSpan) -> tuple[np.ndarray, np.ndarray]:
        """Word pieces and word starts of a span; the rest of a word that the span cuts counts as a word start."""
        end = None if span.end < 0 else span.end
        tokens, begins = self.store.tokens(span.row), self.store.word_starts(span.row)
        if span.gap_start == span.gap_end:
            return tokens[span.start : end], begins[span.start : end]
        before, after = slice(span.start, span.gap_start), slice(span.gap_end, end)
        rest = begins[after].copy()
        rest[:1] = True
        return np.concatenate([tokens[before], tokens[after]]), np.concatenate([begins[before], rest])


# From ranking groups and word stores to padded batches of word ids, for rankers over words.


@dataclass(frozen=True)
class WordBatch:
    """Pairs of some groups, padded with 0 to the longest, group after group."""

    query: np.ndarray  # int64 [pairs, query words]
    document: np.ndarray  # int64 [pairs, document words]
    sizes: np.ndarray  # int64 [groups]; pairs of each group

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
        return self._vocabulary.of_numbers(self._documents.words(row))[: self._document_words]

    def build(self, groups: Sequence[RankingGroup]) -> WordBatch:
        pairs = [pair for group in groups for pair in self._pairs(group)]
        sizes = np.array([len(group) for group in groups], np.int64)
        return WordBatch(pad([query for query, _ in pairs]), pad([document for _, document in pairs]), sizes)

    def _pairs(self, group: RankingGroup) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for query, span, _ in group.sequences():
            if not isinstance(query, str) or span.start or span.end >= 0:
                raise ValueError("a ranker over words reads literal queries and whole documents")
            yield self.query(query), self.document(span.row)


def pad(texts: Sequence[np.ndarray]) -> np.ndarray:
    """Return ids as int64 [texts, words of the longest], one word at least, padded with 0."""
    padded = np.zeros((len(texts), max([1, *map(len, texts)])), np.int64)
    for row, text in enumerate(texts):
        padded[row, : len(text)] = text
    return padded
