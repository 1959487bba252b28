"""What the report shows first: sentences, plot and table hold the numbers of the headline table."""

import json
import re
from pathlib import Path

import pytest
from small_run import PHP_YAML, flat_rows, write_results

from irpretrain.config import Config
from irpretrain.config.papers import load_published
from irpretrain.evaluation.significance import bounds_text
from irpretrain.evaluation.verdicts import paired
from irpretrain.foundation.provenance import sidecar_path
from irpretrain.report.cells import Table, difference_text
from irpretrain.report.difference_plot import Axis, difference_plots
from irpretrain.report.first_screen import first_table
from irpretrain.report.page_views import displayed_panels, first_table_note
from irpretrain.report.pages import number_text
from irpretrain.report.scores import RunName, Scores
from irpretrain.report.tables import build_headline, build_table


def headline(config: Config, folder: Path, rows: list[dict]) -> Table:
    _, per_query = write_results(folder, rows)
    return build_headline(config, Scores.read(per_query))


def test_the_sentences_name_the_best_and_the_lead_over_the_control(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("zero-shot", "full"))
    best, lead = headline(config, tmp_path, rows).summary
    prefix = "Best on SQuAD 1.1 (20 queries): PROP, fine-tuned, with RR@10 0.600, 0.300 ahead of BM25 ["
    assert best.startswith(prefix)
    assert lead.startswith("Fine-tuned, PROP is 0.200 ahead of its control [")
    assert re.search(r", one seed; PROP passes BM25 \(\+0\.300 \[0\.\d{3}, 0\.\d{3}\]\)\.$", lead)


@pytest.mark.parametrize(
    ("level", "ending"),
    [
        (0.2, r"so no difference is shown; PROP stays behind BM25 \(-0\.\d{3} \[-0\.\d{3}, -0\.\d{3}\]\)\."),
        (0.5, r"one seed; PROP is not shown to differ from BM25 \(\+0\.\d{3} \[-0\.\d{3}, 0\.\d{3}\]\)\."),
    ],
)
def test_a_lead_over_bm25_is_claimed_only_where_its_interval_says_so(
    config: Config, tmp_path: Path, level: float, ending: str
) -> None:
    rows = flat_rows("squad", {"control": 0.0, "prop": level - 0.2}, ("full",))
    for row in rows:  # BM25 swings from query to query, so that its mean says little
        if row["model"] == "bm25":
            row["value"] = 0.9 if int(row["query_id"][1:]) % 2 else 0.0
    assert re.search(f"{ending}$", headline(config, tmp_path, rows).summary[1])


@pytest.mark.parametrize(("random_mean", "is_said"), [(0.25, True), (0.15, False)])
def test_a_control_below_a_random_order_is_said(
    config: Config, tmp_path: Path, random_mean: float, is_said: bool
) -> None:
    """The untrained head ranked SQuAD's candidates at 0.228, chance at 0.283, and every lead was over the former."""
    rows = flat_rows("squad", {"control": 0.0, "prop": 0.4}, ("zero-shot",))
    _, per_query = write_results(tmp_path, rows)
    control = sum(row["value"] for row in rows if (row["model"], row["measure"]) == ("control", "RR@10")) / 20
    means = {"RR@10": control + random_mean - 0.2}
    counts = {"random_orders": [{"dataset": "squad", "candidates": "bm25", "means": means}]}
    sidecar_path(per_query[0]).write_text(json.dumps({"counts": counts}))
    table = build_headline(config, Scores.read(per_query))
    assert (
        f"; a random order has {means['RR@10']:.3f}, more than the control; PROP" in table.summary[1]
    ) == is_said
    [note] = [note for note in table.notes if "a random order of the candidates has RR@10" in note]
    assert note.endswith(", more than control zero-shot." if is_said else f"{means['RR@10']:.3f}.")


def test_the_paper_s_own_model_is_spoken_of_before_others(config_of, tmp_path: Path) -> None:
    config = config_of("control", "prop", "php")
    config = config.model_copy(update={"report": config.report.model_copy(update={"papers": ["php"]})})
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.5, "php": 0.1})
    _, best, lead = headline(config, tmp_path, rows).summary
    assert "PROP, zero-shot" in best.replace("Prop", "PROP")
    assert lead.casefold().startswith("zero-shot, php is 0.100 behind its control")
    assert "; PHP stays behind BM25 (-" in lead


