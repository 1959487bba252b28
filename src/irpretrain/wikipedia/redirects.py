"""Names of pages: every title that leads to a document, directly or through redirects; and those that lead nowhere.

Tables of the database, all titles in normal form:
    pages(key, node)            titles of documents; of several documents of one title the first is meant
    redirects(key, target)      titles of redirects; a document of the same title goes before, then the first redirect
    names(key, node, hops)      both; node is one of the constants below where the way ends at no document
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.contracts import REDIRECTS
from irpretrain.errors import InputError
from irpretrain.foundation.progress import notice
from irpretrain.wikipedia.graph import GraphDatabase
from irpretrain.wikipedia.titles import TITLE_CASE, TitleCase, normal_title

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
    facts = pq.read_metadata(path).metadata or {}
    return facts.get(TITLE_CASE.encode(), b"").decode().split(",")


def resolve_redirects(base: GraphDatabase, redirects: Corpora, case: TitleCase) -> dict[str, int]:
    """Make `redirects` and `names` of REDIRECTS tables and the table `pages`; at most REDIRECT_HOPS are followed.

    Returns:
        Counts: redirects read, those with a document's or an earlier redirect's title (not used), those that lead to
        a document, through more than one redirect, to no page, and endless ones.
    """
    base.run(
        "CREATE TABLE read_redirects (corpus SMALLINT, part INTEGER, position BIGINT, key VARCHAR, target VARCHAR)"
    )
    base.insert("read_redirects", _read(redirects, case))
    base.run(
        "CREATE TABLE redirects AS SELECT key, target FROM read_redirects "
        "WHERE key <> '' AND key NOT IN (SELECT key FROM pages) "
        "QUALIFY row_number() OVER (PARTITION BY key ORDER BY corpus, part, position) = 1"
    )
    base.run("CREATE TABLE names AS SELECT key, node, 0 AS hops FROM pages")
    base.run("CREATE TABLE waiting AS SELECT key, target FROM redirects")
    for hop in range(1, REDIRECT_HOPS + 1):
        base.run(
            "CREATE OR REPLACE TABLE step AS SELECT w.key, p.node, r.target FROM waiting w "
            "LEFT JOIN pages p ON w.target = p.key LEFT JOIN redirects r ON w.target = r.key"
        )
        base.run(
            f"INSERT INTO names SELECT key, coalesce(node, {MISSING}), {hop} FROM step "
            "WHERE node IS NOT NULL OR target IS NULL"
        )
        base.run(
            "CREATE OR REPLACE TABLE waiting AS SELECT key, target FROM step WHERE node IS NULL AND target IS NOT NULL"
        )
    base.run(f"INSERT INTO names SELECT key, {ENDLESS}, {REDIRECT_HOPS} FROM waiting")
    counts = _counts(base)
    for table in ("read_redirects", "step", "waiting", "redirects"):
        base.run(f"DROP TABLE {table}")
    return counts


def _counts(base: GraphDatabase) -> dict[str, int]:
    read = base.row("SELECT count(*) AS read FROM read_redirects")
    used = base.row(
        f"""SELECT count(*) AS used,
            count(*) FILTER (node >= 0) AS resolved,
            count(*) FILTER (node >= 0 AND hops > 1) AS through_more_than_one,
            count(*) FILTER (node = {MISSING}) AS to_no_page,
            count(*) FILTER (node = {ENDLESS}) AS endless
        FROM names WHERE hops > 0"""
    )
    unused = read["read"] - used.pop("used")
    return {**read, "title_taken": unused, **used}


def _read(redirects: Corpora, case: TitleCase) -> Iterator[pa.Table]:
    for corpus, shards in enumerate(redirects):
        for path in shards:
            for batch in REDIRECTS.stream(path, columns=["part", "position", "title", "target"]):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                for old, new in (("title", "key"), ("target", "target")):
                    titles = columns.pop(old).to_pylist()
                    columns[new] = pa.array([normal_title(title, case) for title in titles], pa.string())
                yield pa.table({"corpus": pa.array([corpus] * len(batch), pa.int16()), **columns})
