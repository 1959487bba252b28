"""Batches: sequence layout, truncation, data order."""

import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError
from irpretrain.objectives.groups import Span, group
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import Batch, BatchBuilder, WordBatch
from irpretrain.training.group_table import GroupTable
from plain_groups import Group, StoreSpan, columns, plain

MakeStore = Callable[..., Path]


def read(batch: Batch, tokenizer_directory: Path) -> list[str]:
    tokenizer = load_tokenizer(tokenizer_directory)
    return [" ".join(tokenizer.token(int(i)) for i in row) for row in batch.input_ids]


@pytest.fixture
def store(make_store: MakeStore) -> TokenStore:
    return TokenStore.open([make_store({"d1": "cab word01 word02", "d2": "word03", "d3": ""})])


def builder(store: TokenStore, encoder: Path, max_length: int = 16, query_length: int = 4) -> BatchBuilder:
    return BatchBuilder(store, load_tokenizer(encoder), max_length, query_length)


def test_layout(store: TokenStore, tiny_encoder: Path) -> None:
    batch = builder(store, tiny_encoder).build(
        columns(Group(("word07 word08", "ab"), (StoreSpan(0),)), Group(("j",), (StoreSpan(1),)))
    )
    assert read(batch, tiny_encoder) == [
        "[CLS] word07 word08 [SEP] c ##a ##b word01 word02 [SEP]",
        "[CLS] a ##b [SEP] c ##a ##b word01 word02 [SEP]",
        "[CLS] j [SEP] word03 [SEP] [PAD] [PAD] [PAD] [PAD] [PAD]",
    ]
    assert batch.group_sizes.tolist() == [2, 1]
    assert batch.token_type_ids[0].tolist() == [0] * 4 + [1] * 6
    assert batch.attention_mask[2].tolist() == [1] * 5 + [0] * 5
    assert batch.query_mask[0].tolist() == [False, True, True, False] + [False] * 6
    assert batch.document_mask[0].tolist() == [False] * 4 + [True] * 5 + [False]
    assert batch.word_starts[0].tolist() == [False, True, True, False, True, False, False, True, True, False]
    assert batch.word_starts[1, :4].tolist() == [False, True, False, False]
    assert not batch.anchor_mask.any()
    assert batch.tokens == 25


CUT = Group(("a b c d e",), (StoreSpan(0),))
SPANS = Group((StoreSpan(0, 3, 5),), (StoreSpan(0, 1, 4), StoreSpan(1), StoreSpan(2)))
GAPS = Group(("a",), (StoreSpan(0, 0, -1, 1, 2), StoreSpan(0, 1, 4, 1, 3), StoreSpan(0, 1, 3, 1, 3)))


@pytest.mark.parametrize(
    ("group", "max_length", "rows"),
    [
        (CUT, 8, ["[CLS] a b c [SEP] c ##a [SEP]"]),
        (
            SPANS,
            16,
            [
                "[CLS] word01 word02 [SEP] ##a ##b word01 [SEP]",
                "[CLS] word01 word02 [SEP] word03 [SEP] [PAD] [PAD]",
                "[CLS] word01 word02 [SEP] [SEP] [PAD] [PAD] [PAD]",
            ],
        ),
        (
            GAPS,
            16,
            [
                "[CLS] a [SEP] c ##b word01 word02 [SEP]",
                "[CLS] a [SEP] word01 [SEP] [PAD] [PAD] [PAD]",
                "[CLS] a [SEP] [SEP] [PAD] [PAD] [PAD] [PAD]",
            ],
        ),
    ],
    ids=["only the document is cut to the length", "spans on either side", "a gap is left out"],
)
def test_texts(store: TokenStore, tiny_encoder: Path, group: Group, max_length: int, rows: list[str]) -> None:
    batch = builder(store, tiny_encoder, max_length, 3).build(columns(group))
    assert read(batch, tiny_encoder) == rows


def test_anchors_are_marked_where_they_stand_in_the_query(store: TokenStore, tiny_encoder: Path) -> None:
    """They lie inside, nowhere, beyond the start, beyond the end, outside."""
    anchors = [(2, 4), (-1, -1), (0, 2), (4, 9), (7, 9)]
    group = Group((StoreSpan(0, 1, 5),), [StoreSpan(1)] * 5, anchors)
    batch = builder(store, tiny_encoder).build(columns(group))
    assert read(batch, tiny_encoder)[0] == "[CLS] ##a ##b word01 word02 [SEP] word03 [SEP]"
    assert [np.flatnonzero(row).tolist() for row in batch.anchor_mask] == [[2, 3], [], [1], [4], []]
    short = builder(store, tiny_encoder, 16, 2).build(columns(group))
    assert [np.flatnonzero(row).tolist() for row in short.anchor_mask] == [[2], [], [1], [], []]


