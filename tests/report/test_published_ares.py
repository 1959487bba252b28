"""The numbers of ARES's tables, checked against each other, the running text, and the papers that print them too."""

import pytest
from small_run import ARES_YAML, PHP_YAML, ROOT, WIKIFORMER_YAML, changed_paper

from irpretrain.config import load_config
from irpretrain.config.papers import load_published
from irpretrain.foundation.errors import InputError


@pytest.fixture(scope="module")
def paper():
    return load_published(ARES_YAML)


@pytest.fixture(scope="module")
def tables(paper):
    return paper.tables


def number(table, row: str, *cell: str) -> float:
    return table.value(row, *cell).value


@pytest.mark.parametrize(
    ("table", "row", "cell", "printed"),
    [
        ("table4", "bm25", ("msmarco-doc", "RR@10", "official"), ".2656†"),
        ("table4", "conv-knrm", ("trec-dl-2019", "nDCG@100", "as"), ".4565†"),
        ("table4", "prop-msmarco", ("trec-dl-2019", "nDCG@10", "as"), ".6447"),
        ("table4", "ares-best", ("trec-dl-2019", "nDCG@10", "official"), ".6666³"),
        ("table5", "prop-wikipedia", ("trec-covid-round2", "nDCG@10"), ".6104"),
        ("table5", "ares-simple", ("mq2007", "nDCG@5"), ".4729"),
        ("table6", "ares-strict", ("entity-questions", "P@10"), ".6923"),
        ("table6", "ares-hard", ("msmarco-doc", "RR@100"), ".2780†"),
        ("table7", "ares-rank", ("msmarco-doc", "RR@100", "official"), ".3971†"),
    ],
)
def test_numbers_as_printed(tables, table: str, row: str, cell: tuple[str, ...], printed: str) -> None:
    assert tables[table].value(row, *cell).printed == printed


def test_sizes_of_the_tables(paper, tables) -> None:
    cells = {name: sum(len(row.values) for row in table.rows) for name, table in tables.items()}
    assert cells == {"table4": 88, "table5": 54, "table6": 42, "table7": 20}
    assert paper.table_names() == ["table2", "rank_intervals", "table4", "table5", "table6", "table7"]


def test_harp_has_no_numbers_with_adore_star(tables) -> None:
    assert tables["table4"].value("harp", "msmarco-doc", "RR@10", "as") is None
    assert tables["table4"].gap("harp", "msmarco-doc", "RR@10", "as") == "NA"


def test_numbers_agree_where_two_tables_print_the_same_run(tables) -> None:
    for column in tables["table7"].columns:
        cell = (column.dataset, column.measure, column.candidates)
        assert number(tables["table7"], "ares-simple", *cell) == number(
            tables["table4"], "ares-simple", *cell
        )
    # Nothing of BM25 is trained: its zero-shot numbers tell which candidates Table 6 re-ranks.
    for column in tables["table6"].columns[:4]:
        cell = (column.dataset, column.measure, "as")
        assert number(tables["table6"], "bm25", *cell) == number(tables["table4"], "bm25", *cell)
    covid = ("trec-covid-round2", "P@20")
    assert number(tables["table6"], "bm25", *covid) == number(tables["table5"], "bm25", *covid)


def test_the_best_variant_is_the_one_that_its_superscript_names(tables) -> None:
    table = tables["table4"]
    for column in table.columns:
        cell = (column.dataset, column.measure, column.candidates)
        best, simple = table.value("ares-best", *cell), table.value("ares-simple", *cell)
        assert table.superscripts[best.marks].startswith("of ARES_")
        assert (best.value == simple.value) == (best.marks == "¹")
        assert best.value >= simple.value
    hard = number(tables["table7"], "ares-hard", "msmarco-doc", "RR@100", "official")
    assert number(table, "ares-best", "msmarco-doc", "RR@100", "official") == hard


def test_numbers_agree_with_those_that_later_papers_cite(tables) -> None:
    """Wikiformer prints them fine-tuned on the official candidates and on TREC-COVID; PHP prints HARP's."""
    wikiformer, php = load_published(WIKIFORMER_YAML).tables, load_published(PHP_YAML).tables
    rows = {"ares": "ares-simple"}
    compared = 0
    for theirs, ours in (("table2", "table4"), ("table3", "table5")):
        for row in wikiformer[theirs].rows:
            key = rows.get(row.key, row.key)
            if not row.values or key not in {r.key for r in tables[ours].rows}:
                continue
            for column in wikiformer[theirs].columns:
                if column.regime == "full":
                    cell = (column.dataset, column.measure, column.candidates)
                    found = wikiformer[theirs].value(row.key, *cell, "full")
                    assert found.value == number(tables[ours], key, *cell)
                    compared += 1
    assert compared == 9 * 4 + 6
    for measure in ("RR@10", "RR@100"):
        cell = ("msmarco-doc", measure, "official")
        assert number(tables["table4"], "harp", *cell) == number(php["table3"], "harp", *cell)


