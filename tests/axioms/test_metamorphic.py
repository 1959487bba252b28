"""One change to any document or query, and which way it moves every axiom: more occurrences, other places, synonyms."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from axiom_cases import Vectors, make_batch, plain_options, values_of
from hypothesis import given
from hypothesis import strategies as st
from test_compute import Files

from irpretrain.axioms.preferences import larger_is_better, preferences
from irpretrain.config.axioms import AXIOMS, Axiom
from irpretrain.foundation.contracts import AXIOM_VALUES

TERMS = "abcd"
FILLER = "x"
"""Stands in no query; the last word of every document, so that its document frequency never changes."""
BAG: tuple[Axiom, ...] = ("REP-QL", "REP-TFIDF", "REG", "STM-1", "STM-2", "STM-3")
"""Axioms that do not look at places (RANK is another)."""

words = st.lists(st.sampled_from([*TERMS, FILLER]), max_size=8)
vectors_strategy = st.fixed_dictionaries(
    {term: st.tuples(st.integers(-2, 2), st.integers(-2, 2)) for term in TERMS}
)


class Case(NamedTuple):
    """Texts, of which the first holds the terms of the first query, and a filler before them; and two queries of two
    terms each, which have none in common."""

    texts: list[str]
    queries: list[str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    order = draw(st.permutations(TERMS))
    own, held = order[:2], order if draw(st.booleans()) else order[:2]
    first = draw(st.permutations([*own, *draw(st.lists(st.sampled_from([*held, FILLER]), max_size=6))]))
    others = draw(st.lists(words, max_size=3))
    texts = [" ".join(found) for found in ([FILLER, *first, FILLER], *([*other, FILLER] for other in others))]
    return Case(texts, [" ".join(own), " ".join(order[2:])])


def values(folder: Path, texts: list[str], queries: list[str], vectors: Vectors | None = None) -> np.ndarray:
    """Return the values of queries for the first document, larger being better (float64 [queries, 9], without RANK)."""
    found = values_of(make_batch(folder, texts, [(query, 0) for query in queries], plain_options(), vectors))
    return larger_is_better(pa.table(found | {"rank": np.ones(len(queries), np.int32)}))


def of(found: np.ndarray, axiom: Axiom) -> list[float]:
    return found[:, AXIOMS.index(axiom)].tolist()


def with_one_more(text: str, term: str) -> str:
    """Put a term in place of the first filler."""
    return text.replace(FILLER, term, 1)


@given(cases(), vectors_strategy)
def test_another_occurrence_of_a_term_never_makes_its_query_worse(
    tmp_path_factory: pytest.TempPathFactory, case: Case, vectors: Vectors
) -> None:
    texts, queries = case
    folder, term = tmp_path_factory.mktemp("case"), queries[0][0]
    changed = [with_one_more(texts[0], term), *texts[1:]]
    before = values(folder / "1", texts, [*queries, term], vectors)
    after = values(folder / "2", changed, [*queries, term], vectors)
    for axiom in ("REP-QL", "REP-TFIDF", "REG", "STM-2"):
        own, other, _ = zip(of(before, axiom), of(after, axiom), strict=True)
        assert own[1] >= own[0], axiom
        assert other[1] == other[0], axiom  # nothing has changed for the other query
    assert of(after, "REP-QL")[0] > of(before, "REP-QL")[0]
    both = np.array([0]), np.array([1])
    reported = [preferences(found, *both, math.inf)[0] for found in (before, after)]
    for axiom in ("REP-QL", "REP-TFIDF", "REG", "STM-2"):
        assert reported[1][AXIOMS.index(axiom)] >= reported[0][AXIOMS.index(axiom)], axiom
    # The document's mean vector turns towards the term's.
    assert of(after, "STM-1")[2] >= of(before, "STM-1")[2]
    assert of(after, "STM-3")[2] >= of(before, "STM-3")[2]


@given(cases(), vectors_strategy)
def test_a_term_that_is_moved_forward_makes_its_query_better_by_prox_2_alone(
    tmp_path_factory: pytest.TempPathFactory, case: Case, vectors: Vectors
) -> None:
    texts, queries = case
    folder, term, found = tmp_path_factory.mktemp("case"), queries[0][0], texts[0].split()
    here, there = found.index(FILLER), found.index(term)
    found[here], found[there] = term, FILLER
    before = values(folder / "1", texts, queries, vectors)
    after = values(folder / "2", [" ".join(found), *texts[1:]], queries, vectors)
    assert of(after, "PROX-2")[0] == of(before, "PROX-2")[0] + (there - here) / 2
    assert of(after, "PROX-2")[1] == of(before, "PROX-2")[1]
    for axiom in BAG:
        assert of(after, axiom) == of(before, axiom), axiom


@given(cases(), vectors_strategy)
def test_a_synonym_in_the_query_keeps_its_meaning_and_loses_its_matches(
    tmp_path_factory: pytest.TempPathFactory, case: Case, vectors: Vectors
) -> None:
    """The synonym has the term's vector, and is in another document only."""
    texts, queries = case
    folder, (term, rest) = tmp_path_factory.mktemp("case"), queries[0].split()
    requested = [f"{term} {rest}", f"synonym {rest}"]
    found = values(folder, [*texts, "synonym x"], requested, {**vectors, "synonym": vectors[term]})
    for axiom in ("STM-1", "STM-3"):
        own, other = of(found, axiom)
        assert own == other, axiom
    own, other = of(found, "STM-2")
    assert other == own - 0.5
    assert preferences(found, np.array([0]), np.array([1]), 0.05)[0, AXIOMS.index("STM-2")] == 1
    for axiom in ("REP-TFIDF", "REG", "PROX-1", "PROX-2"):
        own, other = of(found, axiom)
        assert other <= own, axiom


def ranks(folder: Path, texts: list[str], queries: list[str]) -> list[float]:
    """Return RANK of queries for the first document, larger (nearer to 1, negated) being better."""
    _, output = Files(folder, texts, plain_options(rank_depth=3)).compute([(query, 0) for query in queries])
    return of(larger_is_better(AXIOM_VALUES.read(output)), "RANK")


@given(cases(), st.randoms(use_true_random=False))
def test_another_occurrence_never_lowers_the_rank_and_positions_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, case: Case, random: Random
) -> None:
    texts, queries = case
    folder, term = tmp_path_factory.mktemp("case"), queries[0][0]
    changed = with_one_more(texts[0], term)
    shuffled = texts[0].split()
    random.shuffle(shuffled)
    before, more, moved = (
        ranks(folder / name, [text, *texts[1:]], queries)
        for name, text in (("1", texts[0]), ("2", changed), ("3", " ".join(shuffled)))
    )
    assert more[0] >= before[0]
    assert more[1] == before[1]
    assert moved == before
