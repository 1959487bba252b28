"""Headings, links and See Also lists of the embedded excerpt against mwparserfromhell, an independent parser."""

import pytest
from reference_parser import Edition, compare_headings, compare_links, compare_see_also, read_both

ENGLISH = Edition(
    see_also=frozenset({"see also"}),
    hidden=frozenset({"file", "image", "category"}),
    elsewhere=frozenset(
        {
            *("wikt", "wiktionary", "w", "s", "v", "commons", "wikisource", "special", "talk", "category"),
            *("de", "fr", "da", "bg", "es", "it", "he", "nl", "ja", "pl", "fi", "sv", "te", "th", "zh", "no"),
            "be-x-old",
        }
    ),
    made_by_templates=frozenset(
        {  # eleven flags and an article of another language edition
            *("Madeira", "Azores", "Canary Islands", "Guadeloupe", "French Guiana", "Bonaire", "Martinique"),
            *("Saint Pierre and Miquelon", "Saba", "Saint Barthélemy", "Sint Eustatius"),
            "Gymnasium Ernestinum Gotha",
        }
    ),
)


@pytest.fixture(scope="module")
def pairs(excerpt):
    pages, language = excerpt
    return read_both(pages, language, ENGLISH)


def test_headings_are_the_same(pairs):
    assert compare_headings(pairs) == ({"the same": 2261}, [])


def test_links_are_the_same_but_for_classes_that_are_explained(pairs):
    classes, unexplained = compare_links(pairs, ENGLISH)
    assert unexplained == []
    assert classes == {
        "the same": 22611,
        "inside a template that is shown": 154,
        "made by a template that is shown": 12,
        "a template that is shown inside the anchor": 11,
        "to another wiki or namespace": 61,
    }


def test_see_also_lists_are_the_same(pairs):
    assert compare_see_also(pairs) == (633, [])
