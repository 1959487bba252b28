"""A complete small Wikipedia, Latgalian of 2017, against mwparserfromhell: headings, links and See Also lists.

`latgalian_dump` says where the dump comes from; without it the tests are skipped.
"""

from collections import Counter

import pytest
from wikitext_comparison import Compared, Comparison, Difference, compare
from wikitext_reference import Edition, Reading

from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import WHOLE_FILE
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import Page, read_pages
from irpretrain.wikipedia.titles import redirect_target
from irpretrain.wikipedia.wikitext import parse_article
from latgalian_dump import latgalian_dump

LATGALIAN = Edition(
    code="ltg",
    see_also=frozenset({"veristaipos", "vrtaipos", "temettaipos"}),
    hidden=frozenset(
        {"fails", "attēls", "file", "image", "kategoreja", "kategorejis", "kategorija", "category"}
    ),
    elsewhere=frozenset(
        {
            *("ltg", "be", "bat-smg", "de", "en", "et", "fiu-vro", "fr", "lt", "lv", "nds", "pl", "ru", "sv"),
            *("vikipedeja", "seviškuo", "lītuotuojs", "commons", "m", "bugzilla"),
        }
    ),
    trail="[a-zA-ZāĀčČēĒģĢīĪķĶļĻņŅōŌšŠūŪžŽ]*",
    in_lists=frozenset({"columns-list"}).__contains__,
    made_by_templates=frozenset(),
)


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return latgalian_dump(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="module")
def found(dump):
    pages = [page for page in read_pages(read_pieces(dump, WHOLE_FILE), 1_000_000) if isinstance(page, Page)]
    language = WikiLanguage.of(read_site(piece.text for piece in read_pieces(dump, WHOLE_FILE)))
    words = language.redirects
    articles = [p for p in pages if p.namespace == 0 and redirect_target(p.text, p.redirect, words) is None]
    texts = [page.text for page in articles if page.text]
    assert len(texts) == 903
    total = Comparison()
    for text in texts:
        total.add(compare(parse_article(text, language), Reading.of(text, LATGALIAN)))
    return total


def test_headings_are_the_same_but_for_one(found):
    assert found.headings == Compared(Counter({"the same": 2127, "with a reference": 1}))


def test_links_are_the_same_but_for_classes_that_are_explained(found):
    assert found.links.unexplained == []
    assert found.links.classes == {
        "the same": 5517,
        "to another wiki or namespace": 47,
        "in a table that mwparserfromhell takes for text": 112,
        "a link that mwparserfromhell takes for text": 1,
    }


def test_see_also_lists_are_the_same_but_for_one(found):
    """The list of "Livonejis ordyna magistri", which the link is on that mwparserfromhell takes for text."""
    only_ours = Difference("Zūbynbruoļu ordyna magistris", "")
    assert found.see_also == Compared(Counter({"the same": 39}), [only_ours])
