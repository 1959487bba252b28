"""From ranking groups and a token store to padded batches.

A sequence is [CLS] query [SEP] document [SEP] (PROP, section 3.1). The query is cut to `query_length`; beyond
that only the document is cut. Everything here is NumPy; which group a step sees is a pure function of seed and
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.contracts import GROUPS
from irpretrain.errors import ConfigError, IntegrityError
from irpretrain.randomness import generator
from irpretrain.text.word_pieces import TokenStore, WordPieceTokenizer

SPECIAL_POSITIONS = 3
"""[CLS], and [SEP] after query and document."""

LITERAL = -1
"""Row of a query that is a text of its own."""


@dataclass(frozen=True)
class Span:
    """Word pieces `start` to `end` of the document in row `row` of the token store; end -1 means to its end."""

    row: int
    start: int = 0
    end: int = -1


@dataclass(frozen=True)
class Group:
    """A ranking group: sequences of which the first is preferred.

    Attributes:
        queries: literal texts or spans; one for all sequences, or one a sequence.
        documents: spans; one for all sequences, or one a sequence.
    """

    queries: tuple[str | Span, ...]
    documents: tuple[Span, ...]

    def __len__(self) -> int:
        return max(len(self.queries), len(self.documents))

    def sequences(self) -> list[tuple[str | Span, Span]]:
        """Return the (query, document) of each sequence."""
        size = len(self)
        queries = self.queries * size if len(self.queries) == 1 else self.queries
        documents = self.documents * size if len(self.documents) == 1 else self.documents
        return list(zip(queries, documents, strict=True))


@dataclass
class Batch:
    """Sequences of some groups, padded to the longest, group after group.

    Attributes:
        input_ids: int64 [sequences, positions].
        token_type_ids: int64 [sequences, positions]; 1 for the document and its [SEP].
        attention_mask: int64 [sequences, positions]; 0 for padding.
        document: bool [sequences, positions]; the document's word pieces, without special tokens.
        word_starts: bool [sequences, positions]; where a word of the document begins.
        sizes: int64 [groups]; sequences of each group.
    """

    input_ids: np.ndarray
    token_type_ids: np.ndarray
    attention_mask: np.ndarray
    document: np.ndarray
    word_starts: np.ndarray
    sizes: np.ndarray

    @property
    def tokens(self) -> int:
        """Word pieces and special tokens, without padding."""
        return int(self.attention_mask.sum())

    def groups(self, first: int, last: int) -> tuple[slice, int]:
        """Return the rows of groups `first` to `last` (exclusive), and the length of their longest sequence."""
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        rows = slice(int(bounds[first]), int(bounds[last]))
        return rows, int(self.attention_mask[rows].sum(axis=1).max())


class GroupSource(Protocol):
    """Where a step's groups come from."""

    def groups(self, step: int) -> list[Group]:
        """Return the groups of optimiser step `step`, counted from 0."""


