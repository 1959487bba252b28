"""The builder of synthetic wikis lies beside the tests of the graph."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "wikipedia"))


def allow_short_queries(patch: pytest.MonkeyPatch, words: int) -> None:
    for module in ("passages", "wlp"):
        patch.setattr(f"irpretrain.objectives.{module}.MINIMUM_QUERY_WORDS", words)


@pytest.fixture
def queries_of_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a sentence of one word be a query: the texts of tests are short."""
    allow_short_queries(monkeypatch, 1)


@pytest.fixture
def queries_of_two_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a sentence of two words be a query."""
    allow_short_queries(monkeypatch, 2)
