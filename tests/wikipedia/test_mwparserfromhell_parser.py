"""`parser: mwparserfromhell`: a few pages by hand, and real articles beside our own parser's reading."""

from __future__ import annotations

from collections import Counter

import pytest
from synthetic_dumps import dump, page

from irpretrain.corpora.formats.wikipedia_dump import WikipediaDumpDocumentOptions, read
from irpretrain.foundation.records import Link, Section
from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.mwparserfromhell_parser import parse_article
from irpretrain.wikipedia.wikitext import parse_article as parse_by_ours
from irpretrain.wikipedia.wikitext.images import Rendering


@pytest.fixture(scope="module")
def arguments(excerpt):
    return excerpt[1], Rendering()


def parsed(arguments, wikitext: str) -> Article:
    return parse_article(wikitext, *arguments)


def test_a_page_by_hand(arguments):
    article = parsed(
        arguments,
        "{{Infobox|x=[[no]]}}'''Oak'''s are [[tree]]s<ref>a [[source]]</ref> of the\nfamily [[Beech#Kinds|beeches]] "
        "&amp; more.\n\n[[File:Oak.jpg|thumb|An [[oak]]]]\n{|\n| a [[cell]]\n|}\n== Use ==\n* [[wood]]\n* bark\n"
        "[[Category:Trees]]\n== See also ==\n* [[Elm]]\n",
    )
    lines = ["Oaks are trees of the family beeches & more.", "Use", "wood", "bark", "See also", "Elm"]
    assert article.text == "\n".join(lines)
    assert [(link.target, link.fragment, article.text[link.start : link.end]) for link in article.links] == [
        ("tree", "", "trees"),
        ("Beech", "Kinds", "beeches"),
        ("wood", "", "wood"),
        ("Elm", "", "Elm"),
    ]
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
def test_rendering(arguments, wikitext, text):
    assert parsed(arguments, wikitext).text == text


def test_it_finds_nearly_the_links_and_headings_of_our_parser(excerpt, arguments):
    same = Counter[str]()
    for _, wikitext in excerpt[0][:5]:
        theirs = parsed(arguments, wikitext)
        ours = parse_by_ours(wikitext, *arguments)
        for kind in ("sections", "links"):
            values = [Counter(map(name, getattr(article, kind))) for article in (ours, theirs)]
            same[kind] += (values[0] & values[1]).total()
            same[f"all {kind}"] += values[0].total()
    assert same["sections"] > 0.98 * same["all sections"] > 100
    assert same["links"] > 0.95 * same["all links"] > 1000


def name(part: Section | Link) -> tuple[object, str]:
    return (part.level, part.heading) if isinstance(part, Section) else (part.target, part.fragment)


def test_a_corpus_may_ask_for_it(tmp_path):
    (tmp_path / "dump").write_bytes(dump(page(7, text="An [[oak]] is a [[tree]].")))
    [document] = read(tmp_path / "dump", WikipediaDumpDocumentOptions(parser="mwparserfromhell"))
    assert (document.body, len(document.links)) == ("An oak is a tree.", 2)
    with pytest.raises(ValueError, match="keep and formula_word have no effect"):
        WikipediaDumpDocumentOptions(parser="mwparserfromhell", keep=["tables"])
