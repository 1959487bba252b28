"""Building and reading a graph: mentions, limits, refusals, row groups; the database in which it is built."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from synthetic_wiki import Article, To, Wiki, lead, make_graph

from irpretrain.config.text import GraphConfig
from irpretrain.foundation import tables
from irpretrain.foundation.contracts import LINK_SOURCES, SEE_ALSO
from irpretrain.foundation.errors import InputError, IntegrityError, SetupError
from irpretrain.wikipedia.build_graph import build_graph
from irpretrain.wikipedia.graph import Graph, database, parquet


def plain(title: str, text: str) -> Article:
    return Article(title, [lead(*text.split())])


def targets(graph: Graph, nodes: list[int] | None = None) -> dict[int, list[int]]:
    """Documents that each of some nodes links, or that all of them do."""
    all_links = graph.links(np.arange(graph.size) if nodes is None else np.array(nodes))
    return {links.source: links.target.tolist() for links in all_links}


def test_mentions_link_documents_without_hyperlinks(tmp_path, monkeypatch):
    monkeypatch.setattr("irpretrain.wikipedia.build_graph.MENTION_DOCUMENT_SHARE", Fraction("0.4"))
    articles = [
        plain("Super_Bowl_50", "the Time of Super Bowl 50 in Santa Clara"),
        plain("Santa Clara", "Time and Super Bowl 50"),
        plain("Time", "Santa Clara"),
        plain("Space", "Time"),
        plain("Void", "Time Nothing"),
    ]
    folder = make_graph([Wiki(articles)], tmp_path, 2, mentions="titles")
    assert targets(Graph(folder)) == {0: [1], 1: [0], 2: [1]}
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["links"]["read"] == 0
    assert counts["mentions"] == {
        "most_documents": 2, "too_frequent": 4, "too_frequent_titles": 1, "read": 3, "no_page": 0,
        "redirect_to_no_page": 0, "endless_redirect": 0, "self": 0, "used": 3, "by_redirect": 0,
        "to_disambiguation_pages": 0,
    }  # fmt: skip
    off = make_graph([Wiki(articles)], tmp_path / "off", 1)
    assert targets(Graph(off)) == {}
    assert "mentions" not in json.loads((off / "counts.json").read_text())


def test_hyperlinks_to_a_frequent_title_stay(tmp_path):
    articles = [
        Article("A", [lead(To("Time", "clock"))]),
        *(plain(f"T{n}", "Time") for n in range(3)),
        plain("Time", "x"),
    ]
    folder = make_graph([Wiki(articles)], tmp_path, 1, mentions="titles")
    assert targets(Graph(folder)) == {0: [4]}


@pytest.fixture
def ring(tmp_path, monkeypatch):
    """Thirty articles that each link the next seven, in row groups of ten rows; number 20 links nothing."""
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 10)
    articles = [
        Article(f"T{n}", [lead("x", *(To(f"T{(n + k) % 30}") for k in range(1, 8) if n != 20))])
        for n in range(30)
    ]
    return Graph(make_graph([Wiki(articles)], tmp_path, 2))


def test_links_of_some_documents_across_row_groups(ring):
    truth = {n: sorted((n + k) % 30 for k in range(1, 8)) for n in range(30) if n != 20}
    assert list(targets(ring)) == sorted(truth)
    assert targets(ring) == truth
    for chosen in ([0], [29], [7, 8, 9], [25, 3, 3, 20], [20], [], list(range(30))):
        assert targets(ring, chosen) == {n: truth[n] for n in sorted(set(chosen)) if n in truth}


def test_every_source_comes_whole_when_it_fills_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 3)
    articles = [Article(f"T{n}", [lead(*(To(f"T{k}") for k in range(12)))]) for n in range(12)]
    graph = Graph(make_graph([Wiki(articles)], tmp_path, 1, segment_words=50))
    assert targets(graph) == {n: [k for k in range(12) if k != n] for n in range(12)}
    assert targets(graph, [5]) == {5: [k for k in range(12) if k != 5]}


def test_nodes_and_documents(ring):
    assert ring.size == 30
    assert ring.nodes(["d3", "d0", "d29"]).tolist() == [3, 0, 29]
    assert ring.nodes(pa.array(["d7"])).dtype == np.int32
    assert ring.document_id(29) == "d29"
    assert not ring.disambiguation.any()
    with pytest.raises(IntegrityError, match=r"'d30' is not in this graph"):
        ring.nodes(["d1", "d30"])


def test_a_folder_that_is_no_graph(tmp_path):
    with pytest.raises(IntegrityError, match="no table of hyperlinks"):
        Graph(tmp_path)


def test_a_graph_that_does_not_say_how_long_segments_are(tmp_path):
    folder = make_graph([Wiki([plain("T", "x")])], tmp_path, 1)
    nodes = pq.read_table(folder / "nodes.parquet")
    pq.write_table(nodes.replace_schema_metadata(None), folder / "nodes.parquet")
    with pytest.raises(IntegrityError, match="it does not say how long segments are"):
        _ = Graph(folder).segment_words


def test_a_collection_without_documents(tmp_path):
    LINK_SOURCES.write(tmp_path / "sources", [])
    with pytest.raises(InputError, match="no documents"):
        build_graph([[tmp_path / "sources"]], [[]], [[]], GraphConfig(), tmp_path / "graph")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sources"], "nothing half-written stays"


def test_paths_with_quotes_are_paths(tmp_path):
    path = tmp_path / "it's [1].parquet"
    SEE_ALSO.write(path, [{"source": 1, "target": 2}])
    with database(tmp_path, 256, 1) as base:
        assert base.row(f"SELECT sum(target) AS s FROM {parquet([path])}") == {"s": 2}


def test_too_little_memory_is_one_message(tmp_path):
    with pytest.raises(SetupError, match=r"graph.memory_mb: 16 MB are too few .*; raise it"):
        with database(tmp_path, 16, 2) as base:
            base.run("CREATE TABLE t AS SELECT list(range) AS everything FROM range(4000000)")
