"""Headings, links and See Also lists of the embedded excerpt against mwparserfromhell, an independent parser."""

from collections import Counter

import pytest
from wikitext_comparison import Compared, Comparison, Difference, compare
from wikitext_reference import Edition, Reading

from irpretrain.wikipedia.wikitext import parse_article

ENGLISH = Edition(
    code="en",
    see_also=frozenset({"seealso"}),
    hidden=frozenset({"file", "image", "category"}),
    elsewhere=frozenset(
        {
            *("wikt", "wiktionary", "w", "s", "v", "commons", "wikisource", "special", "talk", "category"),
            *("de", "fr", "da", "bg", "es", "it", "he", "nl", "ja", "pl", "fi", "sv", "te", "th", "zh", "no"),
            "be-x-old",
        }
    ),
    trail="[a-z]*",
    in_lists=frozenset({"columns-list"}).__contains__,
    made_by_templates=frozenset(
        {  # eleven flags and an article of another language edition
            *("Madeira", "Azores", "Canary Islands", "Guadeloupe", "French Guiana", "Bonaire", "Martinique"),
            *("Saint Pierre and Miquelon", "Saba", "Saint Barthélemy", "Sint Eustatius"),
            "Gymnasium Ernestinum Gotha",
        }
    ),
)


@pytest.fixture(scope="module")
def found(excerpt):
    pages, language = excerpt
    total = Comparison()
    for _, text in pages:
        total.add(compare(parse_article(text, language), Reading.of(text, ENGLISH)))
    return total


def test_headings_are_the_same(found):
    assert found.headings == Compared(Counter({"the same": 2261}))


def test_links_are_the_same_but_for_classes_that_are_explained(found):
    assert found.links.unexplained == []
    assert found.links.classes == {
        "the same": 22611,
        "inside a template that is shown": 161,
        "made by a template that is shown": 12,
        "a template that is shown inside the anchor": 11,
        "to another wiki or namespace": 61,
    }


def test_see_also_lists_are_the_same(found):
    assert found.see_also == Compared(Counter({"the same": 633}))


def test_resource_files_know_as_much_of_the_wiki_as_names_by_hand(found, excerpt):
    pages, language = excerpt
    total = Comparison()
    for _, text in pages[::5]:
        total.add(compare(parse_article(text, language), Reading.of(text, Edition.of(language))))
    assert total.headings.unexplained == total.links.unexplained == total.see_also.unexplained == []


def test_a_difference_that_no_class_explains_is_found(excerpt):
    ours = "[[A|a]]\n== One ==\n== See also ==\n* [[C]]\n* [[D]]"
    theirs = "[[A|b]]\n=== One ===\n== See also ==\n* [[D]]"
    found = compare(parse_article(ours, excerpt[1]), Reading.of(theirs, ENGLISH))
    assert found.headings.unexplained == [Difference("== One ==", "=== One ===")]
    assert found.links.unexplained == [
        Difference("", "[[A|b]]"),
        Difference("[[A|a]]", ""),
        Difference("[[C]]", ""),
    ]
    assert found.see_also.unexplained == [Difference("C; D", "D")]
