"""`parser: mwparserfromhell`, a few pages by hand."""

import pytest
from synthetic_dumps import dump, page
from wiki_pages import ENGLISH, anchors_of

from irpretrain.corpora.formats.wikipedia_dump import WikipediaDumpDocumentOptions, read
from irpretrain.foundation.records import Link, Section
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.mwparserfromhell_parser import parse_article
from irpretrain.wikipedia.wikitext.images import Rendering


def parsed(wikitext: str) -> Article:
    return parse_article(wikitext, ENGLISH, Rendering())


def test_a_page_by_hand():
    article = parsed(
        "{{Infobox|x=[[no]]}}'''Oak'''s are [[tree]]s<ref>a [[source]]</ref> of the\nfamily [[Beech#Kinds|beeches]] "
        "&amp; more.\n\n[[File:Oak.jpg|thumb|An [[oak]]]]\n{|\n| a [[cell]]\n|}\n== Use ==\n* [[wood]]\n* bark\n"
        "[[Category:Trees]]\n== See also ==\n* [[Elm]]\n",
    )
    lines = ["Oaks are trees of the family beeches & more.", "Use", "wood", "bark", "See also", "Elm"]
    assert article.text == "\n".join(lines)
    assert anchors_of(article) == [
        ("trees", "tree"), ("beeches", "Beech#Kinds"), ("wood", "wood"), ("Elm", "Elm")
    ]  # fmt: skip
    assert article.links[2] == Link("wood", "", 49, 53, 1)
    assert [(section.level, section.heading, section.role) for section in article.sections] == [
        (0, "", ""),
        (2, "Use", ""),
        (2, "See also", "see-also"),
    ]
    assert article.sections[1] == Section(2, "Use", 49, 58)


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("", ""),
        ("[[a|b", "[[a|b"),
        ("a<br/>b", "a\nb"),
        ("[http://x.org a site], http://y.org", "a site, http://y.org"),
        ("[[fr:Chêne]]''italic''", "italic"),
        ("a \x00 b", "a b"),
    ],
    ids=["nothing", "no link", "break", "addresses", "language", "control character"],
)
def test_rendering(wikitext, text):
    assert parsed(wikitext).text == text


def test_a_corpus_may_ask_for_it(tmp_path):
    (tmp_path / "dump").write_bytes(dump(page(7, text="An [[oak]] is a [[tree]].")))
    [document] = read(tmp_path / "dump", WikipediaDumpDocumentOptions(parser="mwparserfromhell"))
    assert (document.body, len(document.links)) == ("An oak is a tree.", 2)
    with pytest.raises(ValueError, match="keep and formula_word have no effect"):
        WikipediaDumpDocumentOptions(parser="mwparserfromhell", keep=["tables"])
