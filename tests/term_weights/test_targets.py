"""Query-term recall and term recall of five-word texts, by hand."""

import pytest
from small_weights import TEXT, weighting

from irpretrain.config.term_weights import TermLabelsConfig
from irpretrain.foundation.contracts import TERM_TARGETS
from irpretrain.foundation.errors import InputError
from irpretrain.retrieval.term_weights.targets import passage_targets, query_targets
from irpretrain.retrieval.term_weights.weighing import make_targets

PASSAGES = {
    "p1": "The cats chase grey mice",
    "p2": "rain falls on dry roofs",
    "p3": "nobody asks for this one",
}
ASKED = {
    "q1": ("chasing cat", ["p1"]),
    "q2": ("grey cats", ["p1"]),
    "q3": ("the roof", ["p2"]),
    "q4": ("what is the mouse chasing", ["p1"]),
    "q5": ("where the cat sleeps", ["p1"]),
}


def rows_of(path):
    return TERM_TARGETS.read(path).to_pylist()


@pytest.fixture
def targets(tmp_path, make_documents, make_queries):
    """Return a function that makes the passages' targets with some options."""

    def make(**options):
        queries, qrels = make_queries(ASKED)
        output = tmp_path / "targets.parquet"
        counts = passage_targets(
            [make_documents(PASSAGES)], queries, qrels, TermLabelsConfig(**options), TEXT, output
        )
        return rows_of(output), counts

    return make


def test_query_term_recall_by_stems(targets):
    (first, second), counts = targets()
    # the: q4 and q5; cats: q1, q2 and q5; chase: q1 and q4; grey: q2; mice is no stem of mouse.
    assert first["targets"] == [0.5, 0.75, 0.5, 0.25, 0.0]
    assert second["targets"] == [0, 0, 0, 0, 1]
    assert (first["judged"], second["judged"]) == (4, 1)
    assert counts == {
        "texts": 2, "words": 10, "words_above_zero": 5, "rows": 2, "queries": 5, "documents_not_in_corpus": 0
    }  # fmt: skip


def test_stop_words_have_target_0(targets):
    rows, _ = targets(stop_list="inquery")
    assert rows[0]["targets"] == [0, 0.75, 0.5, 0.25, 0]


def test_a_row_a_pair_has_targets_0_or_1(targets):
    rows, _ = targets(rows="per-pair")
    found = [(row["document_id"], row["sample"], row["targets"]) for row in rows]
    assert found == [
        ("p1", 0, [0, 1, 1, 0, 0]),
        ("p1", 1, [0, 1, 0, 1, 0]),
        ("p1", 2, [1, 0, 1, 0, 0]),
        ("p1", 3, [1, 1, 0, 0, 0]),
        ("p2", 0, [0, 0, 0, 0, 1]),
    ]


def test_stop_words_and_empty_passages_have_rows_irrelevant_ones_none_and_unknown_ones_are_counted(
    tmp_path, make_documents, make_queries
):
    queries, qrels = make_queries({"q": ("to be or not", ["stop", "empty", "gone"])})
    qrels.write_text(qrels.read_text() + "q 0 graded-0 0\n")
    output, options = tmp_path / "targets.parquet", TermLabelsConfig(stop_list="inquery")
    documents = [make_documents({"stop": "to be or not", "empty": "", "graded-0": "to be"})]
    counts = passage_targets(documents, queries, qrels, options, TEXT, output)
    rows = [(row["document_id"], row["targets"]) for row in rows_of(output)]
    assert rows == [("stop", [0, 0, 0, 0]), ("empty", [])]
    assert counts["documents_not_in_corpus"] == 1


def test_nothing_to_learn_is_refused(tmp_path, make_documents, make_queries):
    queries, qrels = make_queries({"q": ("cat", ["gone"])})
    documents = [make_documents(PASSAGES)]
    for make in (passage_targets, query_targets):
        with pytest.raises(InputError, match="nothing to learn"):
            make(documents, queries, qrels, TermLabelsConfig(), TEXT, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("fields", "targets"), [(None, [0, 1, 0, 0, 0.5]), (["body"], [0, 0.5, 0, 0, 0])], ids=["all", "body"]
)
def test_term_recall_of_a_querys_words(tmp_path, make_documents, make_queries, fields, targets):
    documents = make_documents(
        {"d1": ("volcano", "hot lava flows"), "d2": ("island", "volcanoes and beaches")}
    )
    queries, qrels = make_queries(
        {"q1": ("find volcanoes near an island", ["d1", "d2"]), "q2": ("no document", [])}
    )
    output = tmp_path / "targets.parquet"
    counts = query_targets([documents], queries, qrels, TermLabelsConfig(fields=fields), TEXT, output)
    [row] = rows_of(output)
    assert (row["document_id"], row["position"], row["judged"]) == ("q1", 0, 2)
    assert row["targets"] == targets
    assert counts["queries_without_relevant_document"] == 1


@pytest.mark.parametrize(("kind", "first"), [("passages", "p1"), ("queries", "q1")])
def test_a_weighting_has_the_targets_of_its_kind(tmp_path, make_documents, make_queries, kind, first):
    queries, qrels = make_queries(ASKED)
    output = tmp_path / "targets.parquet"
    make_targets([make_documents(PASSAGES)], queries, qrels, weighting(kind=kind), TEXT, output)
    assert rows_of(output)[0]["document_id"] == first
