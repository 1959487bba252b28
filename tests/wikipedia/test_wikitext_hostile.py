"""Input made to be slow or to break: very much of one thing, ten thousand random and mutated texts."""

import re
from functools import partial
from time import process_time

import pytest
from hostile_wikitext import CLOSERS, EVERYTHING, UNITS, generators, nested, nested_page, repeated
from hypothesis import given, settings
from hypothesis import strategies as st
from wiki_pages import ENGLISH

from irpretrain.foundation.characters import clean_text
from irpretrain.wikipedia.wikitext import parse_article


def check(article):
    """What holds for every article."""
    text = article.text
    assert clean_text(text) == text
    assert "  " not in text
    assert not re.search("[\x00-\x09\x0b-\x1f]", text)
    assert all(line and line == line.strip() for line in text.split("\n")) or not text
    at, lead = 0, article.sections[0]
    assert (lead.level, lead.heading, lead.start) == (0, "", 0)
    for section in article.sections:
        assert at <= section.start <= section.end <= len(text)
        own = text[section.start : section.end]
        assert own == own.strip("\n")
        before = text[at : section.start].strip("\n")
        assert before == section.heading
        at = section.end
    assert at == len(text)
    at = 0
    for link in article.links:
        assert at <= link.start < link.end <= len(text)
        anchor = text[link.start : link.end]
        assert anchor == anchor.strip()
        assert "\n" not in anchor
        assert link.target or link.fragment
        before = article.sections[link.section - 1].end if link.section else 0
        assert before <= link.start < link.end <= article.sections[link.section].end
        at = link.end


LENGTHS = [200, pytest.param(1000, marks=pytest.mark.deep)]
"""Thousands of characters. What takes more than linear time is ended by the time limit at the latter."""


KINDS = {unit: repeated(unit) for unit in [*UNITS, "{{ ", "{{disambiguation ", "{{dab|"]}
KINDS |= {name: partial(nested_page, name) for name in nested(0)}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("thousands", LENGTHS)
@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_very_much_of_one_thing_or_of_things_in_each_other(kind, thousands):
    check(parse_article(KINDS[kind](1000 * thousands), ENGLISH))


def test_external_links_of_one_line_take_linear_time():
    """A search for the line's end from each link would take 40 to 120 times as long for 8 times the text."""

    def seconds(thousands):
        text, spent = "[//d e] " * (1000 * thousands // 8), []
        for _ in range(3):
            start = process_time()
            parse_article(text, ENGLISH)
            spent.append(process_time() - start)
        return min(spent)

    assert seconds(2000) < 20 * seconds(250)


@pytest.mark.deep
@pytest.mark.timeout(1200)
def test_much_of_two_things_behind_each_other_or_in_turn():
    kinds = generators()
    assert len(kinds) >= 300
    for name, make in kinds.items():
        try:
            check(parse_article(make(50_000), ENGLISH, EVERYTHING))
        except AssertionError as error:
            raise AssertionError(name) from error


TOKENS = [
    *UNITS, *CLOSERS, "[[File:x|", "[[Category:x]]", "[[fr:x]]", "[", "}}}", "{{lang|x|", "{{quote|", "{{ubl|", "|-",
    "|", "||", "=", "===", "\n\n", "\n;", "\n----", "'''", "'''''", "'", "<ref name=a/>", "<nowiki/>", "</pre>",
    "<div>", "</table>", "<", ">", "&lt;", "&nbsp;", "&#10;", "&", "#", "_", "<math>", "</math>", "<gallery>",
    "</gallery>", "{{val|", "{{x|two words ", "File:x.png|a b", "__TOC__", ", ", ". ", "; ", "\u2028", "\t", "\x04",
    "\x06", "5", "http://a.b", "es", "A b", "ä", "<sup>", "{{frac|1|2}}", "<sub>", "</sub>", "</ce>", "\x0e", "\x0f",
    "\x10",
]  # fmt: skip
LINK = object()


@settings(max_examples=50 * settings.default.max_examples)
@given(st.lists(st.sampled_from([*TOKENS, *[LINK] * 12]) | st.text(max_size=5), max_size=40))
def test_random_wikitext(pieces):
    """Each whole link has a number in its target and in its anchor: no anchor may go to another link."""
    wikitext = "".join(f"[[T{n}|A{n}]]" if piece is LINK else piece for n, piece in enumerate(pieces))
    article = parse_article(wikitext, ENGLISH)
    check(article)
    check(parse_article(wikitext, ENGLISH, EVERYTHING))
    for link in article.links:
        if re.fullmatch(r"T\d+", link.target):
            anchor = article.text[link.start : link.end]
            assert re.fullmatch(rf"A{link.target[1:]}[a-z]*", anchor), wikitext


@settings(max_examples=20 * settings.default.max_examples)
@given(st.data())
def test_mutated_articles(excerpt, data):
    pages, language = excerpt
    text = pages[data.draw(st.integers(0, len(pages) - 1))][1]
    start = data.draw(st.integers(0, len(text)))
    text = text[start : start + data.draw(st.integers(0, 3000))]
    for _ in range(data.draw(st.integers(1, 6))):
        position, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
        middle = data.draw(st.sampled_from([*TOKENS, "", text[position : position + length] * 2]))
        text = text[:position] + middle + text[position + length :]
    check(parse_article(text, language, EVERYTHING))


@pytest.mark.parametrize("link", ["", "[[a]] ", "[[a|{{nowrap|b}}]] [[c|{{nowrap|d}}]] "])
def test_templates_are_shown_down_to_a_depth_that_links_do_not_change(link):
    def shown(depth):
        return parse_article(f"One {{{{nowrap|{link}{nested_calls(depth - 1)}}}}} two.", ENGLISH).text

    def nested_calls(depth):
        return "{{nowrap|" * depth + "inner" + "}}" * depth

    assert "inner" in shown(40)
    assert "inner" not in shown(41)
