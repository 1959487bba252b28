"""What an axiom prefers when one thing changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from axiom_cases import Vectors, make_batch, plain_options, values_of

from irpretrain.axioms.preferences import DEFINITIONS, larger_is_better, preferences
from irpretrain.config.axioms import AXIOMS, Axiom
from irpretrain.foundation.contracts import AXIOM_VALUES


def preference(
    folder: Path,
    axiom: Axiom,
    first: str,
    second: str,
    texts: list[str],
    vectors: Vectors | None = None,
    threshold: float = 0.05,
) -> int:
    """Return which of two queries an axiom prefers for the first document: 1, -1 or 0."""
    batch = make_batch(folder, texts, [(first, 0), (second, 0)], plain_options(), vectors)
    values = larger_is_better(pa.table(values_of(batch) | {"rank": np.ones(2, np.int32)}))
    return int(preferences(values, np.array([0]), np.array([1]), threshold)[0, AXIOMS.index(axiom)])


def test_every_axiom_has_a_column() -> None:
    assert tuple(DEFINITIONS) == AXIOMS
    columns = [definition.column for definition in DEFINITIONS.values()]
    assert columns == AXIOM_VALUES.schema.names[-9:]


@pytest.mark.parametrize("axiom", ["REP-QL", "REP-TFIDF", "REG"])
def test_another_occurrence_makes_a_term_better(tmp_path: Path, axiom: Axiom) -> None:
    # Both words are in as many documents.
    others = ["a b", "x", "x"]
    assert preference(tmp_path / "1", axiom, "a", "b", ["a b x x", *others]) == 0
    assert preference(tmp_path / "2", axiom, "a", "b", ["a b a x", *others]) == 1


@pytest.mark.parametrize("axiom", ["REP-QL", "REP-TFIDF"])
def test_a_term_in_more_documents_is_likelier_and_weighs_less(tmp_path: Path, axiom: Axiom) -> None:
    texts = ["a b x x", "a", "x", "x"]
    assert preference(tmp_path, axiom, "a", "b", texts) == (1 if axiom == "REP-QL" else -1)


def test_prox_2_prefers_a_term_that_is_moved_forward(tmp_path: Path) -> None:
    assert preference(tmp_path / "1", "PROX-2", "a b", "c d", ["a c d b"]) == 0
    assert preference(tmp_path / "2", "PROX-2", "a b", "c d", ["a b c d"]) == 1
    assert preference(tmp_path / "3", "PROX-2", "a b", "a c", ["a b c d"]) == 1


@pytest.mark.parametrize("axiom", ["PROX-1", "PROX-2"])
def test_a_missing_term_loses_against_any_distance_and_ties_with_another(
    tmp_path: Path, axiom: Axiom
) -> None:
    texts = ["x a x x x x x b"]
    assert preference(tmp_path / "1", axiom, "a b", "a zebra", texts) == 1
    assert preference(tmp_path / "2", axiom, "a gnu", "a zebra", texts) == 0


SYNONYMS: Vectors = {"car": (1.0, 0.5), "auto": (1.0, 0.5), "tree": (0.0, 1.0), "road": (1.0, 0.0)}


@pytest.mark.parametrize("axiom", ["STM-1", "STM-3"])
def test_a_word_that_is_nearer_in_meaning_is_better(tmp_path: Path, axiom: Axiom) -> None:
    texts = ["car road road", "auto tree"]
    assert preference(tmp_path, axiom, "auto", "tree", texts, SYNONYMS) == 1


@pytest.mark.parametrize("axiom", ["STM-2", "REP-QL", "REP-TFIDF", "PROX-1", "PROX-2", "REG"])
def test_a_synonym_that_the_document_lacks_is_worse_where_words_count(tmp_path: Path, axiom: Axiom) -> None:
    texts = ["car road road tree", "auto", "x"]
    assert preference(tmp_path, axiom, "car road", "auto road", texts, SYNONYMS) == 1


def test_stm_2_says_nothing_where_meanings_differ(tmp_path: Path) -> None:
    texts = ["car road road", "auto tree"]
    queries = ("car", "tree")
    assert preference(tmp_path / "1", "STM-2", *queries, texts, SYNONYMS) == 0
    assert preference(tmp_path / "2", "STM-2", *queries, texts, SYNONYMS, threshold=2.0) == 1


def test_reg_prefers_a_document_that_covers_the_odd_term(tmp_path: Path) -> None:
    vectors = {"car": (1.0, 0.1), "auto": (1.0, 0.0), "tree": (0.0, 1.0), "leaf": (0.0, 1.0)}
    texts = ["car auto tree tree leaf", "x"]
    assert preference(tmp_path, "REG", "car auto tree", "car auto leaf", texts, vectors) == 1
