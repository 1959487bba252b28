"""The links of one corpus shard: each with its segment, its section and the normal form of its target."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.atomic import atomic_file, working_directory
from irpretrain.foundation.contracts import ANCHOR_TEXTS, DOCUMENTS, LINK_SOURCES, LINKS
from irpretrain.foundation.progress import progress
from irpretrain.text.languages import ENGLISH
from irpretrain.text.words import count_spaced, spaced_words
from irpretrain.wikipedia.article import SEE_ALSO, in_roles, read_sections
from irpretrain.wikipedia.graph import Graph, database
from irpretrain.wikipedia.mentions import TitleFinder
from irpretrain.wikipedia.titles import normal_title

DOCUMENTS_PER_BATCH = 1024


class _Link(NamedTuple):
    start: int
    end: int
    section: int
    target: str
    mention: bool


def extract_links(
    documents: str | Path,
    options: GraphConfig,
    sources: str | Path,
    links: str | Path,
    title_shards: Sequence[str | Path] = (),
    language: str = ENGLISH,
) -> dict[str, Any]:
    """Write the links of one shard, and its documents as their sources.

    Args:
        documents: a DOCUMENTS table, in corpus order.
        options: segments, case of titles, and whether mentions are links.
        sources: a LINK_SOURCES table in the order of `documents`.
        links: a LINKS table in the order of `documents`, of each document by the anchors' places.
        title_shards: all shards of the collection, whose titles are looked for where mentions are links.
        language: of the texts.

    Returns:
        Counts: documents, segments, links, links within a page (left out), links in See Also sections, mentions,
        mentions of a document's own title (left out) and within anchors (left out), titles looked for.
    """
    finder = None
    if options.mentions != "none":
        finder = TitleFinder(_titles(title_shards), MENTION_CHARACTERS, options.mention_lower)
    counts: Counter[str] = Counter()
    reader = _LinkReader(options, finder, counts, language)
    batches = DOCUMENTS.stream(documents, columns=_COLUMNS, rows=DOCUMENTS_PER_BATCH)
    title = f"links {Path(links).stem}"
    with LINK_SOURCES.writing(sources) as source_writer, LINKS.writing(links) as link_writer:
        for batch in progress(batches, title, "documents", DOCUMENTS.count(documents), size=len):
            sources_and_links = [reader.read(row) for row in batch.to_pylist()]
            source_rows = [source for source, _ in sources_and_links]
            link_rows = [link for _, links_of_source in sources_and_links for link in links_of_source]
            source_writer.add(pa.Table.from_pylist(source_rows, LINK_SOURCES.schema))
            link_writer.add(pa.Table.from_pylist(link_rows, LINKS.schema))
        counts["documents"], counts["links"] = source_writer.rows, link_writer.rows
    if finder is not None:
        counts["titles_looked_for"] = len(finder.titles)
    return {name: counts[name] for name in (*_COUNT_NAMES, *(_MENTION_COUNT_NAMES if finder else ()))}


# Shorter titles, such as "It", are as a rule other words where they stand in a text.
MENTION_CHARACTERS = 4

_COLUMNS = ["document_id", "part", "position", "title", "body", "sections", "links", "disambiguation"]
_COUNT_NAMES = ("documents", "segments", "links", "within_page", "see_also")
_MENTION_COUNT_NAMES = ("mentions", "mentions_of_own_title", "mentions_within_anchors", "titles_looked_for")


class _LinkReader:
    def __init__(
        self, options: GraphConfig, finder: TitleFinder | None, counts: Counter[str], language: str
    ) -> None:
        self._options, self._finder, self._counts, self._language = options, finder, counts, language

    def read(self, row: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the row of LINK_SOURCES and the rows of LINKS that a document has."""
        body, key = row["body"], normal_title(row["title"], self._options.title_case)
        spans = segments(body, self._options.segment_words, self._language)
        source = {name: row[name] for name in ("part", "position", "document_id", "title", "disambiguation")}
        source |= {"key": key, "words": count_spaced(body, self._language), "segments": len(spans)}
        links = list(self._hyperlinks(row))
        if self._finder is not None:
            links = sorted([*links, *self._mentions(row, key)])
        segment_starts = [start for start, _ in spans]
        in_see_also = in_roles(read_sections(row["sections"], body), (SEE_ALSO,)) if links else []
        link_rows = [
            {
                "part": row["part"],
                "position": row["position"],
                "segment": max(0, bisect_right(segment_starts, link.start) - 1),
                "see_also": in_see_also[link.section] and not link.mention,
                **link._asdict(),
            }
            for link in links
        ]
        self._counts["segments"] += len(spans)
        self._counts["see_also"] += sum(link_row["see_also"] for link_row in link_rows)
        return source, link_rows

    def _hyperlinks(self, row: dict[str, Any]) -> Iterator[_Link]:
        """Yield the hyperlinks of a document; those to a place within the page itself have no target."""
        for link in row["links"]:
            if target := normal_title(link["target"], self._options.title_case):
                yield _Link(link["start"], link["end"], link["section"], target, False)
            else:
                self._counts["within_page"] += 1

    def _mentions(self, row: dict[str, Any], page_key: str) -> Iterator[_Link]:
        # A mention in a heading belongs to the section that it heads.
        assert self._finder is not None
        # To itself a page can link by any anchor, so those within the page count too.
        anchors = [(link["start"], link["end"]) for link in row["links"]]
        section_ends = [section.end for section in read_sections(row["sections"], row["body"])]
        for mention in self._finder.find(row["body"]):
            target = normal_title(self._finder.titles[mention.title].as_py(), self._options.title_case)
            if target == page_key:
                self._counts["mentions_of_own_title"] += 1
            elif _overlaps(anchors, mention.start, mention.end):
                self._counts["mentions_within_anchors"] += 1
            else:
                self._counts["mentions"] += 1
                section = min(bisect_right(section_ends, mention.start), len(section_ends) - 1)
                yield _Link(mention.start, mention.end, section, target, True)


