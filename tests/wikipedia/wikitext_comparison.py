"""Our reading of a page beside mwparserfromhell's: what is the same, and what differs by class of difference."""

from __future__ import annotations

from collections import Counter

from wikitext_reference import HeadingRead, Reading

from irpretrain.wikipedia.article import Article, Link

SAME = "the same"
# Classes of difference that say nothing against our parser.
REFERENCE = "with a reference"  # theirs shows its text in the heading
TEMPLATE_IN_HEADING = "a template that is shown in the heading"
ELSEWHERE = "to another wiki or namespace"  # theirs only
IN_TEMPLATE = "inside a template that is shown"  # ours only, as the next one
MADE = "made by a template that is shown"
COMPLETED = "a template that is shown inside the anchor"  # which theirs lacks
TEXT_TABLE = "in a table that mwparserfromhell takes for text"  # we drop tables
TEXT = "a link that mwparserfromhell takes for text"  # its markup is too deep or unbalanced


def compare(article: Article, reading: Reading) -> dict[str, Counter[str]]:
    """Count headings, links, and links of See Also lists by class; a difference that no class explains is its own."""
    return {
        "headings": _headings(article, reading),
        "links": _links(article, reading),
        "see also": _see_also(article, reading),
    }


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
    if ours[0] == theirs.level and theirs.template:
        return TEMPLATE_IN_HEADING
    return _unexplained(str(ours), str((theirs.level, theirs.text)))


def _links(article: Article, reading: Reading) -> Counter[str]:
    ours = Counter((_titled(link), article.text[link.start : link.end]) for link in article.links)
    theirs, quoted = Counter(reading.links), Counter(reading.in_templates)
    more, less = ours - theirs, theirs - ours
    kinds = Counter({SAME: (ours & theirs).total(), IN_TEMPLATE: (more & quoted).total()})
    more -= quoted
    kinds.update(_kinds_of_theirs(less, more, reading))
    for title, anchor in more.elements():
        if reading.is_made_by_template(title):
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
        if reading.edition.leads_elsewhere(title):
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
