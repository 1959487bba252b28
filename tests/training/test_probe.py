"""The probe: hand-made scorers on groups of five-word documents; which groups are held out."""

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_training import training_options
from torch import Tensor

from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.contracts import GROUPS, PROBE
from irpretrain.foundation.errors import TrainingError
from irpretrain.foundation.provenance import sha256
from irpretrain.objectives.groups import Span, group
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training import group_table
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.probe import (
    Probe,
    draw_partners,
    pair_accuracies,
    with_shared,
    without_shared,
)
from irpretrain.training.trainer import StepContext
from plain_groups import Group, StoreSpan, columns, plain

SEPARATOR = 3
"""Id of [SEP] in the tiny vocabulary."""
DOCUMENTS = 14
MakeTable = Callable[..., GroupTable]


def overlap(input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, None]:
    """Score by the number of word pieces that query and document share."""
    scores = []
    for ids, types in zip(input_ids, token_type_ids, strict=True):
        query, document = (set(ids[types == kind].tolist()) for kind in (0, 1))
        scores.append(len((query & document) - {0, 2, SEPARATOR}))
    return torch.tensor(scores, dtype=torch.float32), None


def first_query_word(
    input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor
) -> tuple[Tensor, None]:
    """Score by the query alone: words of lower numbers are better."""
    return -input_ids[:, 1].float(), None


class Substitute:
    """A function of ids, types and mask in place of a cross-encoder."""

    def __init__(self, score: Callable[..., Any]) -> None:
        self._score = score

    def encode(self, batch: Any) -> Any:
        arrays = (batch.input_ids, batch.token_type_ids, batch.attention_mask)
        return self._score(*map(torch.from_numpy, arrays))


def of_documents(count: int = DOCUMENTS) -> dict[str, str]:
    """Document n has the words 5n to 5n + 4."""
    return {f"d{n}": " ".join(f"word{word:02d}" for word in range(5 * n, 5 * n + 5)) for n in range(count)}


@pytest.fixture
def store(make_store: Callable[..., Path]) -> TokenStore:
    return TokenStore.open([make_store(of_documents())])


@pytest.fixture
def make_table(store: TokenStore, tmp_path: Path) -> MakeTable:
    """Return a function that makes a table of (document number, queries, documents)."""

    def make(rows: Sequence[tuple[int, list[Any], list[Any]]], share: float = 0.5) -> GroupTable:
        path = tmp_path / "groups.parquet"
        GROUPS.write(
            path, [group((0, position), queries, documents) for position, queries, documents in rows]
        )
        return GroupTable(path, store, 3, 1, "rop", share)

    return make


@pytest.fixture
def probe_rows(store: TokenStore, tiny_encoder: Path) -> Callable[..., dict[str, dict[str, Any]]]:
    """Return a function that probes a scorer: input → row."""

    def rows(table: GroupTable, scorer: Any) -> dict[str, dict[str, Any]]:
        builder = BatchBuilder(store, load_tokenizer(tiny_encoder), 24, 4)
        setting = StepContext(torch.device("cpu"), ComputeConfig(device="cpu"), 1)
        probe = Probe("rop", table, builder, setting, 100, 1)
        model = Substitute(scorer)
        return {row["input"]: row for row in probe.rows(model, probe.accuracies(model))}

    return rows


def rop(count: int = DOCUMENTS, each: int = 1) -> list[tuple[int, list[Any], list[Any]]]:
    """Groups of a document: one of its words is preferred to one of no document."""
    return [
        (n, [f"word{5 * n + k:02d}", f"word{70 + k:02d}"], [Span(f"d{n}")])
        for n in range(count)
        for k in range(each)
    ]


def test_a_scorer_that_reads_the_document(make_table: MakeTable, probe_rows: Callable[..., Any]) -> None:
    """With its own document the preferred query overlaps; with another, or none, nothing does: a tie counts half."""
    rows = probe_rows(make_table(rop()), overlap)
    assert {name: row["accuracy"] for name, row in rows.items()} == {
        "right": 1,
        "swapped": 0.5,
        "none": 0.5,
        "before": 1,
    }
    groups = rows["right"]["groups"]
    assert 3 <= groups == rows["swapped"]["groups"] < DOCUMENTS
    assert rows["swapped"]["p_value"] == pytest.approx(2 / 2**groups)
    assert rows["before"]["p_value"] == 1
    assert math.isnan(rows["right"]["p_value"])
    assert rows["right"]["low"] < rows["right"]["high"] == 1


