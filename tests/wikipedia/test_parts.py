"""Captions, tables, galleries and formulas: left out and counted, or shown where a user wants them."""

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.corpora.shards import write_shard
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.rendering import Rendering

ENGLISH = WikiLanguage.of(SiteInfo("enwiki"))
PAGE = """Lead.
[[File:a.png|thumb|left|A [[cat]] and ''dog'']] [[File:b.svg|20px]] [[File:c.jpg|thumb|Plain caption]]
{| class="x"
|+ The caption
! Name !! style="a" | Age
|-
| [[Ann|Anna]] || 5
more
|-
| colspan="2" | Total
|}
<gallery mode="packed">
File:d.png|The ''first'' [[one]]<ref>r</ref>
File:e.png
</gallery>
Where <math>x^2</math> and <math>\\int x</math>.
[[Category:Cats|a sort key]]"""


def test_left_out_by_default_and_counted():
    article = parse_article(PAGE, ENGLISH)
    assert article.text == "Lead.\nWhere x^2 and."
    assert article.links == ()
    assert article.parts == {
        "formulas shown": 1,
        "formulas left out": 1,
        "galleries left out": 1,
        "tables left out": 1,
        "captions left out": 2,
    }


@pytest.mark.parametrize(
    ("rendering", "text", "anchors"),
    [
        (
            Rendering(frozenset({"captions"})),
            "Lead.\nA cat and dog\nPlain caption\nWhere x^2 and.",
            [("cat", "cat")],
        ),
        (
            Rendering(frozenset({"tables"})),
            "Lead.\nThe caption\nName | Age\nAnna | 5 more\nTotal\nWhere x^2 and.",
            [("Anna", "Ann")],
        ),
        (Rendering(frozenset({"galleries"})), "Lead.\nThe first one\nWhere x^2 and.", [("one", "one")]),
        (Rendering(formula_word="formula"), "Lead.\nWhere x^2 and formula.", []),
    ],
    ids=["captions", "tables", "galleries", "formula word"],
)
def test_shown_where_a_user_wants_them(rendering, text, anchors):
    article = parse_article(PAGE, ENGLISH, rendering)
    assert article.text == text
    assert [(article.text[link.start : link.end], link.target) for link in article.links] == anchors
    assert not any(f"{part} left out" in article.parts for part in rendering.keep)


def test_options_of_a_dump_and_counts_in_the_sidecar(tmp_path):
    page = PAGE.replace("&", "&amp;").replace("<", "&lt;")
    (tmp_path / "dump.xml").write_text(
        "<mediawiki><siteinfo><dbname>enwiki</dbname></siteinfo><page><title>A</title><ns>0</ns><id>1</id>"
        f"<revision><id>2</id><text>{page}</text></revision></page></mediawiki>"
    )
    options = {"keep": ["captions", "tables"], "formula_word": "formula"}
    config = CorpusConfig(format="wikipedia-dump", path="x", options=options)
    counts = write_shard(config, tmp_path / "dump.xml", 0, tmp_path / "documents", tmp_path / "redirects")
    assert counts["parts"] == {
        "captions shown": 2,
        "formulas left out": 1,
        "formulas shown": 1,
        "galleries left out": 1,
        "tables shown": 1,
    }
    [row] = DOCUMENTS.read(tmp_path / "documents").to_pylist()
    assert "Plain caption\nThe caption\nName | Age" in row["body"]
    assert "and formula." in row["body"]
