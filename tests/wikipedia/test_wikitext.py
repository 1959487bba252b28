"""Plain text of wikitext, one construct at a time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irpretrain.wikipedia.plain_text import dropped_names, plain_text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''Bold''' and ''italic'' and '''''both'''''", "Bold and italic and both"),
        ("[[Cat]] [[Dog|dogs]] [[bus]]es", "Cat dogs buses"),
        ("[[Dog|''big'' dogs]]", "big dogs"),
        ("[[OS&nbsp;X]] 5&nbsp;km &amp; &#65;", "OS X 5 km & A"),
        ("a [[File:x.png|thumb|A [[cat]] here]] b", "a b"),
        ("a [[image:x.png]] b [[ Category : C ]]", "a b"),
        ("[[:Category:Cats]] [[:File:x.png|picture]]", "Category:Cats picture"),
        ("a [[fr:Chat]] [[zh-min-nan:X]] b", "a b"),
        ("[[fr:Chat|in French]] [[Star Trek: Nemesis]]", "in French Star Trek: Nemesis"),
        ("a{{Infobox|x={{y}}}} b {{{1|}}}c", "a b c"),
        ("a<ref>b</ref> c<ref name=x /> d<!-- e -->", "a c d"),
        ("one\n{|\n! head\n|-\n| cell\n|}\ntwo", "one\ntwo"),
        ("lead\n== History ==\ntext\n=== ''Early'' ===\n", "lead\nHistory\ntext\nEarly"),
        ("* one\n** two\n# three\n: four", "one\ntwo\nthree\nfour"),
        ("; term: meaning", "term meaning"),
        ("a\n\n\nb\n----\nc", "a\nb\nc"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("[http://a.b label] [http://a.b] http://c.d", "label http://c.d"),
        ("<nowiki>[[not a link]]</nowiki> <b>bold</b> x<sub>2</sub>", "[[not a link]] bold x2"),
        ("<math>x^2</math> <gallery>\nFile:a.png\n</gallery> text", "text"),
        ("__NOTOC__ a __TOC__", "a"),
        ("Zeus ({{lang|grc|x}}; ) god", "Zeus god"),
        ("", ""),
        ("[[broken {{ also <ref> ''", "[[broken {{ also <ref>"),
    ],
)
def test_constructs(wikitext, text):
    assert plain_text(wikitext) == text


def test_names_of_dropped_namespaces():
    assert dropped_names({6: "Datei", 14: "Kategorie", 0: ""}) == {
        "datei",
        "kategorie",
        "file",
        "image",
        "media",
        "category",
    }


PIECES = [
    "[[",
    "]]",
    "{{",
    "}}",
    "|",
    "==",
    "\n",
    "''",
    "<ref>",
    "</ref>",
    "{|",
    "|}",
    "<!--",
    "-->",
    "a b",
    "&lt;",
    "*",
    "http://a",
]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25))
def test_any_wikitext_gives_tidy_lines(pieces):
    text = plain_text("".join(pieces))
    assert all(line == line.strip() and line for line in text.split("\n")) or text == ""
