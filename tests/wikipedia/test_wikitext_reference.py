"""Headings, links and See Also lists against mwparserfromhell, an independent parser.

Pages are those of the embedded excerpt, and of a complete small Wikipedia, Latgalian of 2017: `latgalian_dump` says
where its dump comes from; without it these tests are skipped.
"""

from collections import Counter

from wikitext_reference import HeadingRead, Reading

from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import WHOLE_FILE
from irpretrain.wikipedia.article import Article, Link
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import Page, read_pages
from irpretrain.wikipedia.titles import redirect_target
from irpretrain.wikipedia.wikitext import parse_article
from latgalian_dump import latgalian_dump

SAME = "the same"
# Classes of difference that say nothing against our parser.
REFERENCE = "with a reference"  # theirs shows its text in the heading
ELSEWHERE = "to another wiki or namespace"  # theirs only
IN_TEMPLATE = "inside a template that is shown"  # ours only, as the next one
MADE = "made by a template that is shown"
COMPLETED = "a template that is shown inside the anchor"  # which theirs lacks
TEXT_TABLE = "in a table that mwparserfromhell takes for text"  # we drop tables
TEXT = "a link that mwparserfromhell takes for text"  # its markup is too deep or unbalanced


def counts_of(texts, language):
    """Headings, links, and links of See Also lists by class; a difference that no class explains is its own."""
    total = {"headings": Counter(), "links": Counter(), "see also": Counter()}
    for text in texts:
        article, reading = parse_article(text, language), Reading.of(text, language)
        total["headings"] += _headings(article, reading)
        total["links"] += _links(article, reading)
        total["see also"] += _see_also(article, reading)
    return total


def _unexplained(ours: str, theirs: str) -> str:
    return f"ours: {ours}, theirs: {theirs}"


def _headings(article: Article, reading: Reading) -> Counter[str]:
    ours = [(section.level, section.heading) for section in article.sections[1:]]
    theirs = [(heading.level, heading.text) for heading in reading.headings]
    if len(ours) != len(theirs):
        return Counter([_unexplained(str(ours), str(theirs))])
    return Counter(map(_kind_of_heading, ours, reading.headings))


def _kind_of_heading(ours: tuple[int, str], theirs: HeadingRead) -> str:
    if ours == (theirs.level, theirs.text):
        return SAME
    if ours == (theirs.level, theirs.without):
        return REFERENCE
    return _unexplained(str(ours), str((theirs.level, theirs.text)))


def _links(article: Article, reading: Reading) -> Counter[str]:
    ours = Counter((_titled(link), article.text[link.start : link.end]) for link in article.links)
    theirs, quoted = Counter(reading.links), Counter(reading.in_templates)
    more, less = ours - theirs, theirs - ours
    kinds = Counter({SAME: (ours & theirs).total(), IN_TEMPLATE: (more & quoted).total()})
    more -= quoted
    kinds.update(_kinds_of_theirs(less, more, reading))
    for title, anchor in more.elements():
        if title in reading.arguments:
            kinds[MADE] += 1
        elif any(f"[[{title}" in text for text in reading.texts):
            kinds[TEXT] += 1
        else:
            kinds[_unexplained(f"[[{title}|{anchor}]]", "")] += 1
    return +kinds


def _kinds_of_theirs(
    less: Counter[tuple[str, str]], more: Counter[tuple[str, str]], reading: Reading
) -> Counter[str]:
    """Explain the links that only they have; those of ours that complete one of them are taken out of `more`."""
    kinds: Counter[str] = Counter()
    in_tables = Counter(reading.in_text_tables)
    for title, anchor in less.elements():
        completed = next((link for link in more if link[0] == title and link[1].startswith(anchor)), None)
        if reading.leads_elsewhere(title):
            kinds[ELSEWHERE] += 1
        elif completed:
            kinds[COMPLETED] += 1
            more -= Counter([completed])
        elif in_tables[title, anchor]:
            kinds[TEXT_TABLE] += 1
            in_tables[title, anchor] -= 1
        else:
            kinds[_unexplained("", f"[[{title}|{anchor}]]")] += 1
    return kinds


def _titled(link: Link) -> str:
    """Return the target of a link of ours with its fragment."""
    return link.target + ("#" + link.fragment if link.fragment else "")


def _see_also(article: Article, reading: Reading) -> Counter[str]:
    """See Also lists are the same where all their links are, in order."""
    ours = [_titled(link) for link in article.links if article.sections[link.section].role == "see-also"]
    if ours == reading.see_also:
        return +Counter({SAME: len(ours)})
    return Counter([_unexplained("; ".join(ours), "; ".join(reading.see_also))])


def test_the_english_excerpt(excerpt):
    pages, language = excerpt
    assert counts_of([text for _, text in pages], language) == {
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


def test_the_latgalian_wikipedia(tmp_path):
    dump = latgalian_dump(tmp_path)
    pages = [page for page in read_pages(read_pieces(dump, WHOLE_FILE), 1_000_000) if isinstance(page, Page)]
    language = WikiLanguage.of(read_site(piece.text for piece in read_pieces(dump, WHOLE_FILE)))
    words = language.redirects
    articles = [p for p in pages if p.namespace == 0 and redirect_target(p.text, p.redirect, words) is None]
    texts = [page.text for page in articles if page.text]
    assert len(texts) == 903
    assert counts_of(texts, language) == {
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
