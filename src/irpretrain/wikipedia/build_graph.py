"""From the links of all shards to the graph of a collection: nodes, hyperlinks with their groups, See Also edges.

docs/methods/wikipedia-graph.md has the definitions. Everything that grows with the corpus is joined by DuckDB on
disk; rows leave it in a total order, so the bytes depend on no number of shards or threads.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.atomic import atomic_directory, write_text
from irpretrain.foundation.contracts import HYPERLINKS, LINK_SOURCES, LINKS, NODES, REDIRECTS, SEE_ALSO
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.out_of_core import merge_rounds
from irpretrain.foundation.progress import notice, progress
from irpretrain.wikipedia.graph import SEGMENT_WORDS, GraphDatabase, database, parquet
from irpretrain.wikipedia.titles import TITLE_CASE, TitleCase, normal_title

# Names of pages: every title that leads to a document, directly or through redirects; and those that lead nowhere.
#
# Tables of the database, all titles in normal form:
#     pages(key, node)            titles of documents; of several documents of one title the first is meant
#     redirects(key, target)      titles of redirects; a document of the same title goes before, then the first redirect
#     names(key, node, hops)      both; node is one of the constants below where the way ends at no document


# In place of a node: the last redirect leads to no page; the redirects go in a circle or on and on.
MISSING, ENDLESS = -1, -2

# Redirects that are followed from a title.
REDIRECT_HOPS = 4

# Tables of each corpus' shards.
Corpora = Sequence[Sequence[str | Path]]


def check_case(redirects: Corpora, case: TitleCase) -> None:
    """Compare how titles are compared with what the dumps of a collection say of themselves.

    A wiki that tells titles apart by their first letter must not be read as one that does not, as pages would be taken
    for each other without a word; the other way round links are lost, which is said on the screen.

    Raises:
        InputError: `case` is first-letter, and a wiki is case-sensitive.
    """
    cases = {value for shards in redirects for path in shards for value in _title_cases(path)}
    if case == "first-letter" and "case-sensitive" in cases:
        raise InputError(
            "graph.title_case",
            "a dump of the collection has titles that differ only in the case of their first "
            "letter (siteinfo: case-sensitive), and first-letter would confuse them",
            remedy="Set graph.title_case: case-sensitive.",
        )
    if case == "case-sensitive" and "first-letter" in cases:
        notice(
            "graph",
            "graph.title_case is case-sensitive, but a dump of the collection says "
            "first-letter: its links with a small first letter count as red links",
        )


def _title_cases(path: str | Path) -> list[str]:
    REDIRECTS.check(path)
    metadata = pq.read_metadata(path).metadata or {}
    return metadata.get(TITLE_CASE.encode(), b"").decode().split(",")


def resolve_redirects(graph: GraphDatabase, redirects: Corpora, case: TitleCase) -> dict[str, int]:
    """Make `redirects` and `names` of REDIRECTS tables and the table `pages`; at most REDIRECT_HOPS are followed.

    Returns:
        Counts: redirects read, those with a document's or an earlier redirect's title (not used), those that lead to
        a document, through more than one redirect, to no page, and endless ones.
    """
    graph.run(
        "CREATE TABLE read_redirects (corpus SMALLINT, part INTEGER, position BIGINT, key VARCHAR, target VARCHAR)"
    )
    graph.insert("read_redirects", _redirect_tables(redirects, case))
    graph.run(
        "CREATE TABLE redirects AS SELECT key, target FROM read_redirects "
        "WHERE key <> '' AND key NOT IN (SELECT key FROM pages) "
        "QUALIFY row_number() OVER (PARTITION BY key ORDER BY corpus, part, position) = 1"
    )
    graph.run("CREATE TABLE names AS SELECT key, node, 0 AS hops FROM pages")
    graph.run("CREATE TABLE unresolved AS SELECT key, target FROM redirects")
    for hop in range(1, REDIRECT_HOPS + 1):
        graph.run(
            "CREATE OR REPLACE TABLE step AS SELECT w.key, p.node, r.target FROM unresolved w "
            "LEFT JOIN pages p ON w.target = p.key LEFT JOIN redirects r ON w.target = r.key"
        )
        graph.run(
            f"INSERT INTO names SELECT key, coalesce(node, {MISSING}), {hop} FROM step "
            "WHERE node IS NOT NULL OR target IS NULL"
        )
        graph.run(
            "CREATE OR REPLACE TABLE unresolved AS SELECT key, target FROM step "
            "WHERE node IS NULL AND target IS NOT NULL"
        )
    graph.run(f"INSERT INTO names SELECT key, {ENDLESS}, {REDIRECT_HOPS} FROM unresolved")
    counts = _redirect_counts(graph)
    for table in ("read_redirects", "step", "unresolved", "redirects"):
        graph.run(f"DROP TABLE {table}")
    return counts


def _redirect_counts(graph: GraphDatabase) -> dict[str, int]:
    read_count = graph.row("SELECT count(*) AS read FROM read_redirects")
    used_counts = graph.row(
        f"""SELECT count(*) AS used,
            count(*) FILTER (node >= 0) AS resolved,
            count(*) FILTER (node >= 0 AND hops > 1) AS through_more_than_one,
            count(*) FILTER (node = {MISSING}) AS to_no_page,
            count(*) FILTER (node = {ENDLESS}) AS endless
        FROM names WHERE hops > 0"""
    )
    unused_count = read_count["read"] - used_counts.pop("used")
    return {**read_count, "title_taken": unused_count, **used_counts}


def _redirect_tables(redirects: Corpora, case: TitleCase) -> Iterator[pa.Table]:
    for corpus, shards in enumerate(redirects):
        for path in shards:
            for batch in REDIRECTS.stream(path, columns=["part", "position", "title", "target"]):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                for title_column, key_column in (("title", "key"), ("target", "target")):
                    titles = columns.pop(title_column).to_pylist()
                    columns[key_column] = pa.array(
                        [normal_title(title, case) for title in titles], pa.string()
                    )
                yield pa.table({"corpus": pa.array([corpus] * len(batch), pa.int16()), **columns})


# In place of a node: no page and no redirect has the title.
NO_PAGE = -3
MAX_NODES = 2**31 - 1

# Titles that a larger share of the documents mention are common words: on SQuAD's 490 articles these are three titles
# (docs/methods/wikipedia-graph.md). A fraction: 0.29 of 100 are 29, but the product of the floats is less.
MENTION_DOCUMENT_SHARE = Fraction("0.2")


def build_graph(
    sources: Corpora, links: Corpora, redirects: Corpora, options: GraphConfig, output: str | Path
) -> dict[str, Any]:
    """Build the graph of a collection.

    Args:
        sources: LINK_SOURCES tables: for each corpus of the collection, in its order, those of its shards.
        links: LINKS tables, likewise.
        redirects: REDIRECTS tables, likewise.
        options: how titles are compared, the cap on mentions, limits of memory and threads.
        output: a directory: nodes.parquet (NODES), hyperlinks.parquet (HYPERLINKS), see-also.parquet (SEE_ALSO),
            counts.json.

    Returns:
        The counts, which docs/methods/wikipedia-graph.md explains.

    Raises:
        InputError: there is no document, or there are more than a node number can count, or a dump says of itself
            that its titles cannot be compared as `options` have it.
        SetupError: memory was too small.
    """
    check_case(redirects, options.title_case)
    with atomic_directory(output) as folder:
        scratch = folder / "scratch"
        scratch.mkdir()
        with database(scratch, options.memory_mb, options.threads) as graph:
            counts: dict[str, Any] = {
                "nodes": _number_nodes(graph, sources, options, folder / "nodes.parquet")
            }
            counts["redirects"] = resolve_redirects(graph, redirects, options.title_case)
            _find_targets(graph, links)
            counts |= _drop_frequent_mentions(graph, options, counts["nodes"]["documents"])
            counts["links"] = _count_links(graph, "NOT mention")
            if options.mentions != "none":
                counts["mentions"] |= _count_links(graph, "mention")
            counts["hyperlinks"] = _write_hyperlinks(graph, options, folder)
            counts["see_also"] = _write_see_also(graph, folder)
        shutil.rmtree(scratch)
        write_text(folder / "counts.json", json.dumps(counts, indent=1) + "\n")
    return counts


def _number_nodes(
    graph: GraphDatabase, sources: Corpora, options: GraphConfig, output: Path
) -> dict[str, int]:
    document_count = sum(LINK_SOURCES.count(path) for shards in sources for path in shards)
    if document_count == 0:
        raise InputError("collection", "it has no documents, so there is no graph of it")
    if document_count > MAX_NODES:
        raise InputError("collection", f"{document_count:,} documents are more than a graph can number")
    graph.run("CREATE TABLE document_titles (node INTEGER, key VARCHAR)")
    graph.run(
        "CREATE TABLE nodes (node INTEGER, corpus SMALLINT, part INTEGER, position BIGINT, segments INTEGER, "
        "disambiguation BOOLEAN)"
    )
    with NODES.writing(output) as writer:
        for rows in progress(_numbered(sources), "number documents", "documents", document_count, size=len):
            writer.add(rows)
            graph.insert("document_titles", [rows.select(["node", "key"])])
            graph.insert("nodes", [rows.drop_columns(["document_id", "title", "key", "words"])])
        writer.note({SEGMENT_WORDS: str(options.segment_words)})
    graph.run(
        "CREATE TABLE pages AS SELECT key, min(node) AS node FROM document_titles WHERE key <> '' GROUP BY key"
    )
    graph.run("DROP TABLE document_titles")
    title_count = graph.row("SELECT count(*) AS pages FROM pages")["pages"]
    node_counts = graph.row("SELECT count(*) FILTER (disambiguation) AS n, sum(segments) AS s FROM nodes")
    return {
        "documents": document_count,
        "titles": title_count,
        "disambiguation_pages": node_counts["n"],
        "segments": node_counts["s"],
    }


def _numbered(sources: Corpora) -> Iterator[pa.Table]:
    first_node = 0
    for corpus, shards in enumerate(sources):
        for rows in merge_rounds([LINK_SOURCES.stream(path) for path in shards], ["part", "position"]):
            node_numbers = pa.array(np.arange(first_node, first_node + len(rows), dtype=np.int32))
            corpora = pa.array(np.full(len(rows), corpus, np.int16))
            first_node += len(rows)
            yield rows.append_column("node", node_numbers).append_column("corpus", corpora)


def _find_targets(graph: GraphDatabase, links: Corpora) -> None:
    graph.run(
        "CREATE TABLE targets (source INTEGER, segment SMALLINT, section SMALLINT, start INTEGER, stop INTEGER, "
        "see_also BOOLEAN, mention BOOLEAN, target INTEGER, hops INTEGER)"
    )
    for corpus_number, shards in enumerate(links):
        for path in shards:
            LINKS.check(path)
        graph.run(
            f"""INSERT INTO targets
            SELECT n.node, l.segment, l.section, l.start, l."end", l.see_also, l.mention,
                coalesce(t.node, {NO_PAGE}), coalesce(t.hops, 0)
            FROM {parquet(shards)} l
            JOIN (SELECT * FROM nodes WHERE corpus = {corpus_number}) n ON n.part = l.part AND n.position = l.position
            LEFT JOIN names t ON t.key = l.target"""
        )


def _drop_frequent_mentions(
    graph: GraphDatabase, options: GraphConfig, document_count: int
) -> dict[str, dict[str, int]]:
    if options.mentions == "none":
        return {}
    max_documents = int(MENTION_DOCUMENT_SHARE * document_count)
    graph.run(
        "CREATE TABLE frequent_titles AS SELECT target FROM "
        "(SELECT DISTINCT source, target FROM targets WHERE mention AND target >= 0 AND source <> target) "
        f"GROUP BY target HAVING count(*) > {max_documents}"
    )
    condition = "mention AND target IN (SELECT target FROM frequent_titles)"
    dropped_count = graph.row(f"SELECT count(*) AS n FROM targets WHERE {condition}")["n"]
    title_count = graph.row("SELECT count(*) AS n FROM frequent_titles")["n"]
    graph.run(f"DELETE FROM targets WHERE {condition}")
    return {
        "mentions": {
            "most_documents": max_documents,
            "too_frequent": dropped_count,
            "too_frequent_titles": title_count,
        }
    }


def _count_links(graph: GraphDatabase, condition: str) -> dict[str, int]:
    return graph.row(
        f"""SELECT count(*) AS read,
            count(*) FILTER (t.target = {NO_PAGE}) AS no_page,
            count(*) FILTER (t.target = {MISSING}) AS redirect_to_no_page,
            count(*) FILTER (t.target = {ENDLESS}) AS endless_redirect,
            count(*) FILTER (t.target = source) AS self,
            count(*) FILTER (t.target >= 0 AND t.target <> source) AS used,
            count(*) FILTER (t.target >= 0 AND t.target <> source AND hops > 0) AS by_redirect,
            count(*) FILTER (t.target >= 0 AND t.target <> source AND n.disambiguation) AS to_disambiguation_pages
        FROM targets t LEFT JOIN nodes n ON n.node = t.target WHERE {condition}"""
    )


def _write_hyperlinks(graph: GraphDatabase, options: GraphConfig, folder: Path) -> dict[str, int]:
    # Sections follow each other in the text, so the smallest is that of the first anchor.
    graph.run(
        """CREATE TABLE first_anchors AS
        SELECT source, segment, target, min((start::BIGINT << 32) + stop) AS anchor, min(section) AS section
        FROM targets WHERE target >= 0 AND target <> source GROUP BY source, segment, target"""
    )
    # PHP's first segment: the part of segment 0 in the lead section ("the description or summary", section 3.1).
    front = "segment = 0 AND section = 0"
    graph.run(
        f"""CREATE TABLE pairs AS
        SELECT source, target, min(segment) AS first, bool_or({front}) AS front, count(*)::INTEGER AS segments
        FROM first_anchors GROUP BY source, target"""
    )
    graph.run(
        """CREATE TABLE both_ways AS
        SELECT a.source, a.target, b.first AS back, b.front AS strong, a.segments
        FROM pairs a JOIN pairs b ON a.source = b.target AND a.target = b.source"""
    )
    counts = _count_groups(graph)
    graph.run("DROP TABLE pairs")
    rows = graph.write(
        """SELECT p.source, p.segment, p.target, (p.anchor >> 32)::INTEGER AS start,
            (p.anchor & 4294967295)::INTEGER AS "end", s.back IS NOT NULL AS "symmetric",
            coalesce(s.back, -1)::SMALLINT AS back_segment, coalesce(s.strong, false) AS strong, p.section
        FROM first_anchors p LEFT JOIN both_ways s ON s.source = p.source AND s.target = p.target
        ORDER BY p.source, p.segment, p.target""",
        HYPERLINKS,
        folder / "hyperlinks.parquet",
    )
    graph.run("DROP TABLE first_anchors")
    graph.run("DROP TABLE both_ways")
    return {"rows": rows, **counts}


def _count_groups(graph: GraphDatabase) -> dict[str, int]:
    """Count (segment, target) pairs of each group over all segments of all documents, without listing D4 and D5."""
    # A document of s segments whose target is linked from k of them has that target in D4 or D5 of the s - k
    # others.
    pair_counts = graph.row(
        """SELECT count(*) AS pairs, sum(p.segments) AS rows, sum(n.segments - p.segments) AS elsewhere
        FROM pairs p JOIN nodes n ON n.node = p.source"""
    )
    mutual_counts = graph.row(
        """SELECT count(*) AS pairs, sum(s.segments) AS rows, sum(n.segments - s.segments) AS elsewhere,
            sum(s.segments) FILTER (s.strong) AS strong
        FROM both_ways s JOIN nodes n ON n.node = s.source"""
    )
    return {
        "pairs": pair_counts["pairs"],
        "symmetric_pairs": mutual_counts["pairs"],
        "D1": mutual_counts["strong"],
        "D2": mutual_counts["rows"] - mutual_counts["strong"],
        "D3": pair_counts["rows"] - mutual_counts["rows"],
        "D4": pair_counts["elsewhere"] - mutual_counts["elsewhere"],
        "D5": mutual_counts["elsewhere"],
    }


def _write_see_also(graph: GraphDatabase, folder: Path) -> dict[str, int]:
    edges = graph.write(
        "SELECT DISTINCT source, target FROM targets WHERE see_also AND target >= 0 AND target <> source "
        "ORDER BY source, target",
        SEE_ALSO,
        folder / "see-also.parquet",
    )
    return {**_count_links(graph, "see_also"), "edges": edges}
