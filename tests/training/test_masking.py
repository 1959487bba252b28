"""Masking against its specification."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.training import MaskingConfig
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training import masking
from irpretrain.training.batches import Batch, BatchBuilder
from irpretrain.training.masking import Masker
from plain_groups import Group, StoreSpan, columns

WIDTH = 64


@pytest.fixture
def tokenizer(tiny_encoder: Path) -> WordPieceTokenizer:
    return load_tokenizer(tiny_encoder)


def hand_made(documents: list[list[int]], tokenizer: WordPieceTokenizer) -> Batch:
    """A batch with a query of two pieces and documents whose words have the given numbers of pieces."""
    length = max(sum(words) for words in documents) + 5
    shape = (len(documents), length)
    ids = np.full(shape, tokenizer.pad_token_id)
    query, document, starts = (np.zeros(shape, bool) for _ in range(3))
    attention = np.zeros(shape, np.int64)
    for row, words in enumerate(documents):
        last = 4 + sum(words)
        ids[row, [0, 3, last]] = (
            tokenizer.template.prefix.ids[0],
            tokenizer.template.suffix.ids[0],
            tokenizer.template.suffix.ids[0],
        )
        ids[row, 1:3] = 30
        query[row, 1:3] = starts[row, 1:3] = True
        ids[row, 4:last] = 40 + np.arange(sum(words)) % 50
        document[row, 4:last] = True
        starts[row, 4 + np.cumsum([0, *words[:-1]])] = True
        attention[row, : last + 1] = 1
    types, sizes = document.astype(np.int64), np.full(len(documents), 1)
    return Batch(ids, types, attention, query, document, np.zeros(shape, bool), starts, sizes)


def masker(tokenizer: WordPieceTokenizer, seed: int = 1, **options: Any) -> Masker:
    return Masker(MaskingConfig(**options), tokenizer, seed, WIDTH)


def test_proportions_in_a_large_sample(tokenizer: WordPieceTokenizer) -> None:
    batch = hand_made([[1] * 40] * 500, tokenizer)
    chosen = masked = changed = 0
    position = np.zeros(WIDTH)
    for step in range(40):
        found = masker(tokenizer).apply(batch, step)
        chosen += found.is_selected.sum()
        now = found.input_ids[found.is_selected]
        masked += (now == tokenizer.mask_token_id).sum()
        changed += ((now != tokenizer.mask_token_id) & (now != found.labels)).sum()
        position[: batch.input_ids.shape[1]] += found.is_selected.sum(axis=0)
    total = 500 * 40 * 40
    assert chosen == total * 0.15  # exactly 6 of 40 in each sequence
    # Standard deviations: 0.0012 (mask), 0.0009 (random); 1 in 100 random pieces is the original one.
    assert abs(masked / chosen - 0.8) < 0.006
    assert abs(changed / chosen - 0.1 * 99 / 100) < 0.005
    expected = 500 * 40 * 0.15
    assert np.abs(position[4:44] / expected - 1).max() < 0.1  # 5.6 standard deviations
    assert not position[:4].any()
    assert not position[44:].any()


def test_random_pieces_are_uniform_and_never_special(
    tokenizer: WordPieceTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masking, "MASK_SHARE", 0.0)
    monkeypatch.setattr(masking, "RANDOM_SHARE", 1.0)
    batch = hand_made([[1] * 40] * 1000, tokenizer)
    counts = np.zeros(tokenizer.size)
    for step in range(5):
        found = masker(tokenizer, ratio=0.5).apply(batch, step)
        counts += np.bincount(found.input_ids[found.is_selected], minlength=tokenizer.size)
    assert not counts[tokenizer.special()].any()
    ordinary = counts[~tokenizer.special()]
    statistic = ((ordinary - ordinary.mean()) ** 2 / ordinary.mean()).sum()
    assert len(ordinary) == 100
    assert 55 < statistic < 160  # chi-squared with 99 degrees of freedom; p of either end under 0.0002


@given(
    documents=st.lists(st.lists(st.integers(1, 4), max_size=12), min_size=1, max_size=6),
    unit=st.sampled_from(["token", "word"]),
    most=st.none() | st.integers(1, 5),
    step=st.integers(0, 1000),
)
def test_never_special_query_or_padding_and_whole_words(
    tokenizer: WordPieceTokenizer, documents: list[list[int]], unit: str, most: int | None, step: int
) -> None:
    batch = hand_made(documents, tokenizer)
    found = masker(tokenizer, unit=unit, most=most, ratio=0.3).apply(batch, step)
    assert not (found.is_selected & ~batch.document_mask).any()
    assert (found.input_ids == batch.input_ids)[~found.is_selected].all()
    assert (found.labels == batch.input_ids[found.is_selected]).all()
    for row, words in enumerate(documents):
        units = len(words) if unit == "word" else sum(words)
        chosen = found.is_selected[row, 4 : 4 + sum(words)]
        if most is None:
            ends = np.cumsum(words)
            whole = [bool(chosen[end - 1]) for end in ends]
            expected = max(1, int(units * 0.3 + 0.5)) if units else 0
            assert (sum(whole) if unit == "word" else chosen.sum()) == expected
        else:
            assert chosen.sum() <= most
        if unit == "word":
            for word in np.split(chosen, np.cumsum(words)[:-1]) if words else []:
                assert word.all() or not word.any()


def test_cap_is_reached(tokenizer: WordPieceTokenizer) -> None:
    batch = hand_made([[1] * 40, [1] * 10], tokenizer)
    assert masker(tokenizer, ratio=0.5, most=7).apply(batch, 0).is_selected.sum(axis=1).tolist() == [7, 5]


def test_no_ratio_no_mask(tokenizer: WordPieceTokenizer) -> None:
    assert not masker(tokenizer, ratio=0.0).apply(hand_made([[1] * 9], tokenizer), 0).is_selected.any()


def test_draws_depend_on_seed_step_and_position_alone(tokenizer: WordPieceTokenizer) -> None:
    long, short = [1] * 40, [2] * 10
    batch = hand_made([long, short], tokenizer)
    first = masker(tokenizer).apply(batch, 3)
    alone = masker(tokenizer).apply(hand_made([long], tokenizer), 3)
    assert (alone.input_ids[0] == first.input_ids[0]).all()
    wider = masker(tokenizer).apply(hand_made([short, short], tokenizer), 3)
    assert (wider.input_ids[1, :25] == first.input_ids[1, :25]).all()
    assert (masker(tokenizer).apply(batch, 3).input_ids == first.input_ids).all()
    for other in (masker(tokenizer).apply(batch, 4), masker(tokenizer, seed=2).apply(batch, 3)):
        assert (other.is_selected != first.is_selected).any()
    # Two tasks in one training may share their documents.
    one, other = (
        Masker(MaskingConfig(), tokenizer, 1, WIDTH, stream=name).apply(batch, 3) for name in ("a", "b")
    )
    assert (one.is_selected != other.is_selected).any()
    two = masker(tokenizer).apply(hand_made([long, long], tokenizer), 3)
    assert (two.is_selected[0] != two.is_selected[1]).any()


def linked(queries: list[list[int]], anchors: list[tuple[int, int]], tokenizer: WordPieceTokenizer) -> Batch:
    """Queries whose words have the given numbers of pieces, of which those of words a to b are the anchor; 20
    documents' words of two pieces each."""
    length = max(map(sum, queries)) + 43
    shape = (len(queries), length)
    ids = np.full(shape, 30)
    query, document, marked, starts = (np.zeros(shape, bool) for _ in range(4))
    for row, (words, (first, last)) in enumerate(zip(queries, anchors, strict=True)):
        ends = np.cumsum([0, *words]) + 1
        query[row, 1 : ends[-1]] = starts[row, ends[:-1]] = True
        marked[row, ends[first] : ends[last]] = True
        document[row, ends[-1] + 1 : ends[-1] + 41] = starts[row, ends[-1] + 1 : ends[-1] + 41 : 2] = True
    ids[~(query | document)] = tokenizer.template.prefix.ids[0]
    return Batch(
        ids,
        document.astype(np.int64),
        np.ones(shape, np.int64),
        query,
        document,
        marked,
        starts,
        np.ones(len(queries)),
    )


