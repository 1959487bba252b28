"""What the report shows first: sentences, picture and table hold the numbers of the headline table."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import flat_rows, write_results

from irpretrain.config import Config
from irpretrain.report.cells import Table, bounds_text, difference_text
from irpretrain.report.first_screen import first_table, picture
from irpretrain.report.pages import number_text
from irpretrain.report.scores import Scores
from irpretrain.report.tables import build_headline


def headline(config: Config, folder: Path, rows: list[dict]) -> Table:
    _, per_query = write_results(folder, rows)
    return build_headline(config, Scores.read(per_query))


def test_the_sentences_name_the_best_and_the_lead_over_the_control(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("zero-shot", "full"))
    best, lead = headline(config, tmp_path, rows).summary
    assert best.startswith("Best on SQuAD 1.1 (20 queries): PROP, fine-tuned, with RR@10 0.600 [")
    assert ", 0.300 ahead of BM25 [" in best
    assert lead.startswith("Fine-tuned, PROP is 0.200 ahead of its control [")
    assert lead.endswith(", one seed; it passes BM25.")


@pytest.mark.parametrize(
    ("level", "ending"), [(0.2, "; it does not pass BM25."), (0.5, "; it is not shown to pass BM25.")]
)
def test_a_lead_over_bm25_is_claimed_only_where_its_interval_says_so(
    config: Config, tmp_path: Path, level: float, ending: str
) -> None:
    rows = flat_rows("squad", {"control": 0.0, "prop": level - 0.2}, ("full",))
    for row in rows:  # BM25 swings from query to query, so that its mean says little
        if row["model"] == "bm25":
            row["value"] = 0.9 if int(row["query_id"][1:]) % 2 else 0.0
    assert headline(config, tmp_path, rows).summary[1].endswith(ending)


def test_the_paper_s_own_model_is_spoken_of_before_others(config_of, tmp_path: Path) -> None:
    config = config_of("control", "prop", "php")
    config = config.model_copy(update={"report": config.report.model_copy(update={"papers": ["php"]})})
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.5, "php": 0.1})
    best, lead = headline(config, tmp_path, rows).summary
    assert "PROP, zero-shot" in best.replace("Prop", "PROP")
    assert lead.casefold().startswith("zero-shot, php is 0.100 behind its control")
    assert lead.endswith("; it does not pass BM25.")


def test_first_stages_have_one_sentence_and_nothing_has_none(config: Config, tmp_path: Path) -> None:
    (best,) = headline(config, tmp_path, flat_rows("squad", {})).summary
    assert best.startswith("Best on SQuAD 1.1 (20 queries): BM25, with RR@10 0.300 [")
    assert "ahead" not in best
    empty = build_headline(config, Scores({}))
    assert (empty.summary, picture(empty), first_table(empty).panels) == ((), None, ())


def test_dots_lie_where_their_means_are(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("few-shot-2", "zero-shot", "full"))
    drawn = picture(headline(config, tmp_path, rows))
    assert drawn is not None
    assert (drawn.title, drawn.measure, drawn.series) == (
        "SQuAD 1.1",
        "RR@10",
        ("zero-shot", "fine-tuned"),
    )
    lines = dict(drawn.lines)
    assert list(lines) == ["PROP", "control", "BM25", "QL"], "best first"
    assert [dot.series for dot in lines["BM25"]] == [-1]
    assert drawn.bm25 == lines["BM25"][0].mean
    for dot, series, mean in zip(lines["PROP"], (0, 1), (0.4, 0.6), strict=True):
        assert dot.series == series
        assert dot.text.startswith(f"{mean:.3f} [")
        assert dot.mean == pytest.approx(100 * mean / drawn.end, abs=0.01)
        assert dot.low < dot.mean < dot.high <= 100


def test_one_query_has_no_interval(config: Config, tmp_path: Path) -> None:
    rows = [row for row in flat_rows("squad", {"prop": 0.4}) if row["query_id"] == "q00"]
    drawn = picture(headline(config, tmp_path, rows))
    assert drawn is not None
    assert all(dot.low == dot.mean == dot.high for _, dots in drawn.lines for dot in dots)


def test_the_table_has_a_column_for_each_data_set_and_regime(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("zero-shot", "full"), ("RR@10", "AP"))
    rows += flat_rows("squad-first-stages", {})
    (panel,) = first_table(headline(config, tmp_path, rows)).panels
    labels = [config.datasets[name].label for name in ("squad", "squad", "squad-first-stages")]
    assert [column.group for column in panel.columns] == labels
    assert [column.label for column in panel.columns] == ["zero-shot", "fine-tuned", "first stage"]
    assert [row.label for row in panel.rows] == ["PROP", "control", "BM25", "QL"]
    prop = panel.rows[0].cells
    assert [cell.ours.mean for cell in prop[:2]] == pytest.approx([0.4, 0.6])
    assert prop[2].text == ""


def test_a_bound_that_rounds_to_nothing_has_no_sign() -> None:
    assert bounds_text(-0.0004, 0.08, 2) == "[0.00, 0.08]"
    assert difference_text(-0.0004) == "+0.000"
    assert number_text(-0.0004) == "0.000"
