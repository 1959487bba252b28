"""Queries and documents of the axioms in other languages: words, stop words and stems are those of the statistics."""

from itertools import pairwise
from pathlib import Path

from axiom_cases import make_batch

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig


def held(folder: Path, language: str, body: str, query: str) -> tuple[list[str], list[list[int]]]:
    """Terms of a query that its document holds, and their places in it."""
    text = TextConfig(words="alphanumeric", language=language)
    batch = make_batch(folder, [body, "."], [(query, 0)], AxiomsConfig(), text=text)
    terms, offsets = batch.queries.terms.tolist(), batch.term_positions.offsets.tolist()
    positions = [batch.term_positions.positions[start:end].tolist() for start, end in pairwise(offsets)]
    names = [batch.collection.terms.names[term] if term >= 0 else "" for term in terms]
    return names, positions


def test_a_german_query_in_other_forms(tmp_path: Path) -> None:
    """The collection lacks the words stadt and hauses, but has their stems; die and der are stop words."""
    found = held(
        tmp_path, "german", "Die Häuser der Städte. Die Stadtmauer der Städte.", "die Stadt des Hauses Ulm"
    )
    assert found == (["haus", "stadt", ""], [[1], [3, 7], []])


def test_a_chinese_query_has_the_pairs_of_its_letters(tmp_path: Path) -> None:
    assert held(tmp_path, "chinese", "北京大学。大学", "大学城") == (["大学", ""], [[2, 3], []])
