"""Headings, links and See Also lists against mwparserfromhell, an independent parser.

Pages are those of the embedded excerpt, and of a complete small Wikipedia, Latgalian of 2017: `latgalian_dump` says
where its dump comes from; without it these tests are skipped.
"""

from collections import Counter

from wikitext_comparison import compare
from wikitext_reference import Edition, Reading

from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import WHOLE_FILE
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import Page, read_pages
from irpretrain.wikipedia.titles import redirect_target
from irpretrain.wikipedia.wikitext import parse_article
from latgalian_dump import latgalian_dump

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


def counts_of(texts, language, edition):
    """Sums over pages of what `compare` counts of each."""
    total = {"headings": Counter(), "links": Counter(), "see also": Counter()}
    for text in texts:
        for kind, counts in compare(parse_article(text, language), Reading.of(text, edition)).items():
            total[kind] += counts
    return total


def test_the_english_excerpt(excerpt):
    pages, language = excerpt
    assert counts_of([text for _, text in pages], language, ENGLISH) == {
        "headings": {"the same": 2261},
        "links": {
            "the same": 22611,
            "inside a template that is shown": 161,
            "made by a template that is shown": 12,
            "a template that is shown inside the anchor": 11,
            "to another wiki or namespace": 61,
        },
        "see also": {"the same": 633},
    }


def test_resource_files_know_as_much_of_the_wiki_as_names_by_hand(excerpt):
    pages, language = excerpt
    total = counts_of([text for _, text in pages[::5]], language, Edition.of(language))
    assert not [difference for counts in total.values() for difference in counts if "ours: " in difference]


def test_the_latgalian_wikipedia(tmp_path):
    dump = latgalian_dump(tmp_path)
    pages = [page for page in read_pages(read_pieces(dump, WHOLE_FILE), 1_000_000) if isinstance(page, Page)]
    language = WikiLanguage.of(read_site(piece.text for piece in read_pieces(dump, WHOLE_FILE)))
    words = language.redirects
    articles = [p for p in pages if p.namespace == 0 and redirect_target(p.text, p.redirect, words) is None]
    texts = [page.text for page in articles if page.text]
    assert len(texts) == 903
    assert counts_of(texts, language, LATGALIAN) == {
        "headings": {"the same": 2127, "with a reference": 1},
        "links": {
            "the same": 5517,
            "to another wiki or namespace": 47,
            "in a table that mwparserfromhell takes for text": 112,
            "a link that mwparserfromhell takes for text": 1,
        },
        # In the list of "Livonejis ordyna magistri", the link that mwparserfromhell takes for text.
        "see also": {"the same": 39, "ours: Zūbynbruoļu ordyna magistris, theirs: ": 1},
    }
