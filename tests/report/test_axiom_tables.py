"""Tables of settings and rank intervals, and files of diagnoses: what is compared, and what is said where none ran."""

from pathlib import Path

import pytest
from axiom_run import (
    axiom_files,
    diagnosis,
    predictor,
    predictors,
    rank_intervals,
    with_axioms,
)
from small_run import ARES_YAML, flat_rows, write_results

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.foundation.errors import InputError
from irpretrain.report.axiom_results import AxiomResults
from irpretrain.report.cells import Table
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.table_files import markdown
from irpretrain.report.tables import build_table, make_tables


def tables(config: Config, results: AxiomResults) -> dict[str, Table]:
    paper = load_published(ARES_YAML)
    names = [name for name in paper.table_names() if name not in paper.tables]
    return {name: build_table(paper, name, config, axioms=results) for name in names}


def differences(table: Table, column: int) -> list[float | None]:
    cells = [row.cells[column] for row in table.panels[0].rows]
    return [None if cell.difference is None else round(cell.difference, 4) for cell in cells]


def headings(table: Table, panel: int = 0) -> list[str]:
    return [column.group for column in table.panels[panel].columns]


# Settings


def test_settings_beside_the_printed_ones(config: Config, tmp_path: Path) -> None:
    table = tables(with_axioms(config), AxiomResults.read(predictors(tmp_path)))["table2"]
    assert table.heading == "ARES, Table 2: The preference predictor in four settings"
    assert headings(table) == ["MS MARCO (the paper's)", "SQuAD 1.1 train"]
    rows = table.panels[0].rows
    assert [row.cells[0].printed for row in rows] == ["0.9027", "0.8714", "0.7734", "0.8258"]
    ours = [row.cells[1] for row in rows[:2]]
    assert [(cell.ours.mean, cell.ours.low) for cell in ours] == [(0.9, 0.89), (0.85, 0.84)]
    assert {(cell.ours.sample_size, cell.unit) for cell in ours} == {(200, "test pairs")}
    assert differences(table, 0) == differences(table, 1) == [None] * 4
    assert list(table.letters) == [load_published(ARES_YAML).axioms.predictors.absent]


def test_on_the_papers_data_set_the_number_is_compared(config: Config, tmp_path: Path) -> None:
    aucs = {"I": 0.9, "II": 0.84, "III": 0.78}
    files = [predictor(tmp_path, setting.lower(), setting, auc=auc) for setting, auc in aucs.items()]
    table = tables(with_axioms(config, dataset="msmarco-train"), AxiomResults.read(files))["table2"]
    assert headings(table) == ["MS MARCO (the paper's)"]
    assert differences(table, 0) == [-0.0027, -0.0314, 0.0066, None]
    assert "0.9027 · ours 0.900 [0.890, 0.910], -0.003" in markdown(table).replace("\\", "")
    assert list(table.letters) == ["no predictor of this configuration has that setting there"]


def test_predictors_of_fewer_axioms_have_a_column_of_their_own(config: Config, tmp_path: Path) -> None:
    alone = predictor(tmp_path, "rank-alone", "I", axioms=["RANK"], auc=0.7)
    second = predictor(tmp_path, "forest", "I", auc=0.88)
    config = with_axioms(config, names=("rank-alone", "forest"))
    table = tables(config, AxiomResults.read([*predictors(tmp_path), alone, second]))["table2"]
    assert headings(table)[1:] == [f"SQuAD 1.1 train{ending}" for ending in ("", ", RANK alone", ", forest")]
    first, second_row, *_ = (row.cells[1:] for row in table.panels[0].rows)
    assert [cell.ours.mean for cell in first] == [0.9, 0.7, 0.88]
    assert [cell.ours is not None for cell in second_row] == [True, False, False]
    assert any("setting I: Rank-Alone (predictor rank-alone), 2,000 pairs" in note for note in table.notes)


def test_negatives_of_several_collections_are_told_apart(config: Config, tmp_path: Path) -> None:
    config = with_axioms(config, names=("other",))
    config.predictors["other"].collection = "articles"
    files = [predictor(tmp_path, name, "I") for name in ("i", "other")]
    table = tables(config, AxiomResults.read(files))["table2"]
    assert headings(table)[1:] == ["SQuAD 1.1 train, pretraining", "SQuAD 1.1 train, articles"]


# Rank intervals


def interval_table(config: Config, *files: Path) -> Table:
    return tables(config, AxiomResults.read(rank_intervals=files))["rank_intervals"]


def with_papers_documents(config: Config) -> Config:
    """The configuration with a collection of the paper's documents called "web"."""
    return config.model_copy(update={"collections": {**config.collections, "web": ["msmarco-documents"]}})


