"""The axioms of webis-de's `ir_axioms`, taken out of its folder without what it depends on.

The package needs NumPy 1 and some twenty other packages, so it cannot stand in this environment. Its axioms are plain
Python over words, and run when the names that their files import are there: `injector`, `numpy.float_`, and packages
whose own `__init__` is not run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, TypeVar
from unittest.mock import patch

import numpy as np

PACKAGES = ("", ".axiom", ".axiom.retrieval", ".precondition", ".utils", ".tools", ".tools.contents")
PACKAGES += (".tools.tokenizer", ".tools.similarity", ".tools.text_statistics")
TOOLS = {
    "contents": ["TextContents"],
    "tokenizer": ["TermTokenizer"],
    "similarity": ["TermSimilarity"],
    "text_statistics": ["TextStatistics"],
}
FAMILIES = ("proximity", "query_aspects", "term_similarity", "term_frequency")


def load_axioms(folder: Path) -> SimpleNamespace:
    """Return the axioms' classes by name, and `TermSimilarity`, from the folder that holds `ir_axioms`."""
    with _modules():
        for name in PACKAGES:
            _package(f"ir_axioms{name}", folder)
        tools = sys.modules["ir_axioms.tools"]
        for package, names in TOOLS.items():
            module = importlib.import_module(f"ir_axioms.tools.{package}.base")
            for name in names:
                setattr(tools, name, getattr(module, name))
        tools.IndexStatistics = object
        found = {"TermSimilarity": tools.TermSimilarity}
        for family in FAMILIES:
            module = importlib.import_module(f"ir_axioms.axiom.retrieval.{family}")
            found |= {name: value for name, value in vars(module).items() if name.endswith("Axiom")}
    return SimpleNamespace(**found)


@contextmanager
def _modules() -> Iterator[None]:
    """Let the files of the package be imported; afterwards no module of theirs, or stand-in, is left behind."""
    kind = TypeVar("kind")
    injector = ModuleType("injector")
    injector.inject, injector.NoInject = lambda cls: cls, Annotated[kind, "not injected"]
    lazy = ModuleType("ir_axioms.utils.lazy")
    lazy.lazy_inject = lambda cls: cls
    pivot = ModuleType("ir_axioms.tools.pivot")
    pivot.PivotSelection = pivot.RandomPivotSelection = dict  # made, and subscripted, in a default argument
    length = ModuleType("ir_axioms.precondition.length")
    length.LEN = object
    stand_ins = {module.__name__: module for module in (injector, lazy, pivot, length)}
    with patch.dict(sys.modules, stand_ins), patch.object(np, "float_", np.float64, create=True):
        yield


def _package(name: str, folder: Path) -> None:
    module: Any = ModuleType(name)
    module.__path__ = [str(folder.joinpath(*name.split(".")))]
    sys.modules[name] = module
