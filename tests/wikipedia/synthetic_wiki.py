"""Writes synthetic collections of linked articles, and says by brute force what their graph is.

An article is a list of sections, a section a level, a heading and pieces: words, or links with an anchor. Everything
that a parser would have to find out (offsets, sections, levels) is known here by construction. A collection is written
as the tables that the parser would make, or as a dump in wikitext, from which the parser must make the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from synthetic_dumps import dump, page, write_tables

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.contracts import DOCUMENTS, REDIRECTS
from irpretrain.wikipedia.build_graph import build_graph
from irpretrain.wikipedia.links import extract_links


@dataclass(frozen=True)
class To:
    """A link: the title as an editor writes it, and its anchor (by default the title)."""

    target: str
    anchor: str = ""


Piece = str | To
Written = tuple[list[Path], list[Path]]
"""Tables of a corpus' shards: documents, redirects."""
ROLES = {"see also": "see-also", "references": "boilerplate", "external links": "boilerplate"}
"""What the dump's parser says of sections, by their heading in small letters."""


@dataclass(frozen=True)
class Part:
    """One section."""

    level: int
    heading: str
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True)
class Article:
    """One article; its first section is the lead."""

    title: str
    parts: Sequence[Part]
    disambiguation: bool = False


@dataclass
class Wiki:
    """A corpus: articles and redirects in their order."""

    articles: Sequence[Article]
    redirects: Sequence[tuple[str, str]] = ()
    prefix: str = "d"
    rows: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Redirects come after the articles; parts of a few records, so that shards can share them out.
        self.rows = [
            {
                "document_id": f"{self.prefix}{number}",
                "part": number // 3,
                "position": number % 3,
                **row(article),
            }
            for number, article in enumerate(self.articles)
        ]

    def write(self, folder: Path, shards: int) -> Written:
        """Write documents and redirects in so many shards; return their paths."""
        documents, redirects = [], []
        moved = [
            {"part": n // 2, "position": 100 + n % 2, "title": title, "target": target, "fragment": ""}
            for n, (title, target) in enumerate(self.redirects)
        ]
        for shard in range(shards):
            documents.append(folder / f"documents-{shard}.parquet")
            redirects.append(folder / f"redirects-{shard}.parquet")
            DOCUMENTS.write(documents[-1], [r for r in self.rows if r["part"] % shards == shard])
            REDIRECTS.write(redirects[-1], [r for r in moved if r["part"] % shards == shard])
        return documents, redirects

    def dump(self) -> bytes:
        """The XML of a dump: the articles, then the redirects, every second of which only its text tells."""
        pages = [
            page(number, escape(article.title), escape(wikitext(article)))
            for number, article in enumerate(self.articles, 1)
        ]
        for number, (title, target) in enumerate(self.redirects):
            mark = f'<redirect title="{escape(target)}" />' if number % 2 else ""
            text = f"#REDIRECT [[{target}]]"
            pages.append(page(10_000 + number, escape(title), escape(text), extra=mark))
        return dump(*pages)

    def read_dump(self, folder: Path, shards: int, pack: Callable[[bytes], bytes]) -> Written:
        """Write a dump, packed, and the documents and redirects that so many shards read from it."""
        folder.mkdir()
        (folder / "dump").write_bytes(pack(self.dump()))
        documents, redirects, _ = write_tables(folder / "dump", folder, shards, id_prefix=self.prefix)
        return documents, redirects


def lead(*pieces: Piece) -> Part:
    """A lead section."""
    return Part(0, "", pieces)


def wikitext(article: Article) -> str:
    """The wikitext of an article, with links in places where a reader sees none: a template, references, a comment."""
    lines = ["{{Infobox|x=[[Alpha]]}}<!-- [[Alpha]] -->"]
    for part in article.parts:
        marks = "=" * part.level
        lines += [f"{marks} {part.heading} {marks}"] if part.heading else []
        lines += [" ".join(map(_written, part.pieces))]
    return "\n".join([*lines, "{{disambiguation}}" if article.disambiguation else ""])


def _written(piece: Piece) -> str:
    if not isinstance(piece, To):
        return piece
    label = f"|{piece.anchor}" if piece.anchor else ""
    return f"[[{piece.target or '#Above'}{label}]]<ref>See [[Alpha]].</ref>"


def outline(article: Article, boilerplate: bool = True) -> list[tuple[tuple[str, ...], str]]:
    """(titles from the root, own text) of each section; without `boilerplate` of those that no heading says is such."""
    found = []
    for number, part in enumerate(article.parts):
        titles, level = [], part.level + 1
        for above in reversed(article.parts[: number + 1]):
            if above.level < level:
                level = above.level
                titles.insert(0, above.heading or article.title)
        if boilerplate or not any(title.lower() in ROLES for title in titles[1:]):
            found.append((tuple(titles), " ".join(map(_visible, part.pieces))))
    return found


def _visible(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece.anchor or piece.target


def row(article: Article) -> dict[str, Any]:
    """The columns of DOCUMENTS that an article decides."""
    body, sections, links = "", [], []
    for number, part in enumerate(article.parts):
        if part.heading:
            body += ("\n" if body else "") + part.heading
        if part.pieces:
            body += "\n" if body else ""
        start = len(body)
        for index, piece in enumerate(part.pieces):
            body += " " if index else ""
            if isinstance(piece, To):
                anchor = piece.anchor or piece.target
                links.append(
                    {
                        "target": piece.target,
                        "fragment": "",
                        "start": len(body),
                        "end": len(body) + len(anchor),
                        "section": number,
                    }
                )
                body += anchor
            else:
                body += piece
        role = ROLES.get(part.heading.lower(), "")
        sections.append(
            {"level": part.level, "heading": part.heading, "start": start, "end": len(body), "role": role}
        )
    return {
        "title": article.title,
        "url": "",
        "body": body,
        "sections": sections,
        "links": links,
        "disambiguation": article.disambiguation,
    }


def make_graph(wikis: Sequence[Wiki], folder: Path, shards: int = 1, **options: Any) -> Path:
    """Run both stages on a collection of corpora; return the graph's directory."""
    written = [wiki.write(folder / f"corpus-{n}", shards) for n, wiki in enumerate(wikis)]
    return graph_of(written, folder, **options)


def graph_of(written: Sequence[Written], folder: Path, **options: Any) -> Path:
    """Run both stages on the tables of each corpus; return the graph's directory."""
    settings = GraphConfig(**{"segment_words": 8, "memory_mb": 256, **options})
    every = [path for documents, _ in written for path in documents]
    sources, links = [], []
    for number, (documents, _) in enumerate(written):
        sources.append([folder / f"sources-{number}-{n}.parquet" for n in range(len(documents))])
        links.append([folder / f"links-{number}-{n}.parquet" for n in range(len(documents))])
        for path, source, link in zip(documents, sources[-1], links[-1], strict=True):
            extract_links(path, settings, source, link, every)
    output = folder / "graph"
    build_graph(sources, links, [redirects for _, redirects in written], settings, output)
    return output


@dataclass(frozen=True)
class Expected:
    """The graph, by sets: anchors by (source, segment, target), groups by (source, segment), See Also edges."""

    anchors: dict[tuple[int, int, int], tuple[int, int]]
    groups: dict[tuple[int, int], tuple[set[int], ...]]
    see_also: set[tuple[int, int]]
    segments: list[int]


def expected(wikis: Sequence[Wiki], words: int = 8) -> Expected:
    """The graph of some corpora, found by looking at every pair of documents, with none of the library's code."""
    rows = [row for wiki in wikis for row in wiki.rows]
    pages: dict[str, int] = {}
    for node, one in enumerate(rows):
        pages.setdefault(plain(one["title"]), node)
    moved: dict[str, str] = {}
    for wiki in wikis:
        for title, target in wiki.redirects:
            moved.setdefault(plain(title), plain(target))

    def node_of(target: str) -> int | None:
        name = plain(target)
        for _ in range(5):
            if name in pages:
                return pages[name]
            if name not in moved:
                return None
            name = moved[name]
        return None

    cuts = [cut(one["body"], words) for one in rows]
    anchors: dict[tuple[int, int, int], tuple[int, int]] = {}
    edges, front = set(), set()
    for source, one in enumerate(rows):
        for link in one["links"]:
            target = node_of(link["target"])
            if target is None or target == source:
                continue
            segment = max(n for n, start in enumerate(cuts[source]) if n == 0 or start <= link["start"])
            span = (link["start"], link["end"])
            anchors[source, segment, target] = min(anchors.get((source, segment, target), span), span)
            if segment == 0 and link["section"] == 0:
                front.add((source, target))
            if in_see_also(one["sections"], link["section"]):
                edges.add((source, target))
    return Expected(anchors, group(anchors, front, [len(c) for c in cuts]), edges, [len(c) for c in cuts])


def group(
    anchors: dict[tuple[int, int, int], tuple[int, int]], front: set[tuple[int, int]], counts: list[int]
) -> dict[tuple[int, int], tuple[set[int], ...]]:
    """D1 to D5 of every segment of every document, each pair of documents looked at by itself.

    `front` are the pairs whose source links the target from its first segment.
    """

    def where(source: int, target: int) -> list[int]:
        return [segment for segment in range(counts[source]) if (source, segment, target) in anchors]

    result = {}
    for source, count in enumerate(counts):
        for segment in range(count):
            groups: tuple[set[int], ...] = (set(), set(), set(), set(), set())
            for target in range(len(counts)):
                forth, back = where(source, target), where(target, source)
                if segment in forth:
                    groups[2 if not back else 0 if (target, source) in front else 1].add(target)
                elif forth:
                    groups[4 if back else 3].add(target)
            result[source, segment] = groups
    return result


def plain(title: str) -> str:
    title = " ".join(title.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def cut(body: str, words: int) -> list[int]:
    """First characters of the segments."""
    starts = [n for n, c in enumerate(body) if not c.isspace() and (n == 0 or body[n - 1].isspace())]
    firsts = starts[::words]
    if len(firsts) > 1 and len(starts) - words * (len(firsts) - 1) < words / 2:
        firsts.pop()
    return firsts or [0]


def in_see_also(sections: Sequence[dict[str, Any]], number: int) -> bool:
    """Whether, of a section and those above it, the nearest whose heading says anything is a See Also section."""
    level = 10**6
    for section in reversed(sections[: number + 1]):
        if section["level"] < level:
            level = section["level"]
            if role := ROLES.get(section["heading"].lower()):
                return role == "see-also"
    return False