def test_first_stages_have_one_sentence_and_nothing_has_none(config: Config, tmp_path: Path) -> None:
    (best,) = headline(config, tmp_path, flat_rows("squad", {})).summary
    assert best == "Best on SQuAD 1.1 (20 queries): BM25, with RR@10 0.300."
    empty = build_headline(config, Scores({}))
    assert (empty.summary, difference_plots(empty), first_table(empty).panels) == ((), [], ())


def test_the_tables_note_names_its_measure_and_only_its_marks(config: Config, tmp_path: Path) -> None:
    def note(folder: str, **levels: float) -> str:
        (tmp_path / folder).mkdir()
        return first_table_note(
            first_table(headline(config, tmp_path / folder, flat_rows("squad", levels))), "95%"
        )

    # Case mark-of-no-row: a run of first stages alone explained the mark of the control.
    interval = "RR@10, mean with its 95% interval; those of differences are in the plot."
    assert note("stages") == interval
    control = "the control (the encoder with a fresh score head)"
    assert note("worse", control=0.1, prop=0.2) == f"{interval} ᶜ significantly better than {control}."
    better_than_both = f"{interval} ᵇ significantly better than BM25, ᶜ than {control}."
    assert note("better", control=0.1, prop=0.4) == better_than_both


def test_a_papers_table_with_one_of_our_models_is_not_on_the_page(config: Config, tmp_path: Path) -> None:
    """Case ablation-of-one: PHP's table of its stages had one row, the whole model."""
    _, per_query = write_results(
        tmp_path, flat_rows("squad", {"control": 0.2, "php": 0.3}, ("zero-shot", "full"))
    )
    scores, php = Scores.read(per_query), load_published(PHP_YAML)
    ablation, baselines = (build_table(php, name, config, scores) for name in ("table5", "table3"))
    assert displayed_panels(ablation) == []
    [panel] = displayed_panels(baselines)
    assert {row.label for row in panel.rows} >= {"BERT", "PHP"}


def test_dots_lie_where_their_differences_are(config: Config, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("few-shot-2", "zero-shot", "full"))
    [plot] = difference_plots(headline(config, tmp_path, rows))
    assert (plot.title, plot.measure) == ("SQuAD 1.1", "RR@10")
    assert plot.series == ("minus BM25", "minus control")
    lines = dict(plot.lines)
    assert list(lines)[:2] == ["PROP, zero-shot", "PROP, fine-tuned"], (
        "best first, of several regimes the ends"
    )
    ticks = {tick.text: tick.place for tick in plot.ticks}
    assert ticks["0"] == plot.zero
    first, second = lines["PROP, fine-tuned"]
    assert (first.series, second.series) == (0, 1)
    assert first.text.startswith("+0.300 [")
    assert first.details == "p < 0.001; wins / ties / losses 20 / 0 / 0"
    assert second.text.startswith("+0.200 [")
    assert first.mean == pytest.approx(ticks["0"] + 1.5 * (ticks["+0.2"] - ticks["0"]), abs=0.05)
    assert second.mean == pytest.approx(ticks["+0.2"], abs=0.01)
    assert all(0 < dot.low < dot.mean < dot.high < 100 for dots in lines.values() for dot in dots)
    assert "BM25" not in lines, "minus the control in which regime?"


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.011, 0.019, ["0", "+0.005", "+0.010", "+0.015"]),  # what it is about fills the axis
        (-0.54, 0.53, ["-0.4", "-0.2", "0", "+0.2", "+0.4"]),
        (-0.0004, -0.0001, ["-0.0004", "-0.0003", "-0.0002", "-0.0001", "0"]),
        (0.0, 0.0, ["-0.03", "-0.02", "-0.01", "0", "+0.01", "+0.02", "+0.03"]),
    ],
)
def test_ticks_stand_at_round_numbers_and_0(low: float, high: float, texts: list[str]) -> None:
    axis = Axis.over(low, high)
    ticks = axis.ticks()
    assert [tick.text for tick in ticks] == texts
    assert all(tick.place == axis.place(float(tick.text)) for tick in ticks)
    assert 0 < axis.place(low) <= axis.place(high) < 100


