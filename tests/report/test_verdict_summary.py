"""Verdicts counted by paper and table: by hand on seven cells, and the same from tables as from their files."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from small_run import PROP_YAML, WIKIFORMER_YAML

from irpretrain.papers.published import load_published
from irpretrain.report.cells import (
    NOT_RUN,
    NOTHING_PUBLISHED,
    OFF,
    REPRODUCED,
    Cell,
    Column,
    Panel,
    Row,
    Table,
    Verdict,
)
from irpretrain.report.markdown import markdown
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.tables import build_tables, make_tables
from irpretrain.report.verdict_summary import (
    of_files,
    of_tables,
    summary_table,
    summary_views,
    tallied,
    write_summary,
)


def cell(row: str, *verdicts: Verdict, dataset: str = "squad") -> Cell:
    return Cell(row, dataset, "RR@10", "zero-shot", None, None, verdicts)


def table(name: str, paper: str, *panels: list[Cell]) -> Table:
    grids = [
        Panel("panel", (Column("", "RR@10"),), tuple(Row(c.row, c.row, "", (c,)) for c in cells))
        for cells in panels
    ]
    return Table(name, paper, f"Table {name[-1]}: scores", tuple(grids), paper_name=paper.upper())


NUMBER = Verdict(REPRODUCED, "near", "number")
BETTER = Verdict(OFF, "worse", "mark", "BM25", "*")
WORSE = Verdict(REPRODUCED, "worse", "mark", "QL", "*", "worse")
ABSENT, NOTHING = Verdict(NOT_RUN, "no data"), Verdict(NOTHING_PUBLISHED, "ours alone")
TABLES = [
    table("headline", "", [cell("x", NOTHING)]),
    # The first row stands in both panels, and counts once: a number and two claims.
    table(
        "a_table1",
        "a",
        [cell("x", NUMBER, BETTER, WORSE), cell("y", ABSENT)],
        [cell("x", NUMBER, BETTER, WORSE)],
    ),
    table("a_table2", "a", [cell("x", ABSENT), cell("x", NOTHING, dataset="other")]),
    table("b_table1", "b", [cell("x", ABSENT)]),
]


def test_verdicts_are_counted_once_by_kind_and_outcome() -> None:
    assert of_tables(TABLES) == Counter(
        {
            ("a", "a_table1", "number", REPRODUCED): 1,
            ("a", "a_table1", "mark", OFF): 1,
            ("a", "a_table1", "mark", REPRODUCED): 1,
            ("a", "a_table1", "", NOT_RUN): 1,
            ("a", "a_table2", "", NOT_RUN): 1,
            ("a", "a_table2", "", NOTHING_PUBLISHED): 1,
            ("b", "b_table1", "", NOT_RUN): 1,
        }
    )


def test_a_paper_is_the_sum_of_its_tables() -> None:
    rows = tallied(of_tables(TABLES))
    assert [(row.paper, row.table, row.all) for row in rows] == [
        ("a", "", 6), ("a", "a_table1", 4), ("a", "a_table2", 2), ("b", "", 1), ("b", "b_table1", 1),
    ]  # fmt: skip
    assert (rows[0].of(REPRODUCED), rows[0].of(REPRODUCED, "mark"), rows[0].of(NOT_RUN)) == (2, 1, 2)


def test_what_the_page_shows() -> None:
    views = summary_views(TABLES)
    assert [view["label"] for view in views] == ["A", "A, Table 1", "A, Table 2", "B", "B, Table 1"]
    first = {one["outcome"]: one for one in views[0]["counts"]}
    assert first[REPRODUCED]["detail"] == "1 number, 1 mark"
    assert first[OFF]["detail"] == "0 numbers, 1 mark"
    assert (first[NOT_RUN]["first"], first[NOTHING_PUBLISHED]["first"]) == ("a_table1", "a_table2")
    assert [one["count"] for one in views[3]["counts"]] == [0, 0, 1, 0, 0]
    assert views[3]["counts"][0]["first"] == ""


def test_the_table_in_words() -> None:
    text = markdown(summary_table(tallied(of_tables(TABLES)), {"a": "Paper A"}))
    assert "| Paper A | 1 | 1 | 0 | 1 | 2 | 1 |" in text
    assert "| b | 0 | 0 | 0 | 0 | 1 | 0 |" in text, "a paper without a name keeps its key"
    assert r"| a\_table2 | 0 | 0 | 0 | 0 | 1 | 1 |" in text


def test_tables_and_files_count_alike(config, results, tmp_path: Path) -> None:
    files = []
    expected: Counter = Counter()
    for path in (PROP_YAML, WIKIFORMER_YAML):
        files.append(tmp_path / f"{path.stem}.csv")
        make_tables([path], config, ResultFiles(*results), tmp_path, files[-1])
        expected += of_tables(build_tables([load_published(path)], config, ResultFiles(*results)))
    assert of_files(files) == expected
    assert {key[2] for key in expected} >= {"", "mark"}
    rows = write_summary(files, {"prop": "PROP"}, tmp_path)
    with open(tmp_path / "verdict_summary.csv", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == rows == len(expected)
    assert sum(int(row["count"]) for row in written) == expected.total()
    assert "| PROP |" in (tmp_path / "verdict_summary.md").read_text()
    assert r"prop\_table2 &" in (tmp_path / "verdict_summary.tex").read_text()
