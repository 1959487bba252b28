"""Our reading of a page beside mwparserfromhell's: what is the same, and what differs by class of difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Difference:
    """One that no class explains; "" where one side has nothing."""

    ours: str
    theirs: str


@dataclass
class Compared:
    """Things of one kind: how many in each class (`SAME` or one of those above), and those that no class explains."""

    classes: Counter[str] = field(default_factory=Counter)
    unexplained: list[Difference] = field(default_factory=list)

    def count(self, kind: str, number: int = 1) -> None:
        if number:
            self.classes[kind] += number

    def add(self, other: Compared) -> None:
        self.classes.update(other.classes)
        self.unexplained += other.unexplained


@dataclass
class Comparison:
    """Headings, links, and links of See Also lists, of a page or of many."""

    headings: Compared = field(default_factory=Compared)
    links: Compared = field(default_factory=Compared)
    see_also: Compared = field(default_factory=Compared)

    def add(self, other: Comparison) -> None:
        self.headings.add(other.headings)
        self.links.add(other.links)
        self.see_also.add(other.see_also)


def compare(article: Article, reading: Reading) -> Comparison:
    """Compare our reading of a page with theirs."""
    return Comparison(_headings(article, reading), _links(article, reading), _see_also(article, reading))


def _headings(article: Article, reading: Reading) -> Compared:
    found = Compared()
    mine = [(section.level, section.heading) for section in article.sections[1:]]
    if len(mine) == len(reading.headings):
        for own, other in zip(mine, reading.headings, strict=True):
            if kind := _kind_of_heading(own, other):
                found.count(kind)
            else:
                found.unexplained.append(Difference(_heading(*own), _heading(other.level, other.text)))
        return found
    ours, theirs = Counter(mine), Counter((heading.level, heading.text) for heading in reading.headings)
    found.count(SAME, (ours & theirs).total())
    found.unexplained += [Difference(_heading(*heading), "") for heading in (ours - theirs).elements()]
    found.unexplained += [Difference("", _heading(*heading)) for heading in (theirs - ours).elements()]
    return found


def _kind_of_heading(ours: tuple[int, str], theirs: HeadingRead) -> str | None:
    if ours == (theirs.level, theirs.text):
        return SAME
    if ours == (theirs.level, theirs.without):
        return REFERENCE
    return TEMPLATE_IN_HEADING if ours[0] == theirs.level and theirs.template else None


def _heading(level: int, text: str) -> str:
    return f"{'=' * level} {text} {'=' * level}"


def _links(article: Article, reading: Reading) -> Compared:
    found = Compared()
    mine = Counter((_titled(link), article.text[link.start : link.end]) for link in article.links)
    theirs = Counter(reading.links)
    quoted = Counter(reading.in_templates)
    more, less = mine - theirs, theirs - mine
    found.count(SAME, (mine & theirs).total())
    found.count(IN_TEMPLATE, (more & quoted).total())
    more -= quoted
    _explain_theirs(less, more, reading, found)
    for title, anchor in more.elements():
        if reading.is_made_by_template(title):
            found.count(MADE)
        elif any(f"[[{title}" in text for text in reading.texts):
            found.count(TEXT)
        else:
            found.unexplained.append(Difference(_link(title, anchor), ""))
    return found


def _explain_theirs(
    less: Counter[tuple[str, str]], more: Counter[tuple[str, str]], reading: Reading, found: Compared
) -> None:
    """Explain the links that only they have; those of ours that complete one of them are taken out of `more`."""
    in_tables = Counter(reading.in_text_tables)
    for title, anchor in less.elements():
        completed = next((link for link in more if link[0] == title and link[1].startswith(anchor)), None)
        if reading.edition.leads_elsewhere(title):
            found.count(ELSEWHERE)
        elif completed:
            found.count(COMPLETED)
            more.subtract([completed])
            if not more[completed]:
                del more[completed]
        elif in_tables[title, anchor]:
            found.count(TEXT_TABLE)
            in_tables[title, anchor] -= 1
        else:
            found.unexplained.append(Difference("", _link(title, anchor)))


def _titled(link: Link) -> str:
    """Return the target of a link of ours with its fragment."""
    return link.target + ("#" + link.fragment if link.fragment else "")


def _link(title: str, anchor: str) -> str:
    return f"[[{title}]]" if title == anchor else f"[[{title}|{anchor}]]"


def _see_also(article: Article, reading: Reading) -> Compared:
    """See Also lists are the same where all their links are, in order."""
    mine = [_titled(link) for link in article.links if article.sections[link.section].role == "see-also"]
    if mine == reading.see_also:
        return Compared(Counter({SAME: len(mine)} if mine else {}))
    return Compared(unexplained=[Difference("; ".join(mine), "; ".join(reading.see_also))])
