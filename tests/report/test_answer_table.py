"""PHP's Table 4: printed percent as shares, ours beside it, comparisons."""

from pathlib import Path

import pytest
from small_run import PHP_YAML

from irpretrain.config import Config
from irpretrain.config.papers import Published, load_published
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.report.cells import Table
from irpretrain.report.other_tables import NOTHING_RUN
from irpretrain.report.scores import Scores
from irpretrain.report.tables import build_table

QUESTIONS = 40
MEANS = {
    "bert": 75.06, "ict": 75.31, "wlp": 74.14, "prop-wikipedia": 75.34, "harp": 75.46, "php": 78.38,
}  # fmt: skip
"""The paper's column of means over the six sets."""


@pytest.fixture(scope="module")
def published() -> Published:
    return load_published(PHP_YAML)


def made(tmp_path: Path, published: Published, config: Config, levels: dict[tuple[str, str], float]) -> Table:
    """The table of runs at these levels, (task, model) → mean, each question a little off."""
    rows = [
        {
            "dataset": task, "candidates": "", "model": model, "regime": "full", "seed": 1, "fold": 0,
            "query_id": f"q{n:02}", "measure": measure, "value": level * scale + (0.02 if n % 2 else -0.02),
        }
        for (task, model), level in sorted(levels.items())
        for measure, scale in (("F1", 1.0), ("EM", 0.8))
        for n in range(QUESTIONS)
    ]  # fmt: skip
    PER_QUERY.write(tmp_path / "answers.parquet", rows)
    return build_table(published, "table4", config, answers=Scores.read([tmp_path / "answers.parquet"]))


def test_the_printed_numbers_fit_together(published) -> None:
    answers = published.answers
    for row in (row for row in answers.rows if row.values):
        values = [float(text.rstrip("†")) for text in row.values]
        assert sum(values) / 6 == pytest.approx(MEANS[row.key], abs=0.0051), row.key
    best = {place: max(answers.rows, key=lambda row: row.values[place : place + 1]) for place in range(6)}
    assert {row.key for row in best.values()} == {"php"}


def test_without_a_run_every_cell_says_why(tmp_path, published, config) -> None:
    table = build_table(published, "table4", config, answers=Scores({}))
    [panel] = table.panels
    assert [column.group for column in panel.columns] == [*published.answers.tasks.values()]
    assert {cell.note for row in panel.rows for cell in row.cells} == {NOTHING_RUN}
    php = next(row for row in panel.rows if row.key == "php")
    assert php.cells[0].published.printed == "0.7793†"
    assert php.cells[0].published.value == 0.7793


def test_a_set_that_is_missing_names_its_file(published, config) -> None:
    absent = config.model_copy(update={"absent_tasks": {"mrqa-newsqa": "x is missing"}})
    [panel] = build_table(published, "table4", absent, answers=Scores({})).panels
    reasons = {cell.dataset: cell.note for cell in panel.rows[0].cells}
    assert reasons["mrqa-newsqa"] == "x is missing"


def test_ours_on_other_questions(tmp_path, published, config) -> None:
    levels = {("spans", "control"): 0.5, ("spans", "prop"): 0.6, ("spans", "php"): 0.55}
    table = made(tmp_path, published, config, levels)
    panel = table.panels[1]
    assert [(column.group, column.label) for column in panel.columns] == [("spans", "F1"), ("spans", "EM")]
    cells = {row.key: row.cells for row in panel.rows}
    f1, em = cells["php"]
    assert (round(f1.ours.mean, 3), round(em.ours.mean, 3)) == (0.55, 0.44)
    holds = {made.label.partition(" [here: ")[0]: made.holds for made in f1.ours.comparisons}
    assert holds == {"BERT": True, "PROP": False}
    assert f1.source == "results/downstream/predictions/spans/php/seed-1.json"
    assert cells["harp"][0].ours is None
    assert any("spans: 40 tested examples" in note for note in table.notes)


def test_a_number_is_compared_as_a_share(tmp_path, published, config) -> None:
    [panel] = made(tmp_path, published, config, {("mrqa-squad", "control"): 0.8712}).panels
    cell = panel.rows[0].cells[5]
    assert (cell.published.printed, round(cell.difference, 4)) == ("0.8762", -0.005)