def _overlaps(anchors: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    anchor_index = bisect_right(anchors, (end, -1)) - 1
    return anchor_index >= 0 and anchors[anchor_index][1] > start


def _titles(documents: Sequence[str | Path]) -> Iterator[str]:
    for path in documents:
        for batch in DOCUMENTS.stream(path, columns=["title"]):
            yield from batch.column(0).to_pylist()


# Anchor texts of a collection: which documents the same words link (for HARP's query disambiguation modelling).


ROWS_PER_BATCH = 512


def normal_anchor(text: str) -> str:
    """Return the form in which anchor texts are compared: case folded, runs of white space as one space."""
    return " ".join(text.split()).casefold()


def write_anchor_texts(
    documents: Sequence[str | Path], graph: str | Path, memory_mb: int, threads: int, output: str | Path
) -> dict[str, Any]:
    """Write the texts of the anchors of a collection and what they link.

    An anchor is the first one of a document in a segment, as HYPERLINKS has them. Joined and sorted by DuckDB on disk:
    memory does not grow with the collection, and the bytes depend on no number of shards.

    Args:
        documents: DOCUMENTS tables of all shards of the collection.
        graph: directory of the collection's graph.
        memory_mb: memory of the join, in MB; what needs more goes to disk beside the output.
        output: ANCHOR_TEXTS table.

    Returns:
        Counts: anchors, distinct (texts and documents), texts, ambiguous texts (of two documents or more).
    """
    opened_graph = Graph(graph)
    with (
        working_directory(output, "anchors") as folder,
        database(folder, memory_mb, threads) as anchor_database,
        atomic_file(output) as temporary,
    ):
        anchor_database.run("CREATE TABLE anchors (anchor VARCHAR, target INTEGER)")
        for shard in documents:
            anchors = progress(
                _anchors(shard, opened_graph), f"anchors {Path(shard).stem}", "links", size=len
            )
            anchor_database.insert("anchors", anchors)
        distinct_anchors = anchor_database.write(
            "SELECT anchor, target, count(*)::INTEGER AS links FROM anchors GROUP BY ALL ORDER BY anchor, target",
            ANCHOR_TEXTS,
            temporary,
        )
        counts = anchor_database.row(
            """SELECT sum(links) AS anchors, count(*) AS texts, count(*) FILTER (targets > 1) AS ambiguous_texts FROM
            (SELECT count(*) AS links, count(DISTINCT target) AS targets FROM anchors GROUP BY anchor)"""
        )
    return {**counts, "distinct": distinct_anchors}


def _anchors(documents: str | Path, graph: Graph) -> Iterator[pa.Table]:
    nodes = graph.nodes(DOCUMENTS.read(documents, columns=["document_id"])["document_id"])
    link_iterator = graph.links(nodes)  # in the order of the nodes, which is that of a shard
    links, rows_before = next(link_iterator, None), 0
    for batch in DOCUMENTS.stream(documents, ["body"], ROWS_PER_BATCH):
        texts: list[str] = []
        targets: list[int] = []
        batch_nodes = nodes[rows_before : rows_before + len(batch)].tolist()
        rows_before += len(batch)
        for node, body in zip(batch_nodes, batch.column("body").to_pylist(), strict=True):
            if links is None or links.source != node:
                continue
            for target, start, end in zip(
                links.target.tolist(), links.start.tolist(), links.end.tolist(), strict=True
            ):
                texts.append(normal_anchor(body[start:end]))
                targets.append(target)
            links = next(link_iterator, None)
        yield pa.table({"anchor": pa.array(texts, pa.string()), "target": pa.array(targets, pa.int32())})


# Segments of a body: pieces of so many words, in which PHP places anchors (section 3.1; it gives no length).
#
# Segments are cut over the whole body, headings included, whatever the sections: segment 0 begins with the lead
# section and reaches beyond a lead that is shorter; what of it lies in the lead is the first segment.


# What a column of 16 bits can count; the last of so many takes all the rest.
MAX_SEGMENTS = 32_767


def segments(body: str, words_per_segment: int, language_name: str = ENGLISH) -> list[tuple[int, int]]:
    """Return the segments of `body` as (start, end) in characters, from first to last word; never none.

    A word is a run of characters other than white space, in Chinese and Japanese a letter (`text.words`). A rest of
    fewer than half as many words as a segment joins the one before. A body without words is one segment, the whole of
    it. Between segments lies only white space.
    """
    words = spaced_words(body, language_name)
    if not words:
        return [(0, len(body))]
    segment_count = (len(words) + words_per_segment // 2) // words_per_segment
    segment_count = min(max(segment_count, 1), MAX_SEGMENTS)
    first_words = range(0, segment_count * words_per_segment, words_per_segment)
    last_words = [*(first_word - 1 for first_word in first_words[1:]), len(words) - 1]
    return [
        (words[first_word][0], words[last_word][1])
        for first_word, last_word in zip(first_words, last_words, strict=True)
    ]
