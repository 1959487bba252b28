"""Headings, links and See Also lists of the embedded excerpt against mwparserfromhell, an independent parser."""

from collections import Counter

import pytest

from wikitext_comparison import Compared, Comparison, compare
from wikitext_reference import Edition

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
        total.add(compare(text, language, ENGLISH))
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


def test_what_is_known_of_the_wiki_serves_as_well_as_names_by_hand(found, excerpt):
    """The audit of a user's wiki has no names by hand."""
    pages, language = excerpt
    total = Comparison()
    for _, text in pages[::5]:
        total.add(compare(text, language, Edition.of(language)))
    assert total.headings.unexplained == total.links.unexplained == total.see_also.unexplained == []
