"""The numbers of Wikiformer's tables, checked against each other and against the running text."""

import pytest
from small_run import WIKIFORMER_YAML

from irpretrain.config.papers import load_published


@pytest.fixture(scope="module")
def tables():
    return load_published(WIKIFORMER_YAML).tables


@pytest.mark.parametrize(
    ("table", "row", "cell", "printed"),
    [
        ("table2", "bert", ("msmarco-doc", "RR@10", "official", "zero-shot"), "0.1684*"),
        ("table2", "bert", ("trec-dl-2019", "nDCG@10", "official", "full"), "0.6540"),
        ("table2", "webformer", ("trec-dl-2019", "nDCG@100", "official", "full"), "0.5335"),
        ("table2", "ql", ("msmarco-doc", "RR@100", "official", "full"), "0.2268*"),
        ("table3", "prop-msmarco", ("trec-covid-round2", "nDCG@10", "bm25-fusion", "zero-shot"), "0.4994*"),
        ("table3", "wikiformer", ("trec-covid-round2", "nDCG@10", "bm25-fusion", "full"), "0.6197"),
        ("table4", "bert", ("cail-lcr", "nDCG@15", "given", "full"), "0.8085"),
        ("table5", "without-ltm", ("lecard", "nDCG@5", "given", "full"), "0.7574*"),
    ],
)
def test_numbers_as_printed(tables, table: str, row: str, cell: tuple[str, ...], printed: str) -> None:
    assert tables[table].value(row, *cell).printed == printed
    assert tables[table].value(row, *cell).number == printed.rstrip("*")


def test_a_regime_that_a_table_does_not_report_has_no_value(tables) -> None:
    assert tables["table4"].value("bert", "lecard", "nDCG@5", "given", "zero-shot") is None
    assert tables["table2"].value("knrm", "msmarco-doc", "RR@10", "official", "zero-shot") is None  # "NA"


def test_numbers_agree_where_two_tables_print_the_same_run(tables) -> None:
    for row, other, legal in (("before", "bert", "bert"), ("all", "wikiformer", "wikiformer")):
        for measure in ("RR@10", "RR@100"):
            cell = ("msmarco-doc", measure, "official", "zero-shot")
            assert tables["table5"].value(row, *cell).value == tables["table2"].value(other, *cell).value
        cell = ("lecard", "nDCG@5", "given", "full")
        assert tables["table5"].value(row, *cell).value == tables["table4"].value(legal, *cell).value


def test_the_best_and_the_worst_of_the_running_text(tables) -> None:
    """Wikiformer is best everywhere; without SRR is worst on MS MARCO, without LTM on LeCaRD."""
    for table in (tables["table2"], tables["table3"], tables["table4"]):
        for column in table.columns:
            cell = (column.dataset, column.measure, column.candidates, column.regime)
            values = {row.key: table.value(row.key, *cell) for row in table.rows}
            assert max((v.value, key) for key, v in values.items() if v)[1] == "wikiformer"
    ablation = [row.key for row in tables["table5"].rows if row.key.startswith("without")]
    for dataset, measure, worst in (
        ("msmarco-doc", "RR@10", "without-srr"),
        ("msmarco-doc", "RR@100", "without-srr"),
        ("lecard", "nDCG@5", "without-ltm"),
    ):
        found = {row: tables["table5"].value(row, dataset, measure).value for row in ablation}
        assert min(found, key=found.get) == worst


def test_marks_say_worse_but_in_the_ablation(tables) -> None:
    marks = {
        name: {(mark.mark, mark.over, mark.direction) for mark in tables[name].marks}
        for name in ("table2", "table5")
    }
    assert marks == {"table2": {("*", "wikiformer", "worse")}, "table5": {("*", "before", "better")}}


def test_how_the_paper_tests(tables) -> None:
    assert {table.tested_by for table in tables.values()} == {"randomisation"}
    assert [table.level for table in tables.values()] == [0.05, 0.05, 0.05, 0.01]