def test_the_plot_has_the_p_and_interval_of_the_claim(config: Config, tmp_path: Path) -> None:
    """One comparison has one p: that of `paired`, which the claims have too."""
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4})
    articles = [{**row, "article": f"a{int(row['query_id'][1:]) % 5}"} for row in rows]
    scores = Scores.read(write_results(tmp_path, articles)[1])
    table = build_headline(config, scores)
    prop, bm25 = (
        scores.get(RunName("squad", "bm25", *run), "RR@10")
        for run in (("prop", "zero-shot"), ("bm25", "first-stage"))
    )
    estimate = paired(prop.values, bm25.values, prop.articles)
    [compared] = [c for c in table.panels[0].rows[0].cells[0].ours.comparisons if c.label == "BM25"]
    assert (compared.p, compared.low, compared.high) == (estimate.p, estimate.low, estimate.high)
    [first, *_] = dict(difference_plots(table)[0].lines)["PROP, zero-shot"]
    assert bounds_text(estimate.low, estimate.high) in first.text


def test_one_query_has_no_interval(config: Config, tmp_path: Path) -> None:
    rows = [row for row in flat_rows("squad", {"prop": 0.4}) if row["query_id"] == "q00"]
    [plot] = difference_plots(headline(config, tmp_path, rows))
    assert all(dot.low == dot.mean == dot.high for _, dots in plot.lines for dot in dots)


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


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.005, 0.078, "[-0.005, 0.078]"),  # case lead-interval-loses-its-sign
        (-0.0004, 0.08, "[-0.0004, 0.080]"),
        (0.00012, 0.0456, "[0.0001, 0.046]"),
        (-0.08, -0.0000004, "[-0.080, -0.0000004]"),
        (-4e-13, 0.08, "[0.000, 0.080]"),  # what differs in the last bits only
        (0.0, 0.0, "[0.000, 0.000]"),
    ],
)
def test_an_interval_as_text_holds_0_where_it_does(low: float, high: float, text: str) -> None:
    assert bounds_text(low, high) == text
    printed_low, printed_high = (float(bound) for bound in text.strip("[]").split(", "))
    low, high = round(low, 12), round(high, 12)
    assert (printed_low > 0, printed_high < 0) == (low > 0, high < 0)


def test_a_number_has_the_digits_that_its_size_needs_and_no_sign_where_it_rounds_to_nothing() -> None:
    numbers = (12345, 12345.6, -10.0, 10.04, 9.9994, -0.836, -0.0004)
    texts = ["12,345", "12,345.6", "-10.0", "10.0", "9.999", "-0.836", "0.000"]
    assert list(map(number_text, numbers)) == texts
    assert difference_text(-0.0004) == "+0.000"


def with_levels(rows: list[dict], levels: dict[tuple[str, str], float]) -> list[dict]:
    """The rows with other means of some models in some regimes."""
    means = {key: [row["value"] for row in rows if (row["model"], row["regime"]) == key] for key in levels}
    moved = {key: levels[key] - sum(values) / len(values) for key, values in means.items()}
    return [{**row, "value": row["value"] + moved.get((row["model"], row["regime"]), 0.0)} for row in rows]


def test_the_first_sentence_names_a_model_that_is_behind_itself(config: Config, tmp_path: Path) -> None:
    """Case few-topics-fine-tuned: nDCG@20 of PROP 0.762 zero-shot and 0.436 fine-tuned, without a word."""
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.762}, ("zero-shot", "full"))
    first, best, lead = headline(config, tmp_path, with_levels(rows, {("prop", "full"): 0.436})).summary
    assert first == (
        "Training did not help: on SQuAD 1.1 (20 queries) PROP, fine-tuned, is 0.326 behind itself zero-shot "
        "[-0.326, -0.326] in RR@10."
    )
    assert ": PROP, zero-shot, with RR@10 0.762, 0.462 ahead of BM25 [" in best
    assert lead.startswith("Fine-tuned, PROP is 0.036 ahead of its control [")


@pytest.mark.parametrize("level", [0.4, 0.3996, 0.5])
def test_a_gain_or_an_equal_score_is_no_setback(config: Config, tmp_path: Path, level: float) -> None:
    rows = flat_rows("squad", {"control": 0.2, "prop": 0.4}, ("zero-shot", "full"))
    sentences = headline(config, tmp_path, with_levels(rows, {("prop", "full"): level})).summary
    assert sentences[0].startswith("Best on")


