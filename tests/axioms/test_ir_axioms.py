"""PROX against webis-de's `ir_axioms`, whose axioms prefer one of two documents for a query.

To run it: pip install --no-deps --target FOLDER ir_axioms==1.2.5, and IR_AXIOMS=FOLDER in the environment. The package
needs NumPy 1 and some twenty other packages, so it cannot stand in this environment. Its axioms are plain Python over
words: they run when the names that their files import are there.
"""

import importlib
import os
import sys
from types import ModuleType
from typing import Annotated, Any, TypeVar
from unittest.mock import patch

import numpy as np
import pytest

from irpretrain import Collection, Options
from irpretrain.axioms.preferences import DEFINITIONS
from irpretrain.config.axioms import Axiom

FOLDER = os.environ.get("IR_AXIOMS")
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="IR_AXIOMS names no folder with webis-de's ir_axioms, which needs NumPy 1"
)
CASES = 80
# Packages of theirs whose own `__init__` is not run.
PACKAGES = (
    "",
    ".axiom",
    ".axiom.retrieval",
    ".precondition",
    ".utils",
    ".tools",
    ".tools.contents",
    ".tools.tokenizer",
)


def load_axioms() -> ModuleType:
    """Import their axioms of proximity; afterwards no module of theirs, or stand-in, is left behind."""
    stand_ins = {
        name: ModuleType(name) for name in ("injector", "ir_axioms.utils.lazy", "ir_axioms.tools.pivot")
    }
    injector, lazy, pivot = stand_ins.values()
    injector.inject, injector.NoInject = lambda cls: cls, Annotated[TypeVar("kind"), "not injected"]
    lazy.lazy_inject = lambda cls: cls
    pivot.PivotSelection = pivot.RandomPivotSelection = dict  # made, and subscripted, in a default argument
    with patch.dict(sys.modules, stand_ins), patch.object(np, "float_", np.float64, create=True):
        for name in PACKAGES:
            module: Any = ModuleType(f"ir_axioms{name}")
            module.__path__ = [os.path.join(str(FOLDER), *module.__name__.split("."))]
            sys.modules[module.__name__] = module
        tools = sys.modules["ir_axioms.tools"]
        tools.TextContents = importlib.import_module("ir_axioms.tools.contents.base").TextContents
        tools.TermTokenizer = importlib.import_module("ir_axioms.tools.tokenizer.base").TermTokenizer
        return importlib.import_module("ir_axioms.axiom.retrieval.proximity")


class Words:
    """What the axioms ask of texts: contents and their words."""

    def contents(self, text: str) -> str:
        return text

    def terms(self, text: str) -> list[str]:
        return text.split()

    terms_unordered = terms

    def unique_terms(self, text: str) -> set[str]:
        return set(text.split())


@pytest.mark.parametrize(("axiom", "theirs"), [("PROX-1", "Prox1Axiom"), ("PROX-2", "Prox2Axiom")])
def test_prox_of_any_two_documents(axiom: Axiom, theirs: str) -> None:
    """`Collection.axiom_preferences`: documents that lack terms of the query, too; of PROX-1 terms occur once."""
    other = getattr(load_axioms(), theirs)(text_contents=Words(), term_tokenizer=Words())
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