@pytest.mark.parametrize("unit", ["token", "word"])
@given(data=st.data())
def test_half_of_the_anchor_and_the_usual_share_of_the_rest(
    tokenizer: WordPieceTokenizer, unit: str, data: st.DataObject
) -> None:
    queries = data.draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=7), min_size=1, max_size=5))
    anchors = [tuple(sorted(data.draw(st.tuples(*[st.integers(0, len(q))] * 2)))) for q in queries]
    batch = linked(queries, anchors, tokenizer)
    options = {"scope": "sequence", "ratio": 0.15, "anchor_ratio": 0.5, "unit": unit}
    found = masker(tokenizer, **options).apply(batch, data.draw(st.integers(0, 99)))
    assert not (found.is_selected & ~(batch.query_mask | batch.document_mask)).any()
    for row, words in enumerate(queries):
        inside, everything = batch.anchor_mask[row], batch.query_mask[row] | batch.document_mask[row]
        chosen = found.is_selected[row]
        if unit == "word":
            for word in np.split(chosen[1 : 1 + sum(words)], np.cumsum(words)[:-1]):
                assert word.all() or not word.any()
            everything = everything & batch.word_starts[row]
        anchor, rest = (int((chosen & everything & part).sum()) for part in (inside, ~inside))
        size = int((everything & inside).sum())
        assert anchor in {size // 2, -(-size // 2)}
        assert rest == max(1, int((everything & ~inside).sum() * 0.15 + 0.5))


def test_the_anchors_share_is_retained_on_average_even_of_one_word(tokenizer: WordPieceTokenizer) -> None:
    batch = linked([[1] * 9] * 400, [(3, 4)] * 200 + [(2, 5)] * 200, tokenizer)
    one, three = 0, 0
    for step in range(20):
        chosen = (
            masker(tokenizer, scope="sequence", anchor_ratio=0.5).apply(batch, step).is_selected
            & batch.anchor_mask
        )
        one, three = one + int(chosen[:200].sum()), three + int(chosen[200:].sum())
        assert set(chosen[200:].sum(axis=1).tolist()) == {1, 2}
    assert abs(one / 4000 - 0.5) < 0.04  # standard deviation 0.008
    assert abs(three / 4000 - 1.5) < 0.04


def test_without_an_anchor_ratio_anchors_are_as_any_other(tokenizer: WordPieceTokenizer) -> None:
    batch = linked([[1] * 20] * 300, [(0, 10)] * 300, tokenizer)
    chosen = masker(tokenizer, scope="sequence").apply(batch, 0).is_selected
    assert (chosen.sum(axis=1) == 9).all()  # of 60
    assert abs(chosen[:, 1:21].mean() - 0.15) < 0.02
    assert abs(chosen[batch.anchor_mask].mean() - 0.15) < 0.02
    full = masker(tokenizer, scope="sequence", anchor_ratio=1.0).apply(batch, 0).is_selected
    assert full[batch.anchor_mask].all()


def test_a_cap_holds_for_the_whole_sequence(tokenizer: WordPieceTokenizer) -> None:
    batch = linked([[1] * 20] * 50, [(0, 20)] * 50, tokenizer)
    options = {"scope": "sequence", "anchor_ratio": 0.5, "ratio": 0.5, "most": 8}
    chosen = masker(tokenizer, **options).apply(batch, 0).is_selected
    assert (chosen.sum(axis=1) == 8).all()  # of 10 + 20
    assert chosen[batch.anchor_mask].any()
    assert chosen[batch.document_mask].any()


def test_anchors_of_documents_alone_are_refused() -> None:
    with pytest.raises(ValueError, match="anchor_ratio: anchors are in queries"):
        MaskingConfig(anchor_ratio=0.5)


def test_whole_words_of_the_token_store(make_store: Callable[..., Path], tiny_encoder: Path) -> None:
    tokenizer = load_tokenizer(tiny_encoder)
    store = TokenStore.open([make_store({"d1": "abcd word01 efgh word02 ij"})])
    builder = BatchBuilder(store, tokenizer, 32, 4)
    batch = builder.build(columns(Group(("word03",), (StoreSpan(0, 2),))))  # begins inside the first word
    words = [[3, 4], [5], [6, 7, 8, 9], [10], [11, 12]]
    seen = set()
    for step in range(80):
        chosen = masker(tokenizer, unit="word", ratio=0.2).apply(batch, step).is_selected[0]
        seen.add(tuple(np.flatnonzero(chosen)))
    assert seen == {tuple(word) for word in words}
