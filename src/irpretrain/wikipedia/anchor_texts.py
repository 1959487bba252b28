"""Anchor texts of a collection: which documents the same words link (for HARP's query disambiguation modelling)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from irpretrain.atomic import atomic_file, working_directory
from irpretrain.contracts import ANCHOR_TEXTS, DOCUMENTS
from irpretrain.progress import progress
from irpretrain.wikipedia.graph import Graph

ROWS = 512


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
    from irpretrain.wikipedia.graph_database import database  # duckdb

    opened = Graph.open(graph)
    with (
        working_directory(output, "anchors") as folder,
        database(folder, memory_mb, threads) as base,
        atomic_file(output) as temporary,
    ):
        base.run("CREATE TABLE anchors (anchor VARCHAR, target INTEGER)")
        for shard in documents:
            anchors = progress(_anchors(shard, opened), f"anchors {Path(shard).stem}", "links", size=len)
            base.insert("anchors", anchors)
        distinct = base.write(
            "SELECT anchor, target, count(*)::INTEGER AS links FROM anchors GROUP BY ALL ORDER BY anchor, target",
            ANCHOR_TEXTS,
            temporary,
        )
        counts = base.row(
            """SELECT sum(links) AS anchors, count(*) AS texts, count(*) FILTER (targets > 1) AS ambiguous_texts FROM
            (SELECT count(*) AS links, count(DISTINCT target) AS targets FROM anchors GROUP BY anchor)"""
        )
    return {**counts, "distinct": distinct}


def _anchors(documents: str | Path, graph: Graph) -> Iterator[pa.Table]:
    nodes = graph.nodes(DOCUMENTS.read(documents, columns=["document_id"])["document_id"])
    found = graph.links(nodes)  # in the order of the nodes, which is that of a shard
    links, before = next(found, None), 0
    for batch in DOCUMENTS.stream(documents, ["body"], ROWS):
        texts: list[str] = []
        targets: list[int] = []
        here = nodes[before : before + len(batch)].tolist()
        before += len(batch)
        for node, body in zip(here, batch.column("body").to_pylist(), strict=True):
            if links is None or links.source != node:
                continue
            for target, start, end in zip(
                links.target.tolist(), links.start.tolist(), links.end.tolist(), strict=True
            ):
                texts.append(normal_anchor(body[start:end]))
                targets.append(target)
            links = next(found, None)
        yield pa.table({"anchor": pa.array(texts, pa.string()), "target": pa.array(targets, pa.int32())})