def test_a_cut_off_of_100_never_gives_less_than_one_of_10(tables) -> None:
    for name in ("table4", "table6", "table7"):
        table = tables[name]
        for row in table.rows:
            for candidates in ("official", "as"):
                whole, short = (
                    table.value(row.key, "msmarco-doc", measure, candidates)
                    for measure in ("RR@100", "RR@10")
                )
                assert whole is None or short is None or whole.value > short.value


def test_what_the_remarks_say_of_the_tables(tables) -> None:
    cell = ("trec-dl-2019", "nDCG@10", "official")
    bert, harp = (number(tables["table4"], row, *cell) for row in ("bert", "harp"))
    assert all(bert > number(tables["table4"], row, *cell) for row in ("prop-wikipedia", "prop-msmarco"))
    assert bert < harp
    zero_shot = tables["table6"]
    unmarked = {
        (row.key, column.dataset)
        for row in zero_shot.rows
        for column in zero_shot.columns
        if row.values
        and row.key != "ares-simple"
        and not zero_shot.value(row.key, column.dataset, column.measure).marks
    }
    assert unmarked == {
        ("bm25", "msmarco-doc"), ("ares-hard", "trec-covid-round2"), ("ares-strict", "entity-questions"),
    }  # fmt: skip
    strict, simple = (
        number(zero_shot, row, "entity-questions", "P@10") for row in ("ares-strict", "ares-simple")
    )
    assert strict > simple


def test_a_dagger_stands_at_what_is_worse_than_ares_simple(tables) -> None:
    assert [(m.mark, m.over, m.direction) for m in tables["table4"].marks] == [("†", "ares-simple", "worse")]
    for table in tables.values():
        assert not any("†" in value for value in table.row("ares-simple").values)


def test_settings_and_their_order(paper) -> None:
    printed = {one.setting: float(one.auc) for one in paper.axioms.predictors.settings}
    assert printed == {"I": 0.9027, "II": 0.8714, "III": 0.7734, "IV": 0.8258}
    assert sorted(printed, key=printed.get, reverse=True) == ["I", "II", "IV", "III"]


def test_rank_intervals_add_up_to_all_queries(paper) -> None:
    intervals = paper.axioms.rank_intervals
    assert sum(round(float(one.percent) * 100) for one in intervals.intervals) == 10_000
    shares = {"1-2": 0.3208, "3-5": 0.1119, "6-10": 0.0428, "11-50": 0.1007, ">50": 0.4238}
    assert intervals.shares == shares


def test_the_overlay_at_the_papers_scale_fills_the_papers_cells(paper) -> None:
    overlays = (ROOT / "configs" / name for name in ("paper.yaml", "ares-paper.yaml"))
    config = load_config(ROOT / "config.yaml", *overlays)
    learnt = {
        predictor.setting: predictor
        for predictor in config.predictors.values()
        if not predictor.label.count("alone")
    }
    assert set(learnt) == {one.setting for one in paper.axioms.predictors.settings}
    for predictor in learnt.values():
        assert predictor.dataset in paper.axioms.predictors.datasets
        assert set(config.collections[predictor.collection]) <= set(paper.axioms.rank_intervals.corpora)
    tested = {one.dataset for one in config.experiments.values() if "ares" in one.papers}
    assert tested == set(paper.datasets)
    models = {model for one in config.experiments.values() for model in one.models}
    assert {row.models[0] for row in paper.tables["table7"].rows} <= models


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["tables"]["table4"].pop("superscripts"), "has a mark that the table does not explain"),
        (lambda c: c["axioms"]["predictors"]["settings"][0].update(auc="90.27"), r"settings\.0\.auc"),
        (lambda c: c["axioms"]["predictors"]["settings"][0].update(setting="V"), r"settings\.0\.setting"),
        (lambda c: c["axioms"]["rank_intervals"]["intervals"].pop(), "must cover each of 1, 2, 3-5"),
        (
            lambda c: c["axioms"]["rank_intervals"]["intervals"][0].update(percent="0,32"),
            r"intervals\.0\.percent",
        ),
    ],
)
def test_faults_are_named(tmp_path, change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_published(changed_paper(ARES_YAML, tmp_path, change))
