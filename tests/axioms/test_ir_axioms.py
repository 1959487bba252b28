"""Against webis-de's `ir_axioms`, where its axioms for one query and two documents order these as our values do.

To run it: pip install --no-deps --target FOLDER ir_axioms==1.2.5, and IR_AXIOMS=FOLDER in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from axiom_cases import Vectors, make_batch, plain_options, values_of
from foreign_axioms import load_axioms

from irpretrain import Collection, Options
from irpretrain.axioms.preferences import DEFINITIONS, larger_is_better
from irpretrain.config.axioms import AXIOMS, Axiom

FOLDER = os.environ.get("IR_AXIOMS")
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="IR_AXIOMS names no folder with webis-de's ir_axioms, which needs NumPy 1"
)
CASES = 80
TERMS = ["a", "b", "c", "d"]
ONE_CLASS: Vectors = dict.fromkeys(TERMS, (1.0, 0.0))


@pytest.fixture(scope="module")
def theirs() -> SimpleNamespace:
    return load_axioms(Path(str(FOLDER)))


class Words:
    """What the axioms ask of texts: contents, their words, and frequencies."""

    def contents(self, text: str) -> str:
        return text

    def terms(self, text: str) -> list[str]:
        return text.split()

    terms_unordered = terms

    def unique_terms(self, text: str) -> set[str]:
        return set(text.split())

    def term_frequency(self, text: str, term: str) -> int:
        return text.split().count(term)


def similarity(theirs: SimpleNamespace, vectors: Vectors) -> Any:
    class Cosine(theirs.TermSimilarity):
        def similarity(self, term1: str, term2: str) -> float:
            return float(np.dot(vectors[term1], vectors[term2]))  # unit vectors

    return Cosine()


def ours(folder: Path, axiom: Axiom, query: str, texts: Sequence[str], vectors: Vectors | None = None) -> int:
    """Return 1 if our value of the query is better for the first document, -1 for the second, 0 if they are equal."""
    options = plain_options(missing_terms="skipped")
    batch = make_batch(folder, texts, [(query, 0), (query, 1)], options, vectors)
    found = larger_is_better(pa.table(values_of(batch) | {"rank": np.ones(2, np.int32)}))
    first, second = found[:, AXIOMS.index(axiom)]
    return int(first > second) - int(first < second)


def shuffled(random: np.random.Generator, words: Sequence[str]) -> str:
    return " ".join(random.permutation(words))


def test_prox_1_of_terms_that_occur_once(theirs: SimpleNamespace, tmp_path: Path) -> None:
    axiom = theirs.Prox1Axiom(text_contents=Words(), term_tokenizer=Words())
    random, seen = np.random.default_rng(1), set()
    for case in range(CASES):
        query = " ".join(TERMS[: random.integers(2, 5)])
        texts = [shuffled(random, [*TERMS, *["x"] * random.integers(4)]) for _ in range(2)]
        expected = axiom.preference(query, *texts)
        assert ours(tmp_path / str(case), "PROX-1", query, texts) == expected, (query, texts)
        seen.add(expected)
    assert seen == {-1, 0, 1}


def test_prox_2_of_documents_that_hold_the_same_terms(theirs: SimpleNamespace, tmp_path: Path) -> None:
    axiom = theirs.Prox2Axiom(text_contents=Words(), term_tokenizer=Words())
    random, seen, compared = np.random.default_rng(2), set(), 0
    for case in range(CASES):
        query = " ".join(random.permutation(TERMS)[: random.integers(2, 5)])
        texts = [" ".join(random.choice([*TERMS[:3], "x"], random.integers(5, 11))) for _ in range(2)]
        held = [set(query.split()) & set(text.split()) for text in texts]
        if held[0] != held[1] or len(held[0]) < 2:
            continue  # theirs says nothing
        expected = axiom.preference(query, *texts)
        assert ours(tmp_path / str(case), "PROX-2", query, texts) == expected, (query, texts)
        seen.add(expected)
        compared += 1
    assert compared > CASES / 4
    assert seen == {-1, 0, 1}


@pytest.mark.parametrize("axiom", ["PROX-1", "PROX-2"])
def test_prox_of_any_two_documents(theirs: SimpleNamespace, axiom: Axiom) -> None:
    """`Collection.axiom_preferences`: documents that lack terms of the query, too; of PROX-1 terms occur once."""
    kind = theirs.Prox1Axiom if axiom == "PROX-1" else theirs.Prox2Axiom
    other = kind(text_contents=Words(), term_tokenizer=Words())
    random, fruit, words = np.random.default_rng(6), ["fig", "kiwi", "lime", "plum"], ["oak", "elm", "ash"]
    queries = [" ".join(random.permutation(fruit)[: random.integers(1, 4)]) for _ in range(CASES)]
    texts = [" ".join(random.permutation(fruit + words)[: random.integers(3, 8)]) for _ in range(2 * CASES)]
    if axiom == "PROX-2":
        texts = [f"{text} {random.choice(fruit)}" for text in texts]
    options = Options(axioms={"stemming": "none"}, word_vectors={"minimum_count": 1, "dimensions": 4})
    pairs = [(query, 2 * case, 2 * case + 1) for case, query in enumerate(queries)]
    found = Collection(texts, options).axiom_preferences(pairs)[DEFINITIONS[axiom].column]
    expected = [other.preference(query, texts[first], texts[second]) for query, first, second in pairs]
    assert found.tolist() == expected
    assert set(expected) == {-1, 0, 1}
    assert 10 < sum(_lacks(query, texts[first], texts[second]) for query, first, second in pairs) < CASES - 10


def _lacks(query: str, *texts: str) -> bool:
    """Whether the documents hold different terms of the query, or fewer than two."""
    first, second = (set(query.split()) & set(text.split()) for text in texts)
    return first != second or len(first) < 2


def test_rep_tfidf_of_terms_that_are_equally_rare(theirs: SimpleNamespace, tmp_path: Path) -> None:
    """TFC1 without its margin and its condition on lengths: the sum of term frequencies."""
    tools = {"text_contents": Words(), "term_tokenizer": Words(), "text_statistics": Words()}
    axiom = theirs.Tfc1Axiom(**tools, precondition=None, margin_fraction=0.0)
    random, seen = np.random.default_rng(3), set()
    for case in range(CASES):
        query = " ".join(TERMS[: random.integers(1, 4)])
        texts = [
            shuffled(random, [*TERMS, *random.choice([*TERMS, "x"], random.integers(5))]) for _ in range(2)
        ]
        expected = axiom.preference(query, *texts)
        assert ours(tmp_path / str(case), "REP-TFIDF", query, [*texts, "x"]) == expected, (query, texts)
        seen.add(expected)
    assert seen == {-1, 0, 1}


def test_reg_of_words_in_classes(theirs: SimpleNamespace, tmp_path: Path) -> None:
    """Vectors of two words are equal or at right angles. Then the term that is least like each other one in the mean is
    least like their mean too. Of several such terms theirs asks all of them, ours the rarest."""
    axes = np.eye(3)
    random, seen, alone = np.random.default_rng(4), set(), 0
    for case in range(CASES):
        vectors = {term: tuple(axes[random.integers(3)]) for term in TERMS}
        like = similarity(theirs, vectors)
        tools = {"text_contents": Words(), "term_tokenizer": Words(), "text_statistics": Words()}
        axiom = theirs.RegAxiom(**tools, term_similarity=like, precondition=None)
        query = " ".join(TERMS[: random.integers(1, 5)])
        texts = [shuffled(random, random.choice([*TERMS, "x"], 7)) for _ in range(2)]
        expected = axiom.preference(query, *texts)
        found = ours(tmp_path / str(case), "REG", query, [*texts, " ".join(TERMS)], vectors)
        only = len(like.min_average_similarity_terms(set(query.split()))) == 1
        if only or expected != 0:
            assert found == expected, (query, texts, vectors)
            seen.add(expected)
            alone += only
    assert alone > CASES / 4
    assert seen == {-1, 0, 1}


def test_stm_1_of_a_query_of_one_class(theirs: SimpleNamespace, tmp_path: Path) -> None:
    """Documents of six different words, of the query's class or of another: the more of its class, the more alike."""
    vectors = {**{f"near{i}": (1.0, 0.0) for i in range(6)}, **{f"far{i}": (0.0, 1.0) for i in range(6)}}
    vectors |= ONE_CLASS
    like = similarity(theirs, vectors)
    axiom = theirs.Stmc1Axiom(text_contents=Words(), term_tokenizer=Words(), term_similarity=like)
    random, seen = np.random.default_rng(5), set()
    for case in range(CASES):
        query = " ".join(TERMS[: random.integers(1, 4)])
        texts = [
            shuffled(random, [*(f"near{i}" for i in range(near)), *(f"far{i}" for i in range(6 - near))])
            for near in random.integers(0, 7, 2)
        ]
        expected = axiom.preference(query, *texts)
        assert ours(tmp_path / str(case), "STM-1", query, [*texts, " ".join(TERMS)], vectors) == expected
        seen.add(expected)
    assert seen == {-1, 0, 1}