def test_a_document_needs_room(store: TokenStore, tiny_encoder: Path) -> None:
    with pytest.raises(ConfigError, match="query_length 13 leaves no room for a document in max_length 16"):
        builder(store, tiny_encoder, 16, 13)


@pytest.fixture
def table(make_store: MakeStore, make_groups: Callable[..., Path]) -> GroupTable:
    store = TokenStore.open([make_store({f"d{i}": f"word0{i}" for i in range(5)})])
    return GroupTable(make_groups([(f"d{i}", f"good{i}", f"bad{i}") for i in range(5)]), store, 3, 1, "rop")


def only(table: GroupTable, index: int) -> Group:
    [group] = plain(table.take(np.array([index])))
    return group


def test_every_epoch_sees_every_group_once_in_another_order(table: GroupTable) -> None:
    drawn = np.concatenate([table.order(step) for step in range(50)])
    epochs = drawn.reshape(-1, 5)
    assert all(sorted(epoch) == [0, 1, 2, 3, 4] for epoch in epochs.tolist())
    assert len({tuple(epoch) for epoch in epochs.tolist()}) > 10


def test_data_order_is_a_function_of_seed_and_step(
    make_store: MakeStore, make_groups: Callable[..., Path]
) -> None:
    store = TokenStore.open([make_store({f"d{i}": "a" for i in range(40)})])
    path = make_groups([(f"d{i}", "a", "b") for i in range(40)])

    def orders(seed: int, steps: list[int], name: str = "rop") -> list[list[int]]:
        table = GroupTable(path, store, 7, seed, name)
        return [table.order(step).tolist() for step in steps]

    assert orders(1, [0, 5, 9]) == orders(1, [9, 5, 0])[::-1]
    assert orders(1, [0]) != orders(2, [0])
    assert orders(1, [0]) != orders(1, [0], "other")
    assert max(Counter(np.concatenate(orders(1, [0, 1, 2, 3, 4])).tolist()).values()) == 1


def test_what_a_table_does_not_use_takes_no_memory(
    make_store: MakeStore, make_groups: Callable[..., Path]
) -> None:
    store = TokenStore.open([make_store({"d1": "a"})])
    path = make_groups([("d1", "a", "b")] * 4000)
    tracemalloc.start()
    try:
        arrow_bytes = pa.total_allocated_bytes()
        table = GroupTable(path, store, 1, 1, "x")
        retained_bytes = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - arrow_bytes
    finally:
        tracemalloc.stop()
    # 9 a group, 16 a document, 5 a query of a letter; a column of numbers more would take 4 or 8.
    assert retained_bytes < 43 * len(table)


def test_a_table_of_several_blocks(make_store: MakeStore, make_groups: Callable[..., Path]) -> None:
    """Blocks are read one by one (`tables.ROWS_PER_GROUP` rows); their texts are never joined."""
    store = TokenStore.open([make_store({"d0": "a", "d1": "b", "d2": "c"})])
    path = make_groups([(f"d{i % 3}", f"good{i}", f"bad{i}") for i in range(17_000)])
    table = GroupTable(path, store, 1, 1, "rop")
    assert len(table) == 17_000
    for index in (0, 16_383, 16_384, 16_999):
        assert only(table, index) == Group((f"good{index}", f"bad{index}"), (StoreSpan(index % 3, 0, -1),))


def test_faulty_tables_are_refused(
    make_store: MakeStore, make_groups: Callable[..., Path], tmp_path: Path
) -> None:
    store = TokenStore.open([make_store({"d1": "a"})])
    with pytest.raises(IntegrityError, match="no ranking groups"):
        GroupTable(make_groups([]), store, 1, 1, "x")
    with pytest.raises(InputError, match="d9"):
        GroupTable(make_groups([("d9", "a", "b")]), store, 1, 1, "x")
    sound = group((0, 0), ["a"], [Span("d1")] * 2)
    anchor = {"start": 0, "end": 1}
    span = {"queries": [{"text": "", "document_id": "d1", "start": 0, "end": 1}]}
    sound_anchors = {**sound, **span, "anchors": [anchor] * 2}
    for name, changes in (
        ("both", {"queries": sound["queries"] * 2}),
        ("few", {**span, "anchors": [anchor]}),
        ("literal", {"anchors": [anchor] * 2}),
    ):
        GROUPS.write(tmp_path / f"{name}.parquet", [sound_anchors, {**sound, "position": 1, **changes}])
        with pytest.raises(IntegrityError, match=r"group 1 needs one query .* has anchors"):
            GroupTable(tmp_path / f"{name}.parquet", store, 1, 1, "x")


def test_words_of_a_batch_are_counted_without_padding() -> None:
    """Word 1 is the first of a vocabulary; 0 fills up."""
    batch = WordBatch(np.array([[1, 2], [3, 0]]), np.array([[4, 1, 5], [1, 0, 0]]), np.array([2]))
    assert batch.tokens == 7
