"""TextRank: PageRank by hand and by networkx, its scaling, and texts without words."""

from pathlib import Path

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lucene import OPTIONS, TEXT

from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.retrieval import textrank
from irpretrain.retrieval.textrank import text_rank, weigh_by_textrank
from small_documents import write_documents


def reference(words: list[str], window: int, damping: float) -> dict[str, float]:
    graph = networkx.Graph()
    graph.add_nodes_from(word for word in words if word)
    for position, word in enumerate(words):
        for other in words[position + 1 : position + window]:
            if word and other and word != other:
                count = graph.edges[word, other]["weight"] if graph.has_edge(word, other) else 0
                graph.add_edge(word, other, weight=count + 1)
    return networkx.pagerank(graph, damping, tol=1e-10, max_iter=1000) if graph else {}


@given(
    words=st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), max_size=25),
    window=st.integers(2, 5),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
)
def test_ranks_are_networkx_s(words: list[str], window: int, damping: float) -> None:
    ranks = text_rank(words, window, damping)
    assert ranks == pytest.approx(reference(words, window, damping), abs=1e-7)
    assert list(ranks) == list(dict.fromkeys(word for word in words if word))


def test_ranks_by_hand() -> None:
    """a - b - c: the middle word is linked from both ends."""
    ranks = text_rank(["a", "b", "c"], 2, 0.85)
    end = (0.05 + 0.425 * ranks["b"]) / 1
    assert ranks == pytest.approx({"a": end, "b": 0.05 + 0.85 * 2 * end, "c": end}, abs=1e-8)
    assert text_rank(["a", "", "b"], 2, 0.85) == {"a": 0.5, "b": 0.5}
    assert text_rank([], 4, 0.85) == {}


def test_weights_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = {"d1": "The cats and dogs; cat birds", "none": "", "stops": "the of", "one": "Zoos!"}
    documents = write_documents(tmp_path / "documents.parquet", bodies)
    monkeypatch.setattr(textrank, "WINDOW", 3)
    counts = weigh_by_textrank(documents, OPTIONS, TEXT, tmp_path / "vectors.parquet")
    assert counts == {"documents": 4, "documents_without_terms": 2, "terms": 4, "terms_dropped": 0}
    rows = TERM_VECTORS.read(tmp_path / "vectors.parquet").to_pylist()
    assert [row["document_id"] for row in rows] == list(bodies)
    found = [{term["term"]: term["weight"] for term in row["terms"]} for row in rows]
    # the cats and dogs cat birds: cat-dog at distance 2 and 1, cat-bird at 1, dog-bird at 2
    # So bird = 0.05 + 0.85·2·cat/3 with cat = dog = (1 - bird)/2: bird = 0.2597, cat = 0.3701.
    assert found[0] == {"cats": 37, "dogs": 37, "birds": 26}
    assert found[1:] == [{}, {}, {"zoos": 100}]


@pytest.mark.parametrize(
    ("text", "scale", "weights"),
    [("alpha beta", 25, [12, 12]), ("alpha beta", 27, [14, 14]), ("alpha beta gamma", 1, [])],
)
def test_halves_are_rounded_to_the_even_number_and_zeros_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, scale: int, weights: list[int]
) -> None:
    """The words of a text of equal words have equal ranks, 1/2 or 1/3."""
    documents = write_documents(tmp_path / "documents.parquet", {"d": text})
    monkeypatch.setattr(textrank, "SCALE", scale)
    counts = weigh_by_textrank(documents, OPTIONS, TEXT, tmp_path / "vectors.parquet")
    [row] = TERM_VECTORS.read(tmp_path / "vectors.parquet").to_pylist()
    assert [term["weight"] for term in row["terms"]] == weights
    dropped = len(text.split()) - len(weights)
    assert counts.items() >= {"documents_without_terms": not weights, "terms_dropped": dropped}.items()
