"""Ranking groups in memory, and the order in which training reads them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.foundation.contracts import GROUPS, NO_ANCHOR
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError
from irpretrain.foundation.randomness import generator
from irpretrain.text.token_store import TokenStore
from irpretrain.training.ranking_groups import (
    RankingGroups,
    make_spans,
    positions_of_lists,
    text_rows,
)

# Row of a query that is a text of its own.
LITERAL_ROW = -1


class GroupTable:
    """Groups of a GROUPS table, in a fresh permutation every epoch; some are held out of it.

    Attributes:
        held_out: indices of the groups that are held out, int64 [held out].
        held_out_documents: a number for the source document of each, uint64 [held out].

    Raises:
        IntegrityError: the table is empty, or the lists of a group do not fit together.
        InputError: a document is not in the store.
    """

    # Memory: 9 bytes per group, 16 per document, 4 and its text per literal query; gaps and anchors take 8 bytes
    # each, and nothing in a table without any.
    def __init__(
        self,
        path: str | Path,
        store: TokenStore,  # token store that holds every document the groups refer to
        batch_groups: int,  # groups per step
        seed: int,  # of the data order
        stream: str,  # of the order's random stream; two tables in one training differ in it
        # Expected share of documents whose groups are in no step. A table that would have no group left
        # holds none out.
        held_out_share: float = 0.0,
    ) -> None:
        self._batch_groups, self._seed, self._stream = batch_groups, seed, stream
        if GROUPS.count(path) == 0:
            raise IntegrityError(
                path,
                "there are no ranking groups to train on",
                remedy="The objective skipped every document; its counts are in the sidecar of this file.",
            )
        self._queries, self._documents = (
            _Entries(*_read_lists(path, name), store) for name in ("queries", "documents")
        )
        self._anchor_bounds, blocks = _read_lists(path, "anchors")
        self._anchor_starts, self._anchor_ends = (_number_field(blocks, name) for name in ("start", "end"))
        self._check(path)
        self._is_held_out, self.held_out_documents = _draw_held_out(path, held_out_share)
        self.held_out = np.flatnonzero(self._is_held_out)
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)

    def _check(self, path: str | Path) -> None:
        query_counts, document_counts = self._queries.counts(), self._documents.counts()
        is_faulty = np.minimum(query_counts, document_counts) != 1
        anchor_counts = np.diff(self._anchor_bounds)
        if anchor_counts.any():
            sequence_counts = np.maximum(query_counts, document_counts)
            lacks_anchors = (anchor_counts != sequence_counts) | self._queries.has_literal()
            is_faulty |= (anchor_counts > 0) & lacks_anchors
        if is_faulty.any():
            raise IntegrityError(
                path,
                f"group {int(is_faulty.argmax())} needs one query or one document that all its sequences share; and if "
                "it has anchors, one for each sequence, in queries that are spans",
                remedy=MAKE_AGAIN,
            )

    def __len__(self) -> int:
        return len(self._documents)

    def trained_indices(self) -> np.ndarray:
        return np.flatnonzero(~self._is_held_out)

    @property
    def trained_count(self) -> int:
        return len(self) - len(self.held_out)

    def sizes(self, indices: np.ndarray) -> np.ndarray:
        """Return the sequences of each group at `indices`, int64 [groups]."""
        return np.maximum(self._queries.counts(indices), self._documents.counts(indices))

    def order(self, step: int) -> np.ndarray:
        """Return the indices of the groups of `step`: the next of an endless series of permutations."""
        index_blocks, position = [], step * self._batch_groups
        while position < (end := (step + 1) * self._batch_groups):
            epoch, start = divmod(position, self.trained_count)
            index_blocks.append(self._permutation(epoch)[start : start + end - position])
            position += len(index_blocks[-1])
        return np.concatenate(index_blocks)

    def groups(self, step: int) -> RankingGroups:
        return self.take(self.order(step))

    def take(self, indices: np.ndarray) -> RankingGroups:
        """Return the groups at `indices`, in this order."""
        sizes = self.sizes(indices)
        queries, texts = self._queries.take(indices, sizes)
        documents, _ = self._documents.take(indices, sizes)
        anchors = np.full((len(queries), 2), NO_ANCHOR, np.int64)
        starts, ends = self._anchor_bounds[:-1][indices], self._anchor_bounds[1:][indices]
        with_anchors = np.repeat(ends > starts, sizes)
        positions = positions_of_lists(starts, ends - starts)
        for column, values in enumerate((self._anchor_starts, self._anchor_ends)):
            anchors[with_anchors, column] = values[positions]
        shares_query = self._queries.counts(indices) == 1
        return RankingGroups(queries, documents, anchors, sizes, shares_query, texts)

    def _permutation(self, epoch: int) -> np.ndarray:
        if epoch != self._epoch:
            order = self.trained_indices()
            generator(self._seed, "data order", f"{self._stream}/{epoch}").shuffle(order)
            self._epoch, self._order = epoch, order
        return self._order


def _draw_held_out(path: str | Path, share: float) -> tuple[np.ndarray, np.ndarray]:
    masks, held_out_hashes = [], []
    for block in GROUPS.stream(path, ["part", "position"]):
        # By the location of the source document alone: all groups of a document are held out, or none, whatever the
        # objective, the seed, and the number of shards.
        hashes = _hash_positions(*(block.column(name).to_numpy() for name in ("part", "position")))
        masks.append(hashes < np.uint64(share * 2.0**63) * np.uint64(2))  # 2⁶⁴ itself has no place in 64 bits
        held_out_hashes.append(hashes[masks[-1]])
    is_held_out = np.concatenate(masks)
    if is_held_out.all():
        return np.zeros_like(is_held_out), np.zeros(0, np.uint64)
    return is_held_out, np.concatenate(held_out_hashes)


def _hash_positions(part: np.ndarray, position: np.ndarray) -> np.ndarray:
    """64-bit hash of each (part, position): SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014) over both."""
    hashes = np.zeros(len(part), np.uint64)
    for numbers in (part, position):
        hashes = hashes + numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes = hashes ^ (hashes >> np.uint64(31))
    return hashes


def _read_lists(path: str | Path, column_name: str) -> tuple[np.ndarray, list[pa.StructArray]]:
    """Return where each list of a column begins, and the last ends, int64 [groups + 1]; and the lists' elements."""
    lists = [block.column(0) for block in GROUPS.stream(path, [column_name])]
    sizes = np.concatenate([column.value_lengths().to_numpy() for column in lists])
    bounds = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    # Lists that are all empty take no memory.
    return bounds if sizes.any() else np.broadcast_to(bounds[0], len(bounds)), [c.flatten() for c in lists]


