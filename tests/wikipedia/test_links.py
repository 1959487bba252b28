"""The links of a shard: where they stand, what they name, what is left out and counted; the segments of a text."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_wiki import Article, Part, To, Wiki, lead

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.contracts import DOCUMENTS, LINK_SOURCES, LINKS
from irpretrain.foundation.provenance import sha256
from irpretrain.wikipedia import links as module
from irpretrain.wikipedia.links import extract_links, segments


def extract(
    folder: Path, articles: list[Article], **options: Any
) -> tuple[dict[str, int], list[dict[str, Any]], list[dict[str, Any]]]:
    """Counts, sources and links of one shard; links with the text of their anchors."""
    wiki = Wiki(articles)
    [documents], _ = wiki.write(folder, 1)
    settings = GraphConfig(**{"segment_words": 8, **options})
    counts = extract_links(documents, settings, folder / "sources", folder / "links", [documents])
    found = LINKS.read(folder / "links").to_pylist()
    bodies = {(row["part"], row["position"]): row["body"] for row in wiki.rows}
    for link in found:
        link["text"] = bodies[link["part"], link["position"]][link["start"] : link["end"]]
    return counts, LINK_SOURCES.read(folder / "sources").to_pylist(), found


def test_hyperlinks_have_segment_section_and_normal_target(tmp_path):
    article = Article(
        "a_Title",
        [
            lead("w", To("first target", "one"), To("", "within")),
            Part(2, "More", ["w"] * 6 + [To("Second_target", "two words")]),
            Part(2, "see also", [To("third")]),
        ],
        disambiguation=True,
    )
    counts, [source], found = extract(tmp_path, [article])
    assert counts == {"documents": 1, "segments": 2, "links": 3, "within_page": 1, "see_also": 1}
    assert (source["title"], source["key"], source["segments"]) == ("a_Title", "A Title", 2)
    assert (source["document_id"], source["disambiguation"]) == ("d0", True)
    keys = ("text", "target", "segment", "section", "see_also", "mention")
    assert [tuple(link[key] for key in keys) for link in found] == [
        ("one", "First target", 0, 0, False, False),
        ("two words", "Second target", 1, 1, False, False),
        ("third", "Third", 1, 2, True, False),
    ]


def test_an_anchor_over_the_border_belongs_to_the_segment_where_it_begins(tmp_path):
    article = Article("A", [lead(*["w"] * 7, To("B", "over the border"), *["w"] * 8)])
    _, _, [link] = extract(tmp_path, [article])
    assert link["segment"] == 0


def test_documents_without_structure(tmp_path):
    row = {"document_id": "x", "part": 0, "position": 4, "title": "", "url": "", "body": "no words linked"}
    DOCUMENTS.write(tmp_path / "d", [{**row, "sections": [], "links": [], "disambiguation": False}])
    counts = extract_links(tmp_path / "d", GraphConfig(), tmp_path / "s", tmp_path / "l")
    assert counts == {"documents": 1, "segments": 1, "links": 0, "within_page": 0, "see_also": 0}
    assert LINK_SOURCES.read(tmp_path / "s").to_pylist()[0]["key"] == ""
    DOCUMENTS.write(tmp_path / "none", [])
    assert extract_links(tmp_path / "none", GraphConfig(), tmp_path / "s", tmp_path / "l")["documents"] == 0


def test_mentions_of_other_titles_outside_anchors(tmp_path):
    articles = [
        Article(
            "Teas",
            [
                lead(
                    "Teas", "from", "Green_leaf", "or", "Green", "Leaf", To("Milk", "Green leaf tea"), "Milk."
                ),
                Part(2, "Milk", ["Green", "leaf"]),
                Part(3, "See also", ["Milk"]),
            ],
        ),
        Article("Green leaf", [lead("x")]),
        Article("Milk", [lead("y")]),
        Article("xyz", [lead("xyz")]),
    ]
    counts, _, found = extract(tmp_path, articles, mentions="titles", segment_words=100)
    assert [(link["text"], link["target"], link["section"], link["mention"]) for link in found] == [
        ("Green Leaf", "Green leaf", 0, True),
        ("Green leaf tea", "Milk", 0, False),
        ("Milk", "Milk", 0, True),
        ("Milk", "Milk", 1, True),  # the heading belongs to its section
        ("Green leaf", "Green leaf", 1, True),
        ("Milk", "Milk", 2, True),
    ]
    assert not any(link["see_also"] for link in found), "mentions make no See Also links"
    assert counts["mentions"] == 5
    assert counts["mentions_of_own_title"] == 1
    assert counts["mentions_within_anchors"] == 1
    assert counts["titles_looked_for"] == 3


def test_batches_do_not_show(tmp_path, monkeypatch):
    articles = [Article(f"T{n}", [lead(*["w"] * n, To(f"T{n + 1}"))]) for n in range(9)]
    extract(tmp_path / "one", articles)
    monkeypatch.setattr(module, "DOCUMENTS_PER_BATCH", 2)
    extract(tmp_path / "two", articles)
    assert sha256(tmp_path / "one" / "links") == sha256(tmp_path / "two" / "links")
    assert sha256(tmp_path / "one" / "sources") == sha256(tmp_path / "two" / "sources")


def test_spans_that_touch_do_not_overlap():
    anchors = [(2, 4), (6, 9)]
    overlapping = [(s, e) for s in range(11) for e in range(s + 1, 12) if module._overlaps(anchors, s, e)]
    truth = [(s, e) for s in range(11) for e in range(s + 1, 12) if any(s < b and a < e for a, b in anchors)]
    assert overlapping == truth


@pytest.mark.parametrize("case", ["first-letter", "case-sensitive"])
def test_case_of_titles(tmp_path, case):
    _, [source], [link] = extract(tmp_path, [Article("tea", [lead(To("milk"))])], title_case=case)
    assert (source["key"], link["target"]) == (("Tea", "Milk") if case == "first-letter" else ("tea", "milk"))


@pytest.mark.parametrize(
    ("body", "words", "pieces"),
    [
        ("a b c d e f", 3, ["a b c", "d e f"]),
        ("a b c d", 3, ["a b c d"]),  # a rest of one is less than half of three
        ("a b c d e", 3, ["a b c", "d e"]),  # a rest of two is not
        ("a b c d e f", 4, ["a b c d", "e f"]),  # half is enough
        ("a", 4, ["a"]),  # all there is, however short
        (" a  b\n\nc\td ", 2, ["a  b", "c\td"]),
        ("a b c", 1, ["a", "b", "c"]),
        ("é😀 ß x y", 2, ["é😀 ß", "x y"]),
        ("", 5, [""]),
        (" \n ", 5, [" \n "]),  # without words it is one segment
        ("a " * 32_770, 1, ["a"] * 32_766 + ["a a a a"]),  # no more than a column can count
    ],
)
def test_segments_of_a_body(body, words, pieces):
    assert [body[start:end] for start, end in segments(body, words)] == pieces


@given(st.text(st.sampled_from("ab \n\u00a0é")), st.integers(1, 9))
def test_any_body(body, words):
    spans = segments(body, words)
    pieces = [body[start:end].split() for start, end in spans]
    assert [word for piece in pieces for word in piece] == body.split()
    assert all(len(piece) == words for piece in pieces[:-1])
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    if len(pieces) > 1:
        assert words / 2 <= len(pieces[-1]) < words * 1.5
