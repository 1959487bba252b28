"""DeepCT's tables from values that can be checked in one's head."""

import csv
from pathlib import Path

import numpy as np
import pytest
from small_run import DEEPCT_YAML

from irpretrain.config import Config
from irpretrain.config.experiments import ExperimentConfig
from irpretrain.config.papers import load_published
from irpretrain.config.retrieval import FirstStageConfig
from irpretrain.report.cells import Cell, Table, TextCell, plain_text
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.table_files import latex, markdown, write_cells
from irpretrain.report.tables import build_table

DATASET = "squad-first-stages"
QUERIES = tuple(f"q{number}" for number in range(8))


def first_stage(
    model: str, *values: float, candidates: str = "", measure: str = "RR@10", dataset: str = DATASET
):
    """The results of a first stage: one value a query."""
    run = RunName(dataset, candidates or model, model, "first-stage")
    return (run, measure), Results((0,), QUERIES, np.array([values]))


def deepct_table(config: Config, name: str, *results: tuple, **scores: Scores) -> Table:
    return build_table(load_published(DEEPCT_YAML), name, config, Scores(dict(results)), **scores)


def table2(config: Config) -> Table:
    """Better than tf on six queries, equal on one, worse on one; TextRank is worse on all."""
    return deepct_table(
        config,
        "table2",
        first_stage("tf-bm25", *[0.5] * 8),
        first_stage("deepct-bm25", 1, 1, 1, 1, 1, 1, 0.5, 0.25),
        first_stage("textrank-bm25", *[0.25, 0.2] * 4),
        first_stage("tf-ql", *[0.1] * 8),
        first_stage("deepct-ql", *[0.1] * 7, 0.2),
    )


def row(table: Table, panel: int, key: str):
    return next(row for row in table.panels[panel].rows if row.key == key)


def test_the_note_on_published_numbers_has_one_full_stop(config: Config) -> None:
    """Case protocol-runs-into-marks: "… of the official BM25 Marks: none, none, as only …"."""
    tables = (deepct_table(config, name) for name in ("table2", "table3", "table6"))
    tuned, reranked, queries = (
        next(note for note in t.notes if note.startswith("Published: ")) for t in tables
    )
    assert ". Marks: * better than " in tuned
    assert "each in the rows that belong to it" in tuned, "two marks are alike"
    assert "each in the rows that belong to it" not in queries
    assert reranked.endswith("official BM25. Marks: none (only summary results are published).")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (TextCell(), "–"),
        (TextCell("6/1/1"), "6/1/1"),
        (TextCell(printed="2022/3861/1097"), "2022/3861/1097"),
        (TextCell("6/1/1", printed="2022/3861/1097"), "2022/3861/1097 · ours 6/1/1"),
        (TextCell("+0.231", "p < 0.001"), "+0.231 (p < 0.001)"),
        (TextCell("supported", "by +0.1", outcome="supported"), "supported: by +0.1"),
    ],
)
def test_a_cell_of_text_in_plain_text(cell: TextCell, text: str) -> None:
    assert plain_text(cell) == text


def test_wins_ties_and_losses_by_hand(config) -> None:
    table = table2(config)
    [panel] = [place for place, panel in enumerate(table.panels) if "SQuAD" in panel.title]
    assert [column.label for column in table.panels[panel].columns] == ["RR@10", "RR@10 W/T/L"]
    found = {r.key: r.cells[1] for r in table.panels[panel].rows}
    assert found["deepct-bm25"] == TextCell("6/1/1", sort_text="5")
    assert found["textrank-bm25"] == TextCell("0/0/8", sort_text="-8")
    assert found["deepct-ql"] == TextCell("1/7/0", sort_text="1")  # against QL over the tf index
    assert found["tf-bm25"] == found["doc2query-bm25"] == TextCell("", sort_text="")