def test_a_scorer_of_candidates_alone_needs_no_document(
    make_table: MakeTable, probe_rows: Callable[..., Any]
) -> None:
    rows = probe_rows(make_table(rop()), first_query_word)
    assert [rows[name]["accuracy"] for name in ("right", "swapped", "none")] == [1, 1, 1]
    assert rows["swapped"]["p_value"] == 1


def test_a_score_that_is_no_number_is_refused(make_table: MakeTable, probe_rows: Callable[..., Any]) -> None:
    with pytest.raises(TrainingError, match="a score of the held-out groups is not a finite number"):
        probe_rows(make_table(rop()), lambda ids, *_: (torch.where(ids[:, 1] > 30, torch.inf, 0.0), None))


def test_candidates_that_are_documents(make_table: MakeTable, probe_rows: Callable[..., Any]) -> None:
    """Two others, of which one has the query's word too: half of a pair is won and one whole."""
    count = 12
    rows = [
        (
            n,
            [f"word{5 * n:02d}"],
            [Span(f"d{n}"), Span(f"d{n}", 0, 2), Span(f"d{(n + 1) % count}")],
        )
        for n in range(count)
    ]
    found = probe_rows(make_table(rows), overlap)
    assert found["right"]["accuracy"] == 0.75
    assert found["none"]["accuracy"] == 0.5


def test_too_few_groups_are_reported(make_table: MakeTable, probe_rows: Callable[..., Any]) -> None:
    """Of one document all groups would be held out, or none is; then nothing is left to test."""
    table = make_table(rop(1, each=3), share=0.5)
    assert table.trained_count == 3
    rows = probe_rows(table, overlap)
    assert [row["groups"] for row in rows.values()] == [0] * 4
    assert all(math.isnan(row["accuracy"]) for row in rows.values())


def test_a_group_of_one_sequence_is_not_probed(make_table: MakeTable, probe_rows: Callable[..., Any]) -> None:
    table = make_table([(n, [f"word{n:02d}"], [Span(f"d{n}")]) for n in range(DOCUMENTS)])
    assert len(table.held_out) > 0
    assert probe_rows(table, overlap)["right"]["groups"] == 0


def test_shared_texts() -> None:
    queries = Group(("a", "b"), (StoreSpan(3, 1, 9, 2, 4),))
    documents = Group((StoreSpan(1),), (StoreSpan(2), StoreSpan(3)), ((0, 1), (2, 3)))
    partners = Group(("c", "a"), (StoreSpan(7),)), Group(("c",), (StoreSpan(8), StoreSpan(9)))
    groups = columns(queries, documents, *partners)
    assert plain(with_shared(groups[:2], groups[2:])) == [
        Group(("a", "b"), (StoreSpan(7),)),
        Group(("c",), (StoreSpan(2), StoreSpan(3))),
    ]
    assert plain(without_shared(groups[:2])) == [
        Group(("a", "b"), (StoreSpan(3, 0, 0),)),
        Group(("",), (StoreSpan(2), StoreSpan(3))),
    ]


def test_pairs_of_a_group_weigh_as_much_as_one() -> None:
    groups = columns(Group(("a",), (StoreSpan(0),) * 4), Group(("a", "b"), (StoreSpan(0),)))
    scores = np.array([2, 1, 2, 3, 0, -1], np.float32)
    assert pair_accuracies(scores, groups).tolist() == [0.5, 1.0]
    assert pair_accuracies(scores[:0], groups[:0]).tolist() == []


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=30), st.integers(0, 99))
def test_partners_are_of_other_documents(drawn: list[tuple[int, bool]], seed: int) -> None:
    groups = [
        Group(("a",), (StoreSpan(0), StoreSpan(1))) if kind else Group(("a", "b"), (StoreSpan(0),))
        for _, kind in drawn
    ]
    documents = np.array([document for document, _ in drawn], np.uint64)
    partners = draw_partners(columns(*groups), documents, np.random.default_rng(seed))
    met = partners[partners >= 0]
    assert len(set(met.tolist())) == len(met)
    for kind in (True, False):
        positions = [i for i, (_, is_kind) in enumerate(drawn) if is_kind == kind]
        matched = [i for i in positions if partners[i] >= 0]
        assert all(partners[i] in positions and documents[partners[i]] != documents[i] for i in matched)
        largest = max((sum(documents[i] == document for i in positions) for document in range(7)), default=0)
        if positions and 2 * largest <= len(positions):
            assert matched == positions