def test_rank_intervals_beside_the_printed_ones(config: Config, tmp_path: Path) -> None:
    table = interval_table(config, rank_intervals(tmp_path, "pretraining"))
    assert headings(table) == ["MS MARCO (the paper's)", "pretraining"]
    rows = table.panels[0].rows
    shares = {row.key: row.cells[1].ours.mean for row in rows}
    assert shares == {"1–2": 0.4, "3–5": 0.15, "6–10": 0.05, "11–50": 0.1, "beyond 50": 0.3}
    assert [row.cells[0].printed for row in rows[:2]] == ["0.3208", "0.1119"]
    start = "pretraining: 100 pseudo-queries of enwiki-excerpt + "
    assert any(note.startswith(start) for note in table.notes)
    assert all(row.cells[0].ours is None for row in rows)
    assert "| 0.400 |" in markdown(table)  # all are counted: no interval


def test_rank_intervals_of_the_papers_documents_are_compared(config: Config, tmp_path: Path) -> None:
    counts = {"1": 200, "2": 125, "3-5": 140, "6-10": 43, "11-50": 100, ">50": 392}
    web = rank_intervals(tmp_path, "web", queries=1000, intervals=counts)
    table = interval_table(with_papers_documents(config), web, rank_intervals(tmp_path, "pretraining"))
    assert headings(table) == ["MS MARCO (the paper's)", "pretraining"]
    assert differences(table, 0)[:2] == [0.0042, 0.0281]
    assert differences(table, 1) == [None] * 5


def test_a_smaller_depth_of_rank_leaves_cells_without_a_number(config: Config, tmp_path: Path) -> None:
    counts = {"1": 30, "2": 10, "3-5": 15, "6-10": 5, "11-20": 10, ">20": 30}
    files = [rank_intervals(tmp_path, name, depth=20, intervals=counts) for name in ("pretraining", "web")]
    table = interval_table(with_papers_documents(config), *files)
    assert headings(table) == ["MS MARCO (the paper's)", "pretraining"]
    theirs, ours = zip(*(row.cells for row in table.panels[0].rows), strict=True)
    assert [cell.ours is None for cell in theirs] == [False, False, False, True, True]
    assert [cell.ours and cell.ours.mean for cell in ours] == [0.4, 0.15, 0.05, None, None]
    assert ours[3].note == "RANK is known up to 20 alone (axioms.rank_depth)"


# All of them


@pytest.mark.parametrize("is_run", [True, False])
def test_every_table_is_written_with_and_without_files(config: Config, tmp_path: Path, is_run: bool) -> None:
    results = write_results(tmp_path, flat_rows("squad", {"control": 0.1, "prop": 0.3}))
    files = axiom_files(tmp_path) if is_run else {}
    config = with_axioms(config) if is_run else config
    counts = make_tables(ARES_YAML, config, ResultFiles(*results, **files), tmp_path / "tables")
    names = {"ares_headline", *(f"ares_{name}" for name in load_published(ARES_YAML).table_names())}
    texts = {path.name: path.read_text() for path in (tmp_path / "tables").iterdir()}
    assert {name.removesuffix(".tex") for name in texts if name.endswith(".tex")} == names
    assert counts["tables"] == len(names)
    assert "0.6666$^{3}$" in texts["ares_table4.tex"]
    assert "| Setting | MS MARCO (the paper's) AUC |" in texts["ares_table2.md"]
    if is_run:
        assert "Setting & AUC & AUC" in texts["ares_table2.tex"]
        assert "Rank & share & share" in texts["ares_rank_intervals.tex"]
    else:
        assert "(a) this configuration has no preference predictors" in texts["ares_table2.md"]
        assert "0.9027 · not run (a)" in texts["ares_table2.md"]
        assert "(a) this configuration samples no pseudo-queries" in texts["ares_rank_intervals.md"]


# Files that cannot be used


@pytest.mark.parametrize("changes", [{"pairs": 0}, {"importance": None}, {"axioms": []}])
def test_faulty_scores_of_a_predictor(tmp_path: Path, changes: dict) -> None:
    path = predictor(tmp_path, "odd", "I", **changes)
    with pytest.raises(InputError, match=r"odd/scores\.json: these results cannot be used"):
        AxiomResults.read([path])


def test_a_missing_or_faulty_file_is_named(tmp_path: Path) -> None:
    faulty = diagnosis(tmp_path, "heads", {}, [{"model": "prop", "pairs": "few"}])
    with pytest.raises(InputError, match=r"heads\.csv: these results cannot be used"):
        AxiomResults.read(diagnoses=[faulty])
    with pytest.raises(InputError, match=r"none\.json: these results cannot be used"):
        AxiomResults.read(rank_intervals=[tmp_path / "none.json"])
