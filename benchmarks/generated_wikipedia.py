"""A generated dump of a Wikipedia, in the form and with the proportions of the English one, of any size.

A seed gives the same bytes for any number of processes. The proportions, and where they come from:

- words of an article: log-normal with mean 696 (Wikipedia:Size of Wikipedia, April 2025) and a standard deviation of
  1.1 of the logarithm (assumed; 1.28 in the excerpt of the English Wikipedia that the project embeds)
- 29 links and 1.47 redirects an article (WikiLinkGraphs, Consonni and others, ICWSM 2019: 163 million links, 8.2
  million redirects); a quarter of the links goes both ways, in-degrees follow a power law of exponent 2.5 (Zlatić and
  Štefančić, 2011: 0.2 to 0.3, and 2.1 to 2.5)
- references, templates, sections and their levels, categories, files, tables, comments, links with another anchor or a
  small first letter: as in the excerpt (106 articles; per 1,000 words 18.6 references, 4 sections, 2.3 files, 0.19
  tables, 0.83 comments, 12,400 characters of wikitext)
- words: those of the excerpt by frequency, then compounds of them; frequencies fall with the rank to the power 1,
  beyond 8,000 words 1.8 (two regimes: Ferrer i Cancho and Solé, 2001); a quarter of the words are the article's own
- See Also in a quarter of the articles, disambiguation pages 5 %, links through redirects 12 %, red links 5 %: assumed

An article and what redirects to it lie side by side; pages of other namespaces are among them.
"""

import bz2
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from dump import excerpt
from irpretrain.foundation.atomic import atomic_file

PAGES_IN_STREAM = 100
BLOCK = 200
"""Articles that are generated at a time, from one random stream."""
MEAN_WORDS, SPREAD, MOST_WORDS = 696, 1.1, 30_000
LINKS = 29 / MEAN_WORDS
REFERENCES, SECTIONS, FILES, TABLES, COMMENTS, CATEGORIES = 0.0186, 0.004, 0.0023, 0.00019, 0.00083, 0.0019
"""All per word."""
PIPED, SMALL, BY_REDIRECT, RED = 0.27, 0.27, 0.12, 0.05
"""Shares of links: with another anchor, with a small first letter, through a redirect, to no page."""
MUTUAL = 0.4
"""Share of an article's links that go to a neighbour; the neighbour's number of links decides whether it links back."""
DISAMBIGUATION, CATEGORY_PAGES, REFLIST, EXTERNAL, INFOBOX = 0.05, 0.35, 0.8, 0.5, 0.45
"""Shares of articles."""
VOCABULARY, KNEE = 1 << 20, 8_000
OWN, OWN_WORDS = 0.25, 40
"""Share of an article's words that are among so many of its own."""
TITLE_WORDS = 1 << 12
"""Titles are a word of so many and one of so many others."""
MOST_REDIRECTS = 6
IDS = MOST_REDIRECTS + 2
"""Page numbers kept for an article, its redirects, and a page of another namespace."""
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>{namespace}</ns>
    <id>{number}</id>
{redirect}    <revision>
      <id>{revision}</id>
      <timestamp>2025-11-01T00:00:00Z</timestamp>
      <contributor><username>Generator</username><id>7</id></contributor>
      <origin>{revision}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{bytes}" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""
REDIRECT_FORMS = ("The {a} {b}", "{a}-{b}", "{b} {a}", "New {a} {b}", "{b} of {a}", "{a} {b} and {a}")
"""Titles that no article has."""


@dataclass(frozen=True)
class Page:
    """A page of the dump."""

    number: int
    title: str
    text: str
    namespace: int = 0
    redirect: str = ""

    def xml(self) -> str:
        """Return the page as it stands in a dump."""
        moved = f'    <redirect title="{escape(self.redirect)}" />\n' if self.redirect else ""
        return PAGE.format(
            title=escape(self.title), namespace=self.namespace, number=self.number, redirect=moved,
            revision=1_000_000_000 + self.number, bytes=len(self.text.encode()), text=escape(self.text),
        )  # fmt: skip


