"""The numbers of PHP's tables, checked against each other and against the running text."""

import pytest
from small_run import PHP_YAML, WIKIFORMER_YAML

from irpretrain.config.papers import load_published
from irpretrain.config.printed import PublishedValue


@pytest.fixture(scope="module")
def tables():
    return load_published(PHP_YAML).tables


@pytest.mark.parametrize(
    ("row", "cell", "printed"),
    [
        ("php", ("msmarco-doc", "RR@100", "ance"), ".4601†"),
        ("php", ("msmarco-doc", "RR@10", "official"), ".4106†"),
        ("conv-knrm", ("trec-dl-2019", "nDCG@10", "official"), ".5899"),
        ("wlp", ("trec-dl-2019", "nDCG@100", "ance"), ".4891"),
        ("bm25", ("msmarco-doc", "RR@10", "ance"), ".2383"),
    ],
)
def test_numbers_as_printed(tables, row: str, cell: tuple[str, ...], printed: str) -> None:
    assert tables["table3"].value(row, *cell).printed == printed


def test_a_number_without_a_zero_before_the_point() -> None:
    found = PublishedValue.parse(".4601†")
    assert (found.value, found.marks, found.number) == (0.4601, "†", "0.4601")


def test_illegible_numbers_are_not_guessed(tables) -> None:
    for row in ("prop-wikipedia", "harp", "php"):
        assert tables["table3"].value(row, "trec-dl-2019", "nDCG@10", "official") is None
    assert tables["table3"].value("bm25", "msmarco-doc", "RR@100", "ance") is None
    assert any("garbled" in remark for remark in tables["table3"].remarks)


def test_what_other_papers_print_of_harp(tables) -> None:
    """The remark names HARP's numbers on TREC DL as other papers print them, and why they are likely PHP's too."""
    other = load_published(WIKIFORMER_YAML).tables["table2"]
    for measure in ("RR@10", "RR@100"):
        cell = ("msmarco-doc", measure, "official")
        assert other.value("harp", *cell, "full").value == tables["table3"].value("harp", *cell).value
    (remark,) = (text for text in tables["table3"].remarks if "illegible" in text)
    for measure in ("nDCG@10", "nDCG@100"):
        printed = other.value("harp", "trec-dl-2019", measure, "official", "full").number
        assert f"{measure} {printed.removeprefix('0')}" in remark


def test_numbers_agree_where_both_tables_print_the_same_run(tables) -> None:
    for column in tables["table5"].columns:
        cell = (column.dataset, column.measure, column.candidates)
        assert tables["table5"].value("php", *cell).value == tables["table3"].value("php", *cell).value


def test_a_cut_off_of_100_never_gives_less_than_one_of_10(tables) -> None:
    for table in tables.values():
        for row in table.rows:
            for candidates in ("ance", "official"):
                whole, short = (
                    table.value(row.key, "msmarco-doc", measure, candidates)
                    for measure in ("RR@100", "RR@10")
                )
                assert whole is None or short is None or whole.value > short.value


def test_gains_of_the_running_text(tables) -> None:
    """Section 4.4 gives more than 3 % over HARP; the remark says what the table gives."""
    gains = {}
    for measure in ("RR@100", "RR@10"):
        php, harp = (
            tables["table3"].value(row, "msmarco-doc", measure, "ance").value for row in ("php", "harp")
        )
        gains[measure] = round(100 * (php / harp - 1), 1)
    assert gains == {"RR@100": 2.9, "RR@10": 3.0}
    alone = tables["table5"].value("hp", "msmarco-doc", "RR@10", "ance").value
    assert alone < tables["table3"].value("harp", "msmarco-doc", "RR@10", "ance").value


def test_the_mark_speaks_of_every_baseline_and_stands_at_php_alone(tables) -> None:
    table = tables["table3"]
    others = [row for row in table.rows if row.key != "php"]
    assert [mark.over for mark in table.marks if table.can_have("php", mark)] == [row.key for row in others]
    assert not any(table.can_have(row.key, mark) for row in others for mark in table.marks)
    assert tables["table5"].marks == []
