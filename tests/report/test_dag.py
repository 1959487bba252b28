import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.errors import InputError
from irpretrain.report.dag import NODE_HEIGHT, draw, layers_of, parse, spread, write_dag

DOT = """digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    node[shape=box, style=rounded, fontname=sans, fontsize=10, penwidth=2];
    edge[penwidth=2, color=grey];
\t0[label = "all", color = "0.00 0.6 0.85", style="rounded"];
\t1[label = "evaluate", color = "0.10 0.6 0.85", style="rounded"];
\t2[label = "read_corpus", color = "0.20 0.6 0.85", style="rounded"];
\t3[label = "search", color = "0.30 0.6 0.85", style="rounded"];
\t1 -> 0
\t2 -> 1
\t3 -> 1
\t2 -> 3
}
"""
SVG = "{http://www.w3.org/2000/svg}"


def test_a_rulegraph_is_read() -> None:
    graph, labels = parse(DOT)
    assert labels == {0: "all", 1: "evaluate", 2: "read corpus", 3: "search"}
    assert set(graph.edges) == {(1, 0), (2, 1), (3, 1), (2, 3)}


def test_what_a_longer_path_implies_is_not_drawn(tmp_path: Path) -> None:
    graph, _ = parse(DOT, {"all"})
    assert layers_of(graph) == {2: 0, 3: 1, 1: 2}
    source = tmp_path / "graph.dot"
    source.write_text("Building DAG of jobs...\n" + DOT)
    assert write_dag(source, tmp_path / "dag.svg") == {"rules": 3, "dependencies": 2}
    root = ET.parse(tmp_path / "dag.svg").getroot()
    assert [t.text for t in root.iter(f"{SVG}text")] == ["evaluate", "read corpus", "search"]
    assert len([p for p in root.iter(f"{SVG}path") if p.get("class") == "dag-edge"]) == 2


def test_a_source_stands_just_above_its_reader() -> None:
    assert layers_of(nx.DiGraph([(1, 2), (2, 3), (4, 3)])) == {1: 0, 2: 1, 3: 2, 4: 1}


def test_no_graph_is_a_message(tmp_path: Path) -> None:
    source = tmp_path / "graph.dot"
    source.write_text("Nothing to be done.\n")
    with pytest.raises(InputError, match="snakemake --rulegraph"):
        write_dag(source, tmp_path / "dag.svg")


def test_labels_are_escaped() -> None:
    graph = nx.DiGraph()
    graph.add_node(1)
    svg = draw(graph, {1: "<b>&"})
    assert "&lt;b&gt;&amp;" in svg
    ET.fromstring(svg)


@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda e: e[0] < e[1]), max_size=25))
def test_boxes_never_overlap_and_arrows_point_down(edges: set[tuple[int, int]]) -> None:
    labels = {n: "x" * (3 + n) for n in range(12)}
    graph = nx.DiGraph()
    graph.add_nodes_from(labels)
    graph.add_edges_from(edges)
    graph = nx.transitive_reduction(graph)
    svg = draw(graph, labels)
    assert svg == draw(graph, labels)
    boxes = [
        tuple(float(rect.get(name)) for name in ("x", "y", "width"))
        for rect in ET.fromstring(svg).iter(f"{SVG}rect")
    ]
    assert len(boxes) == 12
    for (x, y, width), (other_x, other_y, other_width) in itertools.combinations(boxes, 2):
        assert abs(y - other_y) >= NODE_HEIGHT or x + width <= other_x or other_x + other_width <= x
    for a, b in graph.edges:
        assert boxes[a][1] < boxes[b][1]


def test_spread_keeps_distances_and_stays_near() -> None:
    assert spread([0, 0, 10], [4, 4]) == [-2, 2, 10]
    assert spread([1, 9], [4]) == [1, 9]
    assert spread([5], []) == [5]
