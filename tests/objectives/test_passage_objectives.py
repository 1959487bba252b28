"""Passages, and the choices that ICT and BFS make of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.objectives import bfs, ict
from irpretrain.objectives.passages import Passage, passages

BODY = "One two. Three four five. Six.\nHead\nSeven eight nine ten. Eleven."
LEAD, SECTION = (0, 30), (36, 66)


def count_words(body: str, sentence: tuple[int, int]) -> int:
    return len(body[slice(*sentence)].split())


def texts(passage: Passage) -> list[str]:
    return [BODY[start:end] for start, end in passage.sentences]


def test_sentences_are_packed_up_to_the_limit_within_sections() -> None:
    found = passages(BODY, [LEAD, (31, 31), SECTION], max_words=5)
    assert [(p.section, texts(p)) for p in found] == [
        (0, ["One two.", "Three four five."]),
        (0, ["Six."]),
        (2, ["Seven eight nine ten.", "Eleven."]),
    ]
    assert BODY[found[0].start : found[0].end] == "One two. Three four five."


def test_a_longer_sentence_is_a_passage_of_its_own() -> None:
    found = passages(BODY, [SECTION], max_words=2)
    assert [texts(p) for p in found] == [["Seven eight nine ten."], ["Eleven."]]


PROSE = st.lists(
    st.lists(st.sampled_from(["Aa", "bb", "cc."]), min_size=1, max_size=9).map(" ".join), max_size=5
).map("\n".join)


@given(PROSE, st.integers(1, 6))
def test_passages_hold_every_sentence_once_and_are_no_longer_than_allowed(body: str, most: int) -> None:
    found = passages(body, [(0, len(body))], most)
    assert "".join("".join(body[a:b].split()) for p in found for a, b in p.sentences) == "".join(body.split())
    for passage in found:
        length = sum(count_words(body, sentence) for sentence in passage.sentences)
        assert length <= most or len(passage.sentences) == 1


@given(PROSE, st.integers(0, 50), st.integers(1, 3))
def test_ict_takes_a_long_enough_sentence_of_a_passage_that_keeps_others(
    body: str, seed: int, least: int
) -> None:
    options = ict.OPTIONS(type="ict", groups_per_document=None)
    found = passages(body, [(0, len(body))], 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("irpretrain.objectives.passages.MINIMUM_QUERY_WORDS", least)
        choices = ict.choose(body, found, options, np.random.default_rng(seed))
    assert all(
        choice.sentence in choice.passage.sentences
        and len(choice.passage.sentences) > 1
        and count_words(body, choice.sentence) >= least
        and choice.excludes_sentence
        for choice in choices
    )
    able = [
        p for p in found if len(p.sentences) > 1 and any(count_words(body, s) >= least for s in p.sentences)
    ]
    assert [choice.passage for choice in choices] == able


@pytest.mark.usefixtures("queries_of_one_word")
def test_ict_can_leave_the_sentence_in() -> None:
    options = ict.OPTIONS(type="ict", keep_sentence=0.5, groups_per_document=1)
    found = passages(BODY, [LEAD], 9)
    retained = [
        not ict.choose(BODY, found, options, np.random.default_rng(seed))[0].excludes_sentence
        for seed in range(200)
    ]
    assert 60 < sum(retained) < 140


@pytest.mark.usefixtures("queries_of_one_word")
def test_bfs_takes_sentences_of_the_lead_and_passages_of_the_whole_article() -> None:
    options = bfs.OPTIONS(type="bfs", groups_per_document=None)
    found = passages(BODY, [LEAD, SECTION], 5)
    seen = set()
    for seed in range(100):
        choices = bfs.choose(BODY, found, options, np.random.default_rng(seed))
        assert [BODY[slice(*choice.sentence)] for choice in choices] == [
            "One two.",
            "Three four five.",
            "Six.",
        ]
        for choice in choices:
            assert choice.excludes_sentence == (choice.sentence in choice.passage.sentences)
            assert choice.passage.sentences != (choice.sentence,)
            seen.add((choice.sentence, choice.passage))
    assert len(seen) == 3 * 3 - 1


@pytest.mark.usefixtures("queries_of_one_word")
def test_bfs_needs_more_than_the_sentence() -> None:
    options = bfs.OPTIONS(type="bfs")
    assert bfs.choose("One two.", passages("One two.", [(0, 8)], 5), options, np.random.default_rng(1)) == []