def test_the_worst_three_setbacks_are_named_and_the_others_counted(config_of, tmp_path: Path) -> None:
    names = ["prop", "php", "harp", "ict", "bfs"]
    config = config_of("control", *names)
    rows = flat_rows("squad", {"control": 0.1, **dict.fromkeys(names, 0.5)}, ("zero-shot", "few-shot-8"))
    lost = {(name, "few-shot-8"): 0.5 - 0.05 * place for place, name in enumerate(names)}
    summary = headline(config, tmp_path, with_levels(rows, lost)).summary
    parts = summary[0].removeprefix("Training did not help: on SQuAD 1.1 (20 queries) ").split("; ")
    assert [part.split(", few-shot")[0].rpartition(" ")[2] for part in parts[:3]] == ["Bfs", "Ict", "Harp"]
    assert parts[3] == "so is one more."
    # PROP, which lost nothing, is none of them.
    assert "PROP" not in summary[0]


def test_a_pre_training_that_lost_is_told_against_its_start(config_of, tmp_path: Path) -> None:
    config = config_of("control", "prop")
    later = config.models["prop"].model_copy(update={"start": "prop", "label": "Later"})
    config = config.model_copy(update={"models": {**config.models, "later": later}})
    rows = flat_rows("squad", {"control": 0.3, "prop": 0.2, "later": 0.1})
    first = headline(config, tmp_path, rows).summary[0]
    assert "PROP, zero-shot, is 0.100 behind its control [" in first
    assert "Later, zero-shot, is 0.100 behind PROP, from which it starts, [" in first


def with_tuned_stages(config: Config, *stages: str) -> Config:
    """The configuration with these first stages alone, tuned on the same queries."""
    labels = {"tf-bm25": "tf index, BM25", "deepct-bm25": "DeepCT, BM25"}
    tuned = {
        name: config.first_stages[name].model_copy(
            update={"label": labels[name], "tuned_on": "squad-held-out"}
        )
        for name in stages
    }
    return config.model_copy(update={"first_stages": tuned})


def stage_rows(levels: dict[str, float]) -> list[dict]:
    """Rows of first stages alone, at their levels."""
    usual = [row for row in flat_rows("squad", {}) if row["model"] == "bm25"]
    return [
        {**row, "model": name, "candidates": name, "value": row["value"] - 0.3 + level}
        for name, level in levels.items()
        for row in usual
    ]


def test_a_tuned_first_stage_is_compared_with_one_tuned_alike(config: Config, tmp_path: Path) -> None:
    """Case lead-compares-tuned-with-untuned: 0.018 over BM25's fixed parameters, 0.011 over the tuned index."""
    config = with_tuned_stages(config, "tf-bm25", "deepct-bm25")
    levels = {"bm25": 0.840, "ql": 0.8, "tf-bm25": 0.847, "deepct-bm25": 0.858}
    table = headline(config, tmp_path, stage_rows(levels))
    lead = "“DeepCT, BM25”, with RR@10 0.858, 0.011 ahead of “tf index, BM25”, tuned alike, ["
    assert lead in table.summary[0]
    against = {
        row.key: [(c.label, round(c.difference, 3)) for c in row.cells[0].ours.comparisons]
        for row in table.panels[0].rows
    }
    tuned = {"deepct-bm25": [("tf index, BM25", 0.011)], "tf-bm25": []}
    assert against == {**tuned, "bm25": [], "ql": [("BM25", -0.04)]}
    [plot] = difference_plots(table)
    assert plot.series == ("minus “tf index, BM25”; QL minus BM25",)
    assert {row: dot.baseline for row, (dot,) in plot.lines} == {
        "DeepCT, BM25": "minus “tf index, BM25”",
        "QL": "minus BM25",
    }
    note = "Rows whose parameters are tuned are compared with tf index, BM25, tuned on the same queries."
    assert note in table.notes


def test_a_tuned_first_stage_without_such_a_row_says_so(config: Config, tmp_path: Path) -> None:
    config = with_tuned_stages(config, "deepct-bm25")
    table = headline(config, tmp_path, stage_rows({"bm25": 0.840, "ql": 0.8, "deepct-bm25": 0.858}))
    assert ", 0.018 ahead of BM25, which is not tuned, [" in table.summary[0]
    assert "Rows whose parameters are tuned are compared with no BM25, as none is tuned alike." in table.notes
    assert not table.panels[0].rows[0].cells[0].ours.comparisons