def test_printed_outcomes_stand_beside_their_values(config) -> None:
    table = table2(config)
    labels = [column.label for column in table.panels[0].columns]
    assert labels == ["RR@10", "RR@10 W/T/L", "RR@10", "RR@10 W/T/L", "AP"]
    assert row(table, 0, "deepct-bm25").cells[1] == TextCell("", printed="2022/3861/1097", sort_text="")
    assert "2022/3861/1097" in markdown(table)
    assert "2022/3861/1097" in latex(table)
    assert "6/1/1" in markdown(table)


def test_a_mark_compares_with_the_index_of_the_same_retrieval_model(config) -> None:
    """DeepCT's * says better than tf; † names Doc2Query, which is not there."""
    table = table2(config)
    bm25, ql = (row(table, 1, key).cells[0].ours.comparisons for key in ("deepct-bm25", "deepct-ql"))
    assert [(c.mark, c.holds, c.label[:14]) for c in bm25 if c.mark == "*"] == [("*", True, "tf index, BM25")]
    assert [(c.mark, c.holds, c.label[:12]) for c in ql if c.mark == "*"] == [("*", False, "tf index, QL")]


def test_outcomes_are_in_the_csv_file(config, tmp_path: Path) -> None:
    write_cells(table2(config), tmp_path / "table.csv")
    with open(tmp_path / "table.csv", encoding="utf-8") as file:
        rows = [line for line in csv.DictReader(file) if line["row"] == "deepct-bm25"]
    assert [line["published_outcomes"] for line in rows] == ["2022/3861/1097", "615/1035/210", "", ""]
    assert rows[-1]["outcomes"] == "6/1/1"


def test_a_first_stage_of_one_data_set_fills_its_row_there(config) -> None:
    """Narratives are weighed by a model of narratives, which is a first stage called after them."""
    theirs, name = "robust04-narrative", "bow-deepct-robust04-narrative"
    stage = FirstStageConfig(label="BOW-DeepCT-Query, narratives", model="indri")
    changes = {
        "first_stages": {**config.first_stages, name: stage},
        "datasets": {**config.datasets, theirs: config.datasets[DATASET]},
    }
    table = deepct_table(
        config.model_copy(update=changes),
        "table6",
        first_stage("bow-deepct", *[0.5] * 8, measure="AP"),
        first_stage(name, *[0.25] * 8, measure="AP", dataset=theirs),
    )
    cells = (cell for panel in (0, 2) for cell in row(table, panel, "bow-deepct").cells)
    assert [cell.ours.mean for cell in cells if cell.ours] == [0.25, 0.5]


def depth_scores() -> Scores:
    """At depth 1 DeepCT finds what tf does not; at depth 2 both find all. The model turns DeepCT's two around."""
    results = []
    for depth, tf, deepct in ((1, 0.0, 1.0), (2, 1.0, 1.0)):
        for stage, recall, value in (("tf-bm25", tf, tf), ("deepct-bm25", deepct, deepct / depth)):
            cut = f"{stage}@{depth}"
            results.append(first_stage(stage, *[recall] * 8, candidates=cut, measure=f"R@{depth}"))
            values = [[value - 0.01 * (number % 2) for number in range(8)]]
            run = RunName(DATASET, cut, "prop", "zero-shot")
            results.append(((run, "RR@10"), Results((1,), QUERIES, np.array(values))))
    return Scores(dict(results))