@dataclass(frozen=True)
class Wikipedia:
    """A generated Wikipedia.

    Attributes:
        articles: how many, disambiguation pages included.
        seed: of all draws.
        see_also: share of articles with a See Also section.
        redirects: how many lead to an article, on average; at most MOST_REDIRECTS to one.
    """

    articles: int
    seed: int = 1
    see_also: float = 0.25
    redirects: float = 1.47

    def title(self, article: int) -> str:
        """Return an article's title, which no other article has."""
        first, second = self._title_words(article)
        name = f"{first.capitalize()} {second}"
        return f"{name} ({vocabulary()[100 + article % 50]})" if article % 10 == 0 else name

    def redirect_titles(self, article: int) -> list[str]:
        """Return the titles that redirect to an article."""
        first, second = self._title_words(article)
        forms = (
            REDIRECT_FORMS[position].format(a=first, b=second) for position in range(self._redirects[article])
        )
        return [name[0].upper() + name[1:] for name in forms]

    def page_number(self, article: int) -> int:
        """Return the number of an article's page."""
        return 10 + IDS * article

    def pages(self, block: int) -> Iterator[Page]:
        """Yield the pages of BLOCK articles."""
        rng = np.random.default_rng([self.seed, 1, block])
        for article in range(block * BLOCK, min((block + 1) * BLOCK, self.articles)):
            title, number = self.title(article), self.page_number(article)
            writer = _Writer(self, article, rng)
            disambiguation = rng.random() < DISAMBIGUATION
            yield Page(number, title, writer.disambiguation() if disambiguation else writer.article())
            for position, name in enumerate(self.redirect_titles(article), 1):
                part = f"#{writer.words(1)[0].capitalize()}" if rng.random() < 0.05 else ""
                text = f"#REDIRECT [[{title}{part}]]\n\n{{{{R from alternative name}}}}"
                yield Page(number + position, name, text, redirect=title)
            if rng.random() < CATEGORY_PAGES:
                text = f"{{{{Commons category|{title}}}}}\n[[Category:{vocabulary()[200 + article % 999]}]]\n"
                yield Page(number + IDS - 1, f"Category:{title}", text, 14)

    @property
    def blocks(self) -> int:
        """How many blocks of articles there are."""
        return -(-self.articles // BLOCK)

    @cached_property
    def lengths(self) -> np.ndarray:
        """int [articles]: words of each."""
        normal = np.random.default_rng([self.seed, 0]).normal(size=self.articles)
        drawn = np.exp(np.log(MEAN_WORDS) - SPREAD**2 / 2 + SPREAD * normal)
        return np.clip(drawn, 15, MOST_WORDS).astype(np.int64)

    def links(self, article: int, rng: np.random.Generator) -> list[int]:
        """Draw the articles that an article links: neighbours, of which many link back, and popular ones."""
        count = int(rng.poisson(LINKS * self.lengths[article]))
        mutual = min(round(MUTUAL * LINKS * self.lengths[article]), count)
        near = [article ^ step for step in range(1, mutual + 1)]
        return [target for target in near if target < self.articles] + self.popular(count - mutual, rng)

    def popular(self, count: int, rng: np.random.Generator) -> list[int]:
        """Draw articles by a cube law: the top thousandth draws a tenth."""
        ranks = (self.articles * rng.random(count) ** 3).astype(np.int64)
        chosen: list[int] = (ranks * 7_368_787 % self.articles).tolist()
        return chosen

    def draw_words(self, count: int, rng: np.random.Generator, least_rank: int = 0) -> list[str]:
        """Draw words by frequency, none of the most frequent `least_rank`."""
        low = _cumulative()[least_rank - 1] if least_rank else 0.0
        ranks = np.searchsorted(_cumulative(), low + (1 - low) * rng.random(count), side="right")
        chosen: list[str] = vocabulary()[np.minimum(ranks, VOCABULARY - 1)].tolist()
        return chosen

    def _title_words(self, article: int) -> tuple[str, str]:
        # An odd factor makes another number of each; an article's number has no part in its words.
        second, first = divmod(article * 10_368_889 % TITLE_WORDS**2, TITLE_WORDS)
        return vocabulary()[1000 + first], vocabulary()[1000 + TITLE_WORDS + second]

    @cached_property
    def _redirects(self) -> np.ndarray:
        drawn = np.random.default_rng([self.seed, 2]).geometric(1 / (1 + self.redirects), self.articles) - 1
        return np.minimum(drawn, MOST_REDIRECTS)


@cache
def vocabulary() -> np.ndarray:
    """Return all words, the most frequent first."""
    counts = Counter(
        word for _, text in excerpt() for word in text.lower().split() if word.isascii() and word.isalpha()
    )
    simple = sorted(counts, key=lambda word: (-counts[word], word))
    words = dict.fromkeys(simple)
    pool = simple[300:3300]
    for number in range(VOCABULARY * 2):
        if len(words) == VOCABULARY:
            break
        first, second = divmod(number * 7919 % (len(pool) ** 2), len(pool))
        words[pool[first] + pool[second]] = None
    return np.array(list(words), object)


@cache
def _cumulative() -> np.ndarray:
    """Return the share of all occurrences that are of a word or a more frequent one."""
    ranks = np.arange(1, VOCABULARY + 1) + 2.7
    weights = np.where(ranks < KNEE, 1 / ranks, (ranks / KNEE) ** -1.8 / KNEE)
    summed: np.ndarray = np.cumsum(weights / weights.sum())
    return summed


class _Writer:
    """Writes the wikitext of one article."""

    def __init__(self, wikipedia: Wikipedia, article: int, rng: np.random.Generator) -> None:
        self._wikipedia, self._article, self._rng = wikipedia, article, rng

    def words(self, count: int) -> list[str]:
        return self._wikipedia.draw_words(count, self._rng, 300)

    def disambiguation(self) -> str:
        title = self._wikipedia.title(self._article)
        links = [f"* [[{self._wikipedia.title(target)}]]" for target in self._wikipedia.popular(4, self._rng)]
        return "\n".join([f"'''{title}''' may refer to:", *links, "", "{{disambiguation}}"])

    def article(self) -> str:
        length = int(self._wikipedia.lengths[self._article])
        title = self._wikipedia.title(self._article)
        parts = ["{{Short description|" + " ".join(self.words(4)) + "}}"]
        if self._rng.random() < INFOBOX:
            parts.append(self._infobox(title))
        parts.append(f"'''{title}''' is {self._prose(length)}")
        if self._rng.random() < self._wikipedia.see_also:
            targets = self._wikipedia.popular(1 + int(self._rng.poisson(2)), self._rng)
            parts.append("== See also ==\n" + "\n".join(f"* [[{self._wikipedia.title(t)}]]" for t in targets))
        if self._rng.random() < REFLIST:
            parts.append("== References ==\n{{Reflist}}")
        if self._rng.random() < EXTERNAL:
            url = f"* [http://www.example.org/{self._article} {' '.join(self.words(4))}]"
            parts.append(f"== External links ==\n{url}\n* {{{{Official website|example.org}}}}")
        parts.append("{{Authority control}}")
        count = 1 + int(self._rng.poisson(CATEGORIES * length + 2))
        parts.append("\n".join(f"[[Category:{word.capitalize()}]]" for word in self.words(count)))
        if length < 250:
            parts.append("{{stub}}")
        return "\n\n".join(parts)

    def _infobox(self, title: str) -> str:
        names = self.words(24)
        rows = [f"| {name} = {value}" for name, value in zip(names[::2], names[1::2], strict=True)]
        return "\n".join(["{{Infobox thing", f"| name = {title}", *rows, "}}"])

    def _prose(self, length: int) -> str:
        """Return sentences with links and references, in paragraphs under headings."""
        rng = self._rng
        tokens = self._wikipedia.draw_words(length, rng)
        own = self.words(OWN_WORDS)
        for position in np.flatnonzero(rng.random(length) < OWN).tolist():
            tokens[position] = own[int(OWN_WORDS * rng.random() ** 2)]
        self._link(tokens)
        lengths = np.cumsum(rng.integers(5, 36, 2 + length // 5))
        ends = [*lengths[lengths < length].tolist(), length]
        headings = int(rng.poisson(SECTIONS * length))
        breaks = set(rng.choice(len(ends) - 1, min(headings, len(ends) - 1), replace=False).tolist())
        references = rng.poisson(REFERENCES * length / len(ends), len(ends)).tolist()
        level, start = 1, 0
        for position, end in enumerate(ends):
            tokens[start] = tokens[start][:1].upper() + tokens[start][1:]
            tokens[end - 1] += "." + "".join(self._reference() for _ in range(references[position]))
            if position in breaks:
                level = int(min(2 if rng.random() < 0.4 else level + 1, 4))
                marks = "=" * level
                heading = " ".join(self.words(2)).capitalize()
                tokens[end - 1] += f"\n\n{marks} {heading} {marks}\n{self._extras(length)}"
            elif position % 4 == 3:
                tokens[end - 1] += "\n\n"
            start = end
        # A line that begins with a space would be preformatted text.
        return " ".join(tokens).replace("\n ", "\n").rstrip()

    def _link(self, tokens: list[str]) -> None:
        """Put links in the place of words."""
        targets = self._wikipedia.links(self._article, self._rng)[: len(tokens) - 1]
        positions = self._rng.choice(len(tokens) - 1, len(targets), replace=False).tolist()
        kinds = self._rng.random((len(targets), 3)).tolist()
        for position, target, (through, piped, small) in zip(positions, targets, kinds, strict=True):
            title = self._wikipedia.title(target)
            if through < BY_REDIRECT:
                title = (self._wikipedia.redirect_titles(target) or [title])[-1]
            elif through > 1 - RED:
                title = f"{title} that nobody wrote"
            if piped < PIPED:
                tokens[position] = f"[[{title}|{tokens[position]}]]"
            else:
                tokens[position] = f"[[{title[0].lower() + title[1:] if small < SMALL else title}]]"

    def _reference(self) -> str:
        words = self.words(12)
        return (
            f"<ref>{{{{cite web |url=http://{words[0]}.example.org/{words[1]}/{words[2]} "
            f"|title={' '.join(words[3:9])} |last={words[9]} |first={words[10]} |publisher={words[11]} "
            "|date=1 May 2015 |access-date=2 June 2016}}</ref>"
        )

    def _extras(self, length: int) -> str:
        """Return what stands at the beginning of a section: files, tables, comments."""
        sections = max(1.0, SECTIONS * length)
        drawn = self._rng.poisson([share * length / sections for share in (FILES, TABLES, COMMENTS)]).tolist()
        files, tables, comments = drawn
        text = "".join(f"[[File:{w}.jpg|thumb|{' '.join(self.words(8))}]]\n" for w in self.words(files))
        for _ in range(tables):
            rows = ("\n|-\n| " + " || ".join(self.words(5)) for _ in range(20))
            text += '{| class="wikitable"\n! ' + " !! ".join(self.words(5)) + "".join(rows) + "\n|}\n"
        return text + "<!-- to do -->" * comments


Stream = tuple[bytes, list[tuple[int, str]]]
"""A compressed stream, and the numbers and titles of its pages."""


def _streams(wikipedia: Wikipedia, block: int) -> list[Stream]:
    pages = list(wikipedia.pages(block))
    groups = [pages[first : first + PAGES_IN_STREAM] for first in range(0, len(pages), PAGES_IN_STREAM)]
    return [
        (bz2.compress("".join(page.xml() for page in group).encode()), [(p.number, p.title) for p in group])
        for group in groups
    ]


_shared: list[Wikipedia] = []
"""The Wikipedia that a process generates blocks of."""


def _begin(wikipedia: Wikipedia) -> None:
    _shared[:] = [wikipedia]


def _streams_in_process(block: int) -> list[Stream]:
    return _streams(_shared[0], block)


def write_dump(path: Path, wikipedia: Wikipedia, processes: int = 1) -> None:
    """Write a multistream dump, and beside it the index that Wikimedia gives with it."""
    index = path.with_name(path.name.replace("-multistream.xml", "-multistream-index.txt"))
    with atomic_file(path) as dump, atomic_file(index) as lines:
        with dump.open("wb") as file, bz2.open(lines, "wt", encoding="utf-8") as names:
            file.write(bz2.compress(HEAD.encode()))
            for stream, pages in _all_streams(wikipedia, processes):
                names.writelines(f"{file.tell()}:{number}:{title}\n" for number, title in pages)
                file.write(stream)
            file.write(bz2.compress(b"</mediawiki>\n"))


def _all_streams(wikipedia: Wikipedia, processes: int) -> Iterator[Stream]:
    if processes == 1:
        for block in range(wikipedia.blocks):
            yield from _streams(wikipedia, block)
        return
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(wikipedia,)) as pool:
        at_once = 16 * processes  # so that finished blocks do not fill the memory
        for first in range(0, wikipedia.blocks, at_once):
            for streams in pool.map(
                _streams_in_process, range(first, min(first + at_once, wikipedia.blocks))
            ):
                yield from streams