def _number_field(columns: Sequence[pa.StructArray], field: str) -> np.ndarray:
    """A field of numbers; where all are 0, one 0 serves for all and takes no memory."""
    arrays = [column.field(field).to_numpy() for column in columns]
    if not any(array.any() for array in arrays):
        return np.broadcast_to(np.int32(0), sum(map(len, arrays)))
    return np.concatenate(arrays)


class _Entries:
    """A list column of a GROUPS table as flat arrays: spans, or (queries without document identifier) literal texts."""

    # Texts stay in the blocks that they were read in: joined, those of a large corpus would outgrow an Arrow string
    # array (2 GiB).
    def __init__(self, bounds: np.ndarray, blocks: Sequence[pa.StructArray], store: TokenStore) -> None:
        self._bounds = bounds
        document_ids = pa.chunked_array([column.field("document_id") for column in blocks])
        self._texts = None
        if blocks[0].type.get_field_index("text") >= 0:
            self._texts = pa.chunked_array([column.field("text") for column in blocks])
        is_literal = (
            np.zeros(len(document_ids), dtype=bool)
            if self._texts is None
            else pc.equal(document_ids, "").to_numpy()
        )
        if is_literal.all():  # no span: one number serves for all rows and takes no memory
            self._rows = self._starts = self._ends = np.broadcast_to(np.int64(LITERAL_ROW), len(document_ids))
            self._gaps: tuple[np.ndarray, ...] = ()
            return
        self._rows = np.full(len(document_ids), LITERAL_ROW, dtype=np.int64)
        self._rows[~is_literal] = store.rows(document_ids.filter(pa.array(~is_literal)))
        self._starts, self._ends = (_number_field(blocks, name) for name in ("start", "end"))
        gaps = ("gap_start", "gap_end") if blocks[0].type.get_field_index("gap_start") >= 0 else ()
        self._gaps = tuple(_number_field(blocks, name) for name in gaps)

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def counts(self, indices: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the entries of each list at `indices`, int64 [lists]."""
        return self._bounds[1:][indices] - self._bounds[:-1][indices]

    def has_literal(self) -> np.ndarray:
        list_indices = np.repeat(np.arange(len(self)), self.counts())
        return np.bincount(list_indices[self._rows == LITERAL_ROW], minlength=len(self)) > 0

    def take(self, indices: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Return the lists at `indices`, SPAN [sum of `sizes`], and their texts; one entry alone is repeated."""
        offsets_in_list = positions_of_lists(np.zeros(len(sizes), np.int64), sizes)
        advances_by_entry = np.repeat(self.counts(indices) > 1, sizes)
        positions = np.repeat(self._bounds[:-1][indices], sizes) + offsets_in_list * advances_by_entry
        spans = make_spans(self._rows[positions], self._starts[positions], self._ends[positions])
        for name, column in zip(("gap_start", "gap_end"), self._gaps, strict=False):
            spans[name] = column[positions]
        if self._texts is None:
            return spans, []
        is_literal = spans["row"] == LITERAL_ROW
        distinct_positions, text_indices = np.unique(positions[is_literal], return_inverse=True)
        spans[is_literal] = make_spans(text_rows(text_indices))
        return spans, [self._texts[position].as_py() for position in distinct_positions.tolist()]
