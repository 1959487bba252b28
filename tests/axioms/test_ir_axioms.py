"""Against webis-de's `ir_axioms`, where its axioms for one query and two documents order these as our values do.

To run it: pip install --no-deps --target FOLDER ir_axioms==1.2.5, and IR_AXIOMS=FOLDER in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
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


TOOLS = {"text_contents": Words(), "term_tokenizer": Words(), "text_statistics": Words()}


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


def first_terms(random: np.random.Generator, most: int) -> str:
    return " ".join(TERMS[: random.integers(1, most + 1)])


Draw = Callable[[np.random.Generator], tuple[str, list[str]]]
"""A random query with two documents, and perhaps more of the collection."""


def assert_agrees(
    folder: Path, axiom: Axiom, their_axiom: Any, draw: Draw, vectors: Vectors | None = None
) -> None:
    random, seen = np.random.default_rng(1), set()
    for case in range(CASES):
        query, texts = draw(random)
        expected = their_axiom.preference(query, *texts[:2])
        assert ours(folder / str(case), axiom, query, texts, vectors) == expected, (query, texts)
        seen.add(expected)
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
    axiom = theirs.Tfc1Axiom(**TOOLS, precondition=None, margin_fraction=0.0)

    def draw(random: np.random.Generator) -> tuple[str, list[str]]:
        more = [random.choice([*TERMS, "x"], random.integers(5)) for _ in range(2)]
        return first_terms(random, 3), [*(shuffled(random, [*TERMS, *words]) for words in more), "x"]

    assert_agrees(tmp_path, "REP-TFIDF", axiom, draw)


def test_reg_of_words_in_classes(theirs: SimpleNamespace, tmp_path: Path) -> None:
    """Vectors of two words are equal or at right angles. Then the term that is least like each other one in the mean is
    least like their mean too. Of several such terms theirs asks all of them, ours the rarest."""
    axes = np.eye(3)
    random, seen, alone = np.random.default_rng(4), set(), 0
    for case in range(CASES):
        vectors = {term: tuple(axes[random.integers(3)]) for term in TERMS}
        like = similarity(theirs, vectors)
        axiom = theirs.RegAxiom(**TOOLS, term_similarity=like, precondition=None)
        query = first_terms(random, 4)
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
    near, far = ([f"{kind}{i}" for i in range(6)] for kind in ("near", "far"))
    vectors: Vectors = dict.fromkeys([*TERMS, *near], (1.0, 0.0)) | dict.fromkeys(far, (0.0, 1.0))
    axiom = theirs.Stmc1Axiom(
        text_contents=Words(), term_tokenizer=Words(), term_similarity=similarity(theirs, vectors)
    )

    def draw(random: np.random.Generator) -> tuple[str, list[str]]:
        texts = [shuffled(random, [*near[:count], *far[count:]]) for count in random.integers(0, 7, 2)]
        return first_terms(random, 3), [*texts, " ".join(TERMS)]

    assert_agrees(tmp_path, "STM-1", axiom, draw, vectors)