class GroupTable:
    """Groups of a GROUPS table, in the order of a fresh permutation every epoch.

    The table is held as flat arrays: 8 bytes a group, 16 a document, and 4 and its text a literal query.

    Args:
        path: GROUPS table.
        store: token store that holds every document the groups refer to.
        batch_groups: groups a step.
        seed: of the data order.
        name: of the order's random stream; two tables in one training differ in it.

    Raises:
        IntegrityError: the table is empty, or a group has several queries and several documents.
        InputError: a document is not in the store.
    """

    def __init__(self, path: str | Path, store: TokenStore, batch_groups: int, seed: int, name: str) -> None:
        self._batch_groups, self._seed, self._name = batch_groups, seed, name
        if GROUPS.count(path) == 0:
            raise IntegrityError(
                path,
                "there are no ranking groups to train on",
                remedy="The objective skipped every document; its counts are in the sidecar of this file.",
            )
        self._queries, self._documents = (
            _Entries([block.column(0) for block in GROUPS.stream(path, [name])], store)
            for name in ("queries", "documents")
        )
        counts = self._queries.counts(), self._documents.counts()
        wrong = ((counts[0] != 1) & (counts[1] != 1)) | (counts[0] < 1) | (counts[1] < 1)
        if wrong.any():
            raise IntegrityError(
                path,
                f"group {int(np.flatnonzero(wrong)[0])} needs one query or one document that all its sequences share",
                remedy="Delete it and run the workflow again.",
            )
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._documents)

    def order(self, step: int) -> np.ndarray:
        """Return the indices of the groups of `step`: the next of an endless series of permutations."""
        places = np.arange(step * self._batch_groups, (step + 1) * self._batch_groups)
        return np.array([self._permutation(int(place) // len(self))[place % len(self)] for place in places])

    def groups(self, step: int) -> list[Group]:
        """Return the groups of a step."""
        return [self[int(index)] for index in self.order(step)]

    def __getitem__(self, index: int) -> Group:
        queries = tuple(self._queries.entry(place) for place in self._queries.places(index))
        return Group(queries, tuple(self._documents.span(place) for place in self._documents.places(index)))

    def _permutation(self, epoch: int) -> np.ndarray:
        if epoch != self._epoch:
            self._order = generator(self._seed, "data order", f"{self._name}/{epoch}").permutation(len(self))
            self._epoch = epoch
        return self._order


class _Entries:
    """A list column of a GROUPS table as flat arrays: entries of the lists, end to end.

    An entry is a span, or (a query without a document identifier) a literal text. Texts stay in the blocks that they
    were read in: joined, those of a large corpus would outgrow an Arrow string array (2 GiB).
    """

    def __init__(self, lists: Sequence[pa.ListArray], store: TokenStore) -> None:
        flat = [column.flatten() for column in lists]
        sizes = np.concatenate([column.value_lengths().to_numpy() for column in lists])
        self._offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        names = _joined(flat, "document_id")
        self._texts = _joined(flat, "text") if flat[0].type.get_field_index("text") >= 0 else None
        literal = np.zeros(len(names), dtype=bool) if self._texts is None else pc.equal(names, "").to_numpy()
        if literal.all():  # no span: one number serves for all rows and takes no memory
            self._rows = self._starts = self._ends = np.broadcast_to(np.int64(LITERAL), len(names))
            return
        self._rows = np.full(len(names), LITERAL, dtype=np.int64)
        self._rows[~literal] = store.rows(names.filter(pa.array(~literal)))
        self._starts, self._ends = (
            np.concatenate([column.field(name).to_numpy() for column in flat]) for name in ("start", "end")
        )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def counts(self) -> np.ndarray:
        """Return the number of entries of each list."""
        return np.diff(self._offsets)

    def places(self, index: int) -> range:
        """Return the places of a list's entries."""
        return range(self._offsets[index], self._offsets[index + 1])

    def span(self, place: int) -> Span:
        """Return the span at a place."""
        return Span(int(self._rows[place]), int(self._starts[place]), int(self._ends[place]))

    def entry(self, place: int) -> str | Span:
        """Return the literal text or the span at a place."""
        if self._texts is not None and self._rows[place] == LITERAL:
            return str(self._texts[place])
        return self.span(place)


def _joined(columns: Sequence[pa.StructArray], field: str) -> pa.ChunkedArray:
    return pa.chunked_array([column.field(field) for column in columns])


class BatchBuilder:
    """Turns groups into batches.

    Args:
        store: word pieces of the documents.
        tokenizer: tokenises literal queries; the store's own tokenizer.
        max_length: longest sequence, special tokens included.
        query_length: longest query, in word pieces.

    Raises:
        ConfigError: no room is left for the document.
    """

    def __init__(
        self, store: TokenStore, tokenizer: WordPieceTokenizer, max_length: int, query_length: int
    ) -> None:
        if query_length + SPECIAL_POSITIONS >= max_length:
            raise ConfigError(
                f"query_length {query_length} leaves no room for a document in max_length {max_length}; "
                f"lower query_length or raise max_length"
            )
        store.check_tokenizer(tokenizer)
        self.store, self.tokenizer = store, tokenizer
        self._max_length, self._query_length = max_length, query_length

    def build(self, groups: Sequence[Group]) -> Batch:
        """Return the batch of `groups`, in their order."""
        sequences = [sequence for group in groups for sequence in group.sequences()]
        literal = self._tokenise([query for query, _ in sequences if isinstance(query, str)])
        queries = [literal[q] if isinstance(q, str) else self._pieces(q)[0] for q, _ in sequences]
        queries = [query[: self._query_length] for query in queries]
        documents = [
            tuple(part[: self._max_length - SPECIAL_POSITIONS - len(query)] for part in self._pieces(span))
            for query, (_, span) in zip(queries, sequences, strict=True)
        ]
        return self._pad(queries, documents, np.array([len(group) for group in groups], dtype=np.int64))

    def _tokenise(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Tokenise each different text once."""
        different = list(dict.fromkeys(texts))
        return dict(zip(different, self.tokenizer.encode(different), strict=True)) if different else {}

    def _pieces(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """Word pieces and word starts of a span. A span that begins inside a word begins with its rest."""
        end = None if span.end < 0 else span.end
        return self.store.tokens(span.row)[span.start : end], self.store.word_starts(span.row)[
            span.start : end
        ]

    def _pad(self, queries: list[np.ndarray], documents: list[tuple[Any, ...]], sizes: np.ndarray) -> Batch:
        tokenizer = self.tokenizer
        longest = max(len(q) + len(d[0]) for q, d in zip(queries, documents, strict=True)) + SPECIAL_POSITIONS
        shape = (len(queries), longest)

        ids = np.full(shape, tokenizer.pad_token_id, dtype=np.int64)
        types, attention = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        inside, starts = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for row, (query, (pieces, begins)) in enumerate(zip(queries, documents, strict=True)):
            first = len(query) + 2  # after [CLS] query [SEP]
            last = first + len(pieces)
            ids[row, 0] = tokenizer.cls_token_id
            ids[row, 1 : first - 1] = query
            ids[row, first - 1] = tokenizer.sep_token_id
            ids[row, first:last] = pieces
            ids[row, last] = tokenizer.sep_token_id
            types[row, first : last + 1] = 1
            attention[row, : last + 1] = 1
            inside[row, first:last] = True
            starts[row, first:last] = begins
            starts[row, first] |= len(pieces) > 0
        return Batch(ids, types, attention, inside, starts, sizes)