def test_a_location_is_hashed_by_splitmix64() -> None:
    """First outputs of the generator's published test vectors, for the seeds 0 and 1,234,567: a location's two numbers
    are added one after the other."""
    first, second = 0xE220A8397B1DCDAF, 6457827717110365317
    position = (1234567 - first) % 2**64
    assert group_table._hash_positions(np.array([0]), np.array([position])).tolist() == [second]


def test_documents_are_held_out_whole_and_whatever_the_shards(store: TokenStore, tmp_path: Path) -> None:
    rows = [(part, position) for part in range(2) for position in range(500) for _ in range(3)]

    def held_out(name: str, some: list[tuple[int, int]], share: float = 0.05) -> set[tuple[int, int]]:
        path = tmp_path / f"{name}.parquet"
        GROUPS.write(path, [group(position, ["a", "b"], [Span("d1")]) for position in some])
        table = GroupTable(path, store, 4, 1, "x", share)
        assert table.trained_count == len(some) - len(table.held_out) == len(table.trained_indices())
        trained = {some[index] for index in table.trained_indices()}
        found = {some[index] for index in table.held_out}
        assert not trained & found
        assert len(set(table.held_out_documents.tolist())) == len(found)
        return found

    whole = held_out("whole", rows)
    assert 30 <= len(whole) <= 70  # 50 of 1,000 documents are expected
    assert {part for part, _ in whole} == {0, 1}
    shards = [[position for position in rows if position[1] % 3 == shard] for shard in range(3)]
    assert set.union(*(held_out(f"shard-{n}", some) for n, some in enumerate(shards))) == whole
    assert whole < held_out("more", rows, 0.2)
    assert held_out("none", rows, 0.0) == set()
    assert held_out("all", rows[:3], 0.9999) == set()


def test_steps_never_hold_what_is_held_out(make_table: MakeTable) -> None:
    table = make_table(rop(each=2))
    held_out = set(table.take(table.held_out).documents["row"].tolist())
    seen = {row for step in range(20) for row in table.groups(step).documents["row"].tolist()}
    assert held_out
    assert seen == set(range(DOCUMENTS)) - held_out


def test_a_training_writes_its_probe(
    run_pretraining: Callable[..., Path],
    make_store: Callable[..., Path],
    make_table: MakeTable,
    tmp_path: Path,
) -> None:
    held_out = make_table(rop(each=2)).held_out
    unchanged = {"learning_rate": 1e-12}
    options = training_options(held_out_share=0.5, dropout=0.5, optimiser=unchanged)
    stores = {"tokens": [make_store(of_documents(), "again")], "groups": [tmp_path / "groups.parquet"]}
    folder = run_pretraining("run", options, **stores)
    with open(folder / "probe.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == [column.name for column in PROBE.columns]
    assert [(row["task"], row["input"]) for row in rows] == [
        ("rop", name) for name in ("right", "swapped", "none", "before")
    ]
    assert {row["groups"] for row in rows} == {str(len(held_out))}
    assert rows[0]["accuracy"] == rows[-1]["accuracy"], "before and after, without dropout"
    again = run_pretraining("again", options, **stores)
    assert sha256(again / "probe.csv") == sha256(folder / "probe.csv")


def test_the_probe_changes_no_weight(
    run_pretraining: Callable[..., Path], separable: tuple[Path, Path], tmp_path: Path
) -> None:
    """As a training on the groups alone that are not held out, which probes nothing."""
    store, groups = separable
    trained = GroupTable(groups, TokenStore.open([store]), 3, 1, "rop", 0.2).trained_indices()
    GROUPS.write(tmp_path / "trained.parquet", GROUPS.read(groups).take(trained))
    probed, bare = (
        run_pretraining(name, training_options(held_out_share=share, dropout=0.2), groups=[tmp_path / file])
        for name, share, file in (("probed", 0.2, groups), ("bare", 0, "trained.parquet"))
    )
    assert sha256(probed / "model" / "model.safetensors") == sha256(bare / "model" / "model.safetensors")


def test_without_held_out_groups_there_is_no_probe(run_pretraining: Callable[..., Path]) -> None:
    folder = run_pretraining("run", training_options(held_out_share=0))
    assert (folder / "probe.csv").read_text() == ",".join(column.name for column in PROBE.columns) + "\n"
