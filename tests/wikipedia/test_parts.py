"""Captions, tables, galleries and formulas: left out and counted, or shown where a user wants them."""

from xml.sax.saxutils import escape

import pytest
from synthetic_dumps import dump, page, write_tables
from wiki_pages import ENGLISH, anchors_of, wiki

from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.images import Rendering

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
def test_rendered_where_a_user_wants_them(rendering, text, anchors):
    article = parse_article(PAGE, ENGLISH, rendering)
    assert article.text == text
    assert anchors_of(article) == anchors
    assert not any(f"{part} left out" in article.parts for part in rendering.keep)


def test_options_of_a_dump_and_counts_in_the_sidecar(tmp_path):
    (tmp_path / "dump").write_bytes(dump(page(1, text=escape(PAGE))).replace(b"testwiki", b"enwiki"))
    options = {"keep": ["captions", "tables"], "formula_word": "formula"}
    [documents], _, [counts] = write_tables(tmp_path / "dump", tmp_path, **options)
    assert counts["parts"] == {
        "captions shown": 2,
        "formulas left out": 1,
        "formulas shown": 1,
        "galleries left out": 1,
        "tables shown": 1,
    }
    [row] = DOCUMENTS.read(documents).to_pylist()
    assert "Plain caption\nThe caption\nName | Age" in row["body"]
    assert "and formula." in row["body"]


CAPTIONS = [
    ("en", "[[File:a.jpg|thumb|Capital]]", "Capital"),
    ("en", "[[File:a.jpg|thumb|right|some text here|150px]]", "some text here"),
    ("en", "[[File:a.jpg|frame|x=y is the rule|upright=1.2|alt=other words]]", "x=y is the rule"),
    ("en", "[[File:a.jpg|thumb|Upright people of 20px|{{x}}px|200x300px]]", "Upright people of 20px"),
    ("en", "[[File:a.jpg|thumb=b.jpg|one|two [[three|3]]|link=[[no]]|{{x}}]]", "two 3"),
    ("en", "[[File:a.jpg|thumb|one [[two|3|left]] four|left]]", "one 3|left four"),
    ("en", "[[File:a.jpg|thumb|Caption [http://x a label]|]]", ""),
    ("en", "[[File:a.jpg|thumb|left|upright 1.3|page 3]]", ""),
    ("en", "a [[File:a.svg|20px|Germany]] [[File:a.svg|left|not seen either]]b", "a b"),
    ("en", "[[File:a.jpg|mini|Words]]", ""),
    ("zh", "[[文件:a.jpg|缩略图|右|200像素|这是一个很长的说明文字]]", "这是一个很长的说明文字"),
    ("ja", "[[ファイル:a.jpg|サムネイル|左|200ピクセル|説明]]", "説明"),
    (
        "de",
        "[[Datei:a.jpg|mini|hochkant=1.2|Links]] [[Datei:a.jpg|miniatur|rechts|Bild|links]]",
        "Links\nBild",
    ),
    ("fr", "[[Fichier:a.jpg|vignette|redresse=1.2|gauche|Vue du port|sans_cadre]]", "Vue du port"),
    ("ru", "[[Файл:a.jpg|мини|слева|200пкс|Вид]]", "Вид"),
]


@pytest.mark.parametrize(("code", "wikitext", "text"), CAPTIONS)
def test_the_caption_is_the_last_part_that_is_no_option(code, wikitext, text):
    article = parse_article(wikitext, wiki(code), Rendering(frozenset({"captions"})))
    assert article.text == text
    assert [anchor for anchor, _ in anchors_of(article)] == ([text.split()[1]] if "3" in text else [])
    lines = 0 if text in ("", "a b") else len(text.split("\n"))
    assert article.parts.get("captions shown", 0) == lines
    plain = parse_article(wikitext, wiki(code))
    assert plain.parts.get("captions left out", 0) == lines
    assert plain.links == ()


def test_options_in_galleries():
    wikitext = """<gallery>
File:a.jpg|alt=foo|Cap
File:b.jpg|One [[two|2]]|left
c.jpg|[[x|y]] {{nowrap|a|b}}
d.jpg|first|{{lang|fr|second}} [[three
File:e.jpg|200px
File:f.jpg
</gallery>"""
    article = parse_article(wikitext, ENGLISH, Rendering(frozenset({"galleries"})))
    assert article.text == "Cap\nOne 2\ny a\nsecond [[three"
    assert anchors_of(article) == [("2", "two"), ("y", "x")]


@pytest.mark.parametrize("keep", [frozenset(), frozenset({"tables"})], ids=["left out", "shown"])
def test_a_table_without_a_word_is_none(keep):
    article = parse_article('{| class="x"\n|-\n|}\na\n{|\n| b\n|}', ENGLISH, Rendering(keep))
    assert article.parts == {f"tables {'shown' if keep else 'left out'}": 1}