def test_depths_by_hand(config) -> None:
    table = deepct_table(config, "table4", depths=depth_scores())
    assert table.name == "deepct_table4"
    theirs, here = table.panels
    assert [r.key for r in theirs.rows] == ["10", "20", "50", "100", "200", "500", "1000"]
    assert " ".join(cell.printed for cell in theirs.rows[0].cells) == "0.40 0.49 0.234 0.270 0.279 0.320"
    assert all("not in this configuration" in cell.note for r in theirs.rows for cell in r.cells)
    recall, first_stages, prop = (group for group, _ in here.groups())
    assert recall == "Recall"
    assert first_stages.startswith("Not re-ranked")
    assert prop.startswith("PROP")
    assert prop.endswith("zero-shot, RR@10")
    means = {r.key: [cell.ours.mean if cell.ours else None for cell in r.cells] for r in here.rows}
    assert means["1"] == [0, 1, None, None, pytest.approx(-0.005), pytest.approx(0.995)]
    assert means["2"] == [1, 1, None, None, pytest.approx(0.995), pytest.approx(0.495)]
    # Indexes are compared with the first at each depth.
    marks = {r.key: [cell.ours and cell.ours.marks for cell in r.cells] for r in here.rows}
    assert marks["1"] == ["", "↑", None, None, "", "↑"]
    assert marks["2"] == ["", "", None, None, "", ""]


def at_other_depths(config: Config, dataset: str) -> Table:
    """Table 4 of a configuration that measures BM25 and a first stage of its own at depth 5, and re-ranks BM25's."""
    experiment = ExperimentConfig(
        dataset=dataset, first_stages=["mine"], models=["prop"], regimes=["zero-shot"], depths=[5]
    )
    config = config.model_copy(
        update={
            "experiments": {"main": experiment},
            "first_stages": {**config.first_stages, "mine": FirstStageConfig(label="Mine")},
            "datasets": {**config.datasets, dataset: config.datasets[DATASET]},
            "report": config.report.model_copy(update={"papers": ["prop", "deepct"]}),
        }
    )
    runs = {("bm25", "first-stage", "bm25"): 0.5, ("mine", "first-stage", "mine"): 0.75}
    runs |= {("ql", "first-stage", "ql"): 0.1, ("prop", "zero-shot", "bm25"): 1.0}
    results = {
        (RunName(dataset, f"{candidates}@5", model, regime), measure): Results(
            (0,), QUERIES, np.array([[value - 0.01 * (n % 2) for n in range(8)]])
        )
        for (model, regime, candidates), value in runs.items()
        for measure in ("RR@10", *(["R@5"] if regime == "first-stage" else []))
    }
    return deepct_table(config, "table4", depths=Scores(results))


@pytest.mark.parametrize("dataset", [DATASET, "msmarco-passage-dev"])
def test_depths_of_other_first_stages_are_shown_as_they_are(config: Config, dataset: str) -> None:
    here = at_other_depths(config, dataset).panels[1]
    assert [(column.group, column.label) for column in here.columns[:2]] == [
        ("Recall", "BM25"), ("Recall", "Mine")
    ]  # fmt: skip
    [depth] = here.rows
    assert depth.key == "5"
    means = [cell.ours.mean if cell.ours else None for cell in depth.cells if isinstance(cell, Cell)]
    assert means == pytest.approx([0.495, 0.745, 0.495, 0.745, 0.995, None])
    assert depth.cells[-1].note == f"no experiment measures it at this depth on {dataset}"
    assert all(cell.published is None for cell in depth.cells)


def test_without_depths_the_paper_stands_alone(config) -> None:
    table = deepct_table(config, "table4")
    assert len(table.panels) == 1
    assert "↑" in " ".join(table.notes)


def test_first_stages_alone_are_not_called_re_ranked(config) -> None:
    notes = table2(config).notes
    assert any(note.endswith("8 queries; rankings of up to 100 documents.") for note in notes)
    assert not any("re-ranked" in note for note in notes)


def test_a_first_stage_that_is_not_run_is_not_said_to_be_missing(config) -> None:
    table = deepct_table(config, "table2", first_stage("tf-ql", *[0.5] * 8))
    own = next(panel for panel in table.panels if "SQuAD" in panel.title)
    reasons = {row.key: cell.note for row in own.rows for cell in row.cells if isinstance(cell, Cell)}
    assert reasons["tf-bm25"] == f"no experiment runs this first stage on {DATASET}"
    assert reasons["doc2query-bm25"] == "no first stage of this configuration searches such an index"
