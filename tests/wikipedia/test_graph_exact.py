"""The graph of synthetic collections is exactly what the builder put in, for any number of shards."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from synthetic_wiki import Article, Expected, Part, To, Wiki, expected, lead, make_graph

from irpretrain.foundation.contracts import HYPERLINKS, NODES, SEE_ALSO
from irpretrain.foundation.provenance import sha256
from irpretrain.wikipedia.graph import Graph

SHARDS = [1, 2, 5]


def filler(words: int) -> list[str]:
    return [f"w{n}" for n in range(words)]


def check(folder: Path, truth: Expected) -> None:
    """Compare a graph with the truth: tables, groups of every segment, counts."""
    graph = Graph(folder)
    rows = HYPERLINKS.read(folder / "hyperlinks.parquet").to_pylist()
    assert {(r["source"], r["segment"], r["target"]): (r["start"], r["end"]) for r in rows} == truth.anchors
    assert [(r["source"], r["segment"], r["target"]) for r in rows] == sorted(truth.anchors)
    found = {(s, n): ([],) * 5 for s, count in enumerate(truth.segments) for n in range(count)}
    for links in graph.links(np.arange(graph.size)):
        for segment in range(truth.segments[links.source]):
            found[links.source, segment] = tuple(part.tolist() for part in links.groups(segment))
    assert found == {key: tuple(sorted(part) for part in parts) for key, parts in truth.groups.items()}
    edges = SEE_ALSO.read(folder / "see-also.parquet").to_pylist()
    assert [(e["source"], e["target"]) for e in edges] == sorted(truth.see_also)
    for node in range(graph.size):
        assert graph.see_also(node).tolist() == sorted(t for s, t in truth.see_also if s == node)
    assert NODES.read(folder / "nodes.parquet")["segments"].to_pylist() == truth.segments
    counts = json.loads((folder / "counts.json").read_text())["hyperlinks"]
    for number in range(5):
        assert counts[f"D{number + 1}"] == sum(len(parts[number]) for parts in truth.groups.values())
    assert counts["pairs"] == len({(s, t) for s, _, t in truth.anchors})


# Segments of 8 words. "Hub" has three and links everything from the second; "Strong" and "Weak" have two.
HUB = Article(
    "Hub", [lead(*filler(8)), Part(2, "More", [To("Strong"), To("weak"), To("One way"), *filler(8)])]
)
STRONG = Article("Strong", [lead(To("Hub"), *filler(12))])
WEAK = Article("Weak", [lead(*filler(15), To("Hub"))])
ONE_WAY = Article("One way", [lead(*filler(3))])


@pytest.mark.parametrize("shards", SHARDS)
def test_the_five_groups_by_hand(tmp_path, shards):
    wiki = Wiki([HUB, STRONG, WEAK, ONE_WAY])
    folder = make_graph([wiki], tmp_path, shards)
    [hub, strong, weak] = Graph(folder).links(np.arange(4))
    assert [part.tolist() for part in hub.groups(1)] == [[1], [2], [3], [], []]
    assert [part.tolist() for part in hub.groups(0)] == [[], [], [], [3], [1, 2]]
    assert [part.tolist() for part in hub.groups(2)] == [[], [], [], [3], [1, 2]]
    assert [part.tolist() for part in strong.groups(0)] == [[], [0], [], [], []]
    assert [part.tolist() for part in strong.groups(1)] == [[], [], [], [], [0]]
    assert [part.tolist() for part in weak.groups(1)] == [[], [0], [], [], []]
    check(folder, expected([wiki]))
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["hyperlinks"] == {
        "rows": 5, "pairs": 5, "symmetric_pairs": 4, "D1": 1, "D2": 3, "D3": 1, "D4": 2, "D5": 6,
    }  # fmt: skip


@pytest.mark.parametrize("shards", SHARDS)
def test_the_first_segment_is_that_of_the_lead(tmp_path, shards):
    """Each links "Hub" back from its segment 0: from the lead, below it, in both, or without any sections."""
    names = ["Lead", "Body", "Both", "Later", "Plain"]
    wiki = Wiki(
        [
            Article("Hub", [lead(*map(To, names))]),
            Article("Lead", [lead("w", To("Hub")), Part(2, "More", filler(9))]),
            Article("Body", [lead("w", "w"), Part(2, "More", [To("Hub"), *filler(9)])]),
            Article("Both", [lead("w", To("Hub")), Part(2, "More", [To("Hub"), *filler(9)])]),
            Article("Later", [lead(*filler(15), To("Hub"))]),
            Article("Plain", [lead(To("Hub"), *filler(9))]),
        ]
    )
    wiki.rows[5]["sections"] = []
    folder = make_graph([wiki], tmp_path, shards)
    check(folder, expected([wiki]))
    [hub] = Graph(folder).links(np.array([0]))
    assert [part.tolist() for part in hub.groups(0)[:2]] == [[1, 3, 5], [2, 4]]


def test_redirects_case_underscores_and_red_links(tmp_path):
    articles = [
        Article(
            "Start",
            [
                lead(
                    To("moved"),  # through one redirect
                    To("Twice moved"),  # through two, into the same page: one pair
                    To("other__page"),
                    To("Other page", "o"),
                    To("Circle"),
                    To("Dangling"),
                    To("Nowhere"),
                    To("Start"),
                    To("Back to start"),
                    To("", "within the page"),
                    To("Meanings"),
                    To("Long 0"),
                )
            ],
        ),
        Article("Other page", [lead("x")]),
        Article("Moved here", [lead("x")]),
        Article("Meanings", [lead("x")], disambiguation=True),
    ]
    redirects = [
        ("Moved", "moved here"),
        ("Twice_moved", "Moved"),
        ("Circle", "Round"),
        ("Round", "Circle"),
        ("Dangling", "Not there"),
        ("Back to start", "Start"),
        ("Other page", "Moved here"),  # a page of that title goes before
        ("Moved", "Start"),  # the second of its title
        *((f"Long {n}", f"Long {n + 1}") for n in range(4)),
        ("Long 4", "Start"),
    ]
    wiki = Wiki(articles, redirects)
    folder = make_graph([wiki], tmp_path, 2, segment_words=100)
    [links] = Graph(folder).links(np.arange(4))
    assert links.target.tolist() == [1, 2, 3]
    assert [wiki.rows[0]["body"][a:b] for a, b in zip(links.start, links.end, strict=True)] == [
        "other__page",
        "moved",
        "Meanings",
    ]
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["links"] == {
        "read": 11, "no_page": 1, "redirect_to_no_page": 1, "endless_redirect": 2, "self": 2, "used": 5,
        "by_redirect": 2, "to_disambiguation_pages": 1,
    }  # fmt: skip
    assert counts["redirects"] == {
        "read": 13, "title_taken": 2, "resolved": 7, "through_more_than_one": 4, "to_no_page": 1, "endless": 3,
    }  # fmt: skip
    assert counts["nodes"] == {"documents": 4, "titles": 4, "disambiguation_pages": 1, "segments": 4}
    check(folder, expected([wiki], words=100))


def test_see_also_sections_with_those_below_and_no_others(tmp_path):
    article = Article(
        "A",
        [
            lead(To("B")),
            Part(2, "See also", [To("C"), To("c")]),
            Part(3, "Lists", [To("D")]),
            Part(3, "External links", [To("E")]),
            Part(4, "Lists", [To("E")]),
            Part(2, "See also too", [To("E")]),
            Part(3, "see also", [To("B")]),
        ],
    )
    wiki = Wiki([article, *(Article(name, [lead("x")]) for name in "BCDE")])
    graph = Graph(make_graph([wiki], tmp_path, 2))
    assert graph.see_also(0).tolist() == [1, 2, 3]
    assert graph.see_also(1).tolist() == []


def test_corpora_are_numbered_in_their_order_and_the_first_of_a_title_is_meant(tmp_path):
    first = Wiki([Article("A", [lead(To("B"))]), Article("C", [lead("x")])], prefix="one/")
    second = Wiki([Article("B", [lead(To("A"))]), Article("A", [lead(To("C"))])], [("D", "A")], prefix="two/")
    folder = make_graph([first, second], tmp_path, 2)
    graph = Graph(folder)
    assert [graph.document_id(n) for n in range(4)] == ["one/0", "one/1", "two/0", "two/1"]
    assert graph.nodes(["two/1", "one/0"]).tolist() == [3, 0]
    assert {links.source: links.target.tolist() for links in graph.links(np.arange(4))} == {
        0: [2],
        2: [0],
        3: [1],
    }
    assert NODES.read(folder / "nodes.parquet").column("corpus").to_pylist() == [0, 0, 1, 1]
    assert json.loads((folder / "counts.json").read_text())["nodes"]["titles"] == 3
    check(folder, expected([first, second]))


TITLES = ["Alpha", "beta", "Gamma ray", "delta_wave", "Eta", "\u00e9clair", "Theta"]
TARGETS = st.sampled_from(
    [
        *TITLES,
        *(t.lower() for t in TITLES),
        *(t.replace(" ", "_") for t in TITLES),
        "R1",
        "r2",
        "R3",
        "Red",
        "",
    ]
)
PIECES = st.lists(
    st.one_of(st.sampled_from(["x", "yy", "zzz"]), st.builds(To, TARGETS, st.just("an anchor")))
)
PARTS = st.builds(
    Part, st.integers(2, 5), st.sampled_from(["See also", "History", "Uses", "References"]), PIECES
)


@st.composite
def wikis(draw: st.DrawFn) -> list[Wiki]:
    titles = draw(st.lists(st.sampled_from(TITLES), min_size=1, max_size=9))
    articles = [
        Article(title, [Part(0, "", draw(PIECES)), *draw(st.lists(PARTS, max_size=4))], draw(st.booleans()))
        for title in titles
    ]
    names = st.sampled_from([*TITLES, "R1", "R2", "R3"])
    redirects = draw(st.lists(st.tuples(names, st.one_of(names, st.just("Red"))), max_size=7))
    split = draw(st.integers(1, len(articles)))
    corpora = [Wiki(articles[:split], redirects[:3], "a")]
    if split < len(articles):
        corpora.append(Wiki(articles[split:], redirects[3:], "b"))
    return corpora


def test_bytes_depend_on_neither_shards_nor_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("irpretrain.wikipedia.links.MENTION_CHARACTERS", 2)
    monkeypatch.setattr("irpretrain.wikipedia.build_graph.MENTION_DOCUMENT_SHARE", Fraction("0.5"))

    def article(n: int) -> Article:
        links = (To(f"T{n * k % 83}") for k in range(1, 6))
        return Article(f"T{n}", [lead(*filler(n % 7), *links, f"T{n * 3 % 80}", "T1", *filler(20))])

    wiki = Wiki([article(n) for n in range(80)], [(f"T{n}", f"T{n - 1}") for n in range(80, 83)])
    more = Wiki([Article(f"U{n}", [lead("T2", To(f"t{n}"))]) for n in range(9)], prefix="u")
    options = {"mentions": "titles"}
    graphs = [
        make_graph([wiki, more], tmp_path / f"{shards}", shards, threads=threads, **options)
        for shards, threads in [(1, 1), (2, 2), (5, 3)]
    ]
    assert len({sha256(graph) for graph in graphs}) == 1
    counts = json.loads((graphs[0] / "counts.json").read_text())["mentions"]
    assert counts["used"] > 0
    assert counts["too_frequent_titles"] == 1
    plain = make_graph([wiki, more], tmp_path / "plain", 3)
    check(plain, expected([wiki, more]))
