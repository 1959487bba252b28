"""Tables of papers that report two regimes, two sets of candidates, and marks for what is worse."""

import re
from pathlib import Path

import pandas
import pytest
from scipy import stats
from small_run import ARES_YAML, PHP_YAML, PROP_YAML, WIKIFORMER_YAML, flat_rows, with_harp, write_results

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.experiments import AbsenceConfig, ModelConfig
from irpretrain.config.papers import load_published
from irpretrain.report.cells import OurValue, Table, value_text
from irpretrain.report.page_views import displayed_panels, left_out
from irpretrain.report.paper_table import recipe_differences
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Comparison, RunName, Scores
from irpretrain.report.table_files import latex, markdown, write_cells
from irpretrain.report.tables import build_table, make_tables

LEVELS = {
    "control": 0.1,
    "wikiformer": 0.35,
    "wikiformer-without-srr": 0.1,
    "php": 0.4,
    "harp": 0.38,
    "ict": 0.41,
}


@pytest.fixture(scope="module")
def run(config_of, tmp_path_factory):
    """The configuration with Wikiformer, PHP and some baselines, and their results on SQuAD."""
    rows = flat_rows("squad", LEVELS, ("zero-shot", "full"))
    config = config_of(*LEVELS)
    return config, write_results(tmp_path_factory.mktemp("papers"), rows)


def _on_paper_s_data_set(
    config_of, *models: str, dataset: str = "msmarco-doc", label: str = "MS MARCO", **sections
):
    """The configuration with these models, of which the first is run on a data set of the papers in both regimes."""
    squad = {"format": "squad", "path": "embedded:squad-dev"}
    experiment = {"dataset": dataset, "models": [models[0]], "regimes": ["zero-shot", "full"]}
    return config_of(
        *models,
        datasets={dataset: {"label": label, "corpus": "squad-dev", "queries": squad, "qrels": squad}},
        experiments={"one": experiment},
        **sections,
    )


def _table(run, paper: Path, name: str) -> Table:
    config, (_, per_query) = run
    return build_table(load_published(paper), name, config, Scores.read(per_query))


def _here(table: Table) -> dict[str, list]:
    return {row.key: list(row.cells) for row in table.panels[1].rows}


def test_two_regimes_in_one_table(run) -> None:
    table = _table(run, WIKIFORMER_YAML, "table2")
    assert [c.group for c in table.panels[0].columns][::4] == ["MS MARCO, zero-shot", "MS MARCO, fine-tuned"]
    assert [c.group for c in table.panels[1].columns] == ["SQuAD 1.1, zero-shot", "SQuAD 1.1, fine-tuned"]
    bert = next(row for row in table.panels[0].rows if row.key == "bert")
    assert [cell.published.printed for cell in bert.cells][::4] == ["0.1684*", "0.3826*"]
    assert table.heading.startswith("Wikiformer, Table 2: ")
    assert "Page" not in table.source


def test_what_was_not_run_is_one_line_of_the_page(run) -> None:
    table = _table(run, WIKIFORMER_YAML, "table2")
    [panel] = displayed_panels(table)
    assert panel.title == table.panels[1].title
    rows = [row.short_label for row in panel.rows]
    assert len(rows) < len(table.panels[1].rows)
    whole, others = left_out(table).split("; ")
    assert whole == f"Data sets of the paper ({len(table.panels[0].rows)} rows)"
    assert {*rows, *others.split(", ")} == {row.label.partition(" (")[0] for row in table.panels[1].rows}


def test_a_panel_without_rows_is_left_out(config_of, tmp_path: Path) -> None:
    files = write_results(tmp_path, flat_rows("squad", {}, ()))
    table = _table((config_of("control"), files), PROP_YAML, "table5")
    assert [panel.title for panel in table.panels] == ["Data sets of the paper"]


def test_marks_for_what_is_worse(run) -> None:
    cells = _here(_table(run, WIKIFORMER_YAML, "table2"))
    marks = {row: [cell.ours.marks for cell in cells[row]] for row in ("bert", "harp", "bm25", "wikiformer")}
    # HARP is better than Wikiformer here.
    assert marks == {"bert": ["*", "*"], "harp": ["", ""], "bm25": ["*", "*"], "wikiformer": ["", ""]}
    (bert,), (harp,) = (cells[row][0].ours.comparisons for row in ("bert", "harp"))
    assert (bert.direction, bert.holds, round(bert.difference, 3)) == ("worse", True, -0.25)
    assert (harp.significant, harp.holds, round(harp.difference, 3)) == (True, False, 0.03)


def test_a_first_stage_is_compared_in_each_regime(run) -> None:
    """BM25 has the same numbers in both groups of columns, but Wikiformer, which it is compared with, has not."""
    cells = _here(_table(run, WIKIFORMER_YAML, "table2"))["bm25"]
    differences = [cell.ours.comparisons[0].difference for cell in cells]
    assert differences == pytest.approx([0.3 - 0.35, 0.3 - 0.55])


def test_fishers_test_at_the_papers_level(run) -> None:
    table = _table(run, WIKIFORMER_YAML, "table5")
    assert any("p ≤ 0.01, Fisher's randomisation test" in note for note in table.notes)
    found = _here(table)["without-srr"][0].ours.comparisons[0]
    scores = Scores.read(run[1][1])
    ours, before = (
        scores.get(RunName("squad", "bm25", model, "zero-shot"), "RR@10").values[0]
        for model in ("wikiformer-without-srr", "control")
    )
    expected = stats.permutation_test(
        (ours, before), lambda a, b, axis: (a - b).mean(axis), permutation_type="samples", n_resamples=20_000,
        vectorized=True, rng=1,
    )  # fmt: skip
    assert found.p == pytest.approx(expected.pvalue, abs=0.02)
    assert not found.holds


def test_two_sets_of_candidates_in_one_table(run) -> None:
    table = _table(run, PHP_YAML, "table3")
    groups = list(dict.fromkeys(column.group for column in table.panels[0].columns))
    assert groups[:2] == ["MS MARCO, ANCE Top 100", "MS MARCO, Official Top 100"]
    php = next(row for row in table.panels[0].rows if row.key == "php")
    assert [cell.published.printed for cell in php.cells[:4]] == [".4601†", ".4526†", ".4155†", ".4106†"]
    assert [cell.published for cell in php.cells[4:]] == [None] * 4
    assert [cell.candidates for cell in php.cells[:4]] == ["ance", "ance", "official", "official"]


def test_what_the_paper_has_in_place_of_a_number_stands_in_its_cell(run, tmp_path: Path) -> None:
    table = _table(run, PHP_YAML, "table3")
    text = markdown(table)
    for label, missing in (("BM25", 3), ("PROP (Wiki)", 4), ("HARP", 4), ("PHP", 4)):
        line = next(line for line in text.splitlines() if line.startswith(f"| {label} |"))
        assert line.count("| illegible · not run (") == missing
    assert latex(table).count("illegible\\,(") == 15
    write_cells(table, tmp_path / "cells.csv")
    cells = pandas.read_csv(tmp_path / "cells.csv", dtype=str, keep_default_na=False)
    illegible = cells[cells.published_note != ""]
    assert len(illegible) == 15
    assert set(zip(illegible.published, illegible.published_note, strict=True)) == {("", "illegible")}
    assert any('"illegible"' in note for note in table.notes)
    assert markdown(_table(run, WIKIFORMER_YAML, "table2")).count("| NA · not run (") == 8


def test_our_number_beside_one_that_cannot_be_read_has_no_difference(config_of, tmp_path: Path) -> None:
    paper = load_published(PHP_YAML)
    table = paper.tables["table3"]
    columns = [column.model_copy(update={"candidates": "bm25"}) for column in table.columns]
    paper = paper.model_copy(update={"tables": {"table3": table.model_copy(update={"columns": columns})}})
    rows = flat_rows("trec-dl-2019", {"php": 0.5, "harp": 0.4}, ("full",), ("nDCG@10",))
    config = _on_paper_s_data_set(config_of, "php", "harp", dataset="trec-dl-2019", label="DL")
    table = build_table(paper, "table3", config, Scores.read(write_results(tmp_path, rows)[1]))
    cells = [cell for cell in table.cells() if (cell.row, cell.measure) == ("php", "nDCG@10") and cell.ours]
    assert [(cell.printed, cell.difference) for cell in cells] == [("illegible", None)] * len(table.panels)


def test_a_mark_over_many_baselines(run) -> None:
    cells = _here(_table(run, PHP_YAML, "table3"))
    fine_tuned, zero_shot = cells["php"]
    holds = {made.label.partition(" [")[0]: made.holds for made in fine_tuned.ours.comparisons}
    assert (holds["HARP"], holds["BM25"], holds["BERT"]) == (True, True, True)
    assert not holds["Transformer-ICT"]
    assert holds.keys().isdisjoint({"DRMM", "Transformer-WLP", "PROP (Wiki)"})  # they were not run
    assert fine_tuned.ours.marks == ""  # † would say better than each
    assert zero_shot.published is None  # the paper fine-tunes
    assert all(cell.ours is None or not cell.ours.comparisons for cell in cells["harp"])


@pytest.mark.parametrize(("differences", "marks"), [((0.1, 0.2), "†"), ((0.1, -0.2), "")])
def test_a_mark_holds_when_all_its_comparisons_do(differences: tuple[float, ...], marks: str) -> None:
    run = RunName("d", "bm25", "m", "full")
    made = tuple(Comparison("†", str(d), run, difference=d, p=0.01, significant=True) for d in differences)
    assert OurValue(run, "RR@10", 0.5, 0.4, 0.6, (1,), 20, made).marks == marks


def test_a_data_set_measured_by_other_measures(config_of, tmp_path: Path) -> None:
    rows = flat_rows("squad", {"wikiformer": 0.5}, measures=("nDCG@20", "P@20"))
    table = _table((config_of("wikiformer"), write_results(tmp_path, rows)), WIKIFORMER_YAML, "table4")
    # The paper's nDCG@5 and nDCG@15 were not computed.
    assert {column.label for column in table.panels[1].columns} == {"nDCG@20", "P@20"}
    assert any(note.startswith("Measures: ") and "nDCG@20" in note for note in table.notes)


def _wikiformer_on_its_own_data_set(config_of, folder: Path, finetuning: dict, reranking: dict):
    """Wikiformer's Table 2 where its data set is run in both regimes, by these options."""
    config = _on_paper_s_data_set(config_of, "wikiformer", finetuning=finetuning, reranking=reranking)
    rows = flat_rows("msmarco-doc", {"wikiformer": 0.28}, ("zero-shot", "full"), candidates="official")
    return _table((config, write_results(folder, rows)), WIKIFORMER_YAML, "table2")


QUERY_LENGTH = ["reranking.query_length"]
OPTIMISER = ["finetuning.optimiser.warmup", "finetuning.optimiser.weight_decay"]


@pytest.mark.parametrize(
    ("finetuning", "reranking", "zero_shot_keys", "fine_tuned_keys"),
    [
        ({"recipe": "wikiformer"}, {}, [], []),
        ({"recipe": "wikiformer-legal"}, {}, [], []),  # its own, of long queries
        ({"recipe": "wikiformer"}, {"query_length": 31}, QUERY_LENGTH, []),
        ({"recipe": "wikiformer", "epochs": 3}, {}, [], ["finetuning.epochs"]),
        ({"recipe": "wikiformer", "few_shot_batch_sizes": [4], "few_shot_queries": "first"}, {}, [], []),
        ({"recipe": "php", "query_length": 30}, {"query_length": 30}, [], OPTIMISER),
        ({"recipe": "php"}, {}, QUERY_LENGTH, ["finetuning.query_length", *OPTIMISER]),
        (
            {},
            {"query_length": 30},
            [],
            ["finetuning.query_length", "finetuning.loss", "finetuning.negatives"],
        ),
    ],
)
def test_a_number_by_other_options_than_the_paper_s_recipe_has_a_note_and_no_difference(
    config_of,
    tmp_path: Path,
    finetuning: dict,
    reranking: dict,
    zero_shot_keys: list[str],
    fine_tuned_keys: list[str],
) -> None:
    """Zero-shot numbers depend on the recipe's lengths alone, whatever the recipe is called."""
    table = _wikiformer_on_its_own_data_set(config_of, tmp_path, finetuning, reranking)
    theirs, here = (
        next(row for row in panel.rows if row.key == "wikiformer").cells for panel in table.panels
    )
    zero_shot, fine_tuned = theirs[::4]
    assert [cell.difference for cell in here] == [zero_shot.difference, fine_tuned.difference]
    other = "not by the recipe wikiformer, which configs/wikiformer-paper.yaml has: other "
    text = markdown(table).replace("\\", "")
    for cell, printed, keys, difference in (
        (zero_shot, "0.2844", zero_shot_keys, "-0.004"),
        (fine_tuned, "0.4085", fine_tuned_keys, "+0.072"),
    ):
        ours = f"{printed} · ours {value_text(cell.ours)}"
        assert cell.note.startswith(other + ", ".join(keys)) if keys else cell.note == ""
        assert (cell.difference is None) == bool(keys)
        assert f"{ours} ({table.letters[cell.note]}) |" in text if keys else f"{ours}, {difference} |" in text
        assert (f", ${difference}$" in latex(table)) == (not keys)


def test_a_ranker_over_words_has_lengths_and_keys_of_its_own() -> None:
    given = base_config()
    given["models"]["knrm"] = {
        "label": "KNRM",
        "neural": {"type": "knrm", "collection": "pretraining"},
        "finetuning": {"learning_rates": [1e-3]},
    }
    given["finetuning"] = {"recipe": "prop", "max_length": 100, "query_length": 10}
    assert recipe_differences(parse_config(given), "prop", "knrm", "full") == []
    given["finetuning"]["negatives"] = 9
    assert recipe_differences(parse_config(given), "prop", "knrm", "full") == ["finetuning.negatives"]
    given["models"]["knrm"]["finetuning"]["negatives"] = 9
    assert recipe_differences(parse_config(given), "prop", "knrm", "full") == []


def test_first_stages_and_papers_without_a_recipe_do_not_depend_on_one(config_of) -> None:
    config = config_of(finetuning={"recipe": "php"}, reranking={})
    assert recipe_differences(config, "wikiformer", "bm25", "first-stage") == []
    assert recipe_differences(config, "deepct", "control", "full") == []


def test_rankers_over_words_have_rates_of_their_own(config_of) -> None:
    """The recipes are those of cross-encoders; a cross-encoder's own keys count."""
    kinds = {"knrm": {"neural": {"type": "knrm", "collection": "pretraining"}}, "bert": {"passages": {}}}
    models = {
        name: ModelConfig.model_validate({"label": name, "finetuning": {"epochs": 5}, **kind})
        for name, kind in kinds.items()
    }
    config = config_of(finetuning={"recipe": "php"}, reranking={})
    config = config.model_copy(update={"models": {**config.models, **models}})
    assert recipe_differences(config, "php", "knrm", "full") == []
    assert recipe_differences(config, "php", "bert", "full") == ["finetuning.epochs"]


@pytest.fixture
def msmarco(config_of, tmp_path: Path):
    """PHP and Wikiformer on the papers' own data set, but on the candidates of BM25."""
    config = _on_paper_s_data_set(config_of, *LEVELS)
    return config, write_results(tmp_path, flat_rows("msmarco-doc", LEVELS, ("zero-shot", "full")))


def test_a_number_on_other_candidates_is_not_compared(msmarco) -> None:
    """A first stage searches the collection, so that it has no number on given candidates either."""
    for paper, name in ((PHP_YAML, "table3"), (WIKIFORMER_YAML, "table2")):
        table = _table(msmarco, paper, name)
        theirs = [c for row in table.panels[0].rows for c in row.cells if c.dataset == "msmarco-doc"]
        assert all(cell.ours is None for cell in theirs)
        reasons = {cell.row: cell.note for cell in theirs if cell.candidates == "official"}
        for stage in ("bm25", "ql"):
            lacking = f"no experiment has a first stage {stage}-official"
            assert reasons[stage] == f"the paper ranks Official Top 100 alone; {lacking}"
        lacking = "which no experiment on msmarco-doc does"
        assert reasons["bert"] == f"the paper re-ranks Official Top 100, {lacking}"
        below = next(panel for panel in table.panels if panel.title == "This configuration: MS MARCO")
        assert all(cell.ours for row in below.rows if row.key in ("bm25", "bert") for cell in row.cells)
        # One note a data set and candidates that were run.
        (note,) = (note for note in table.notes if note.startswith("MS MARCO: "))
        assert "of BM25 are re-ranked" in note


def test_a_data_set_whose_files_are_missing_says_so_in_its_cells(msmarco) -> None:
    config, results = msmarco
    reason = "data/msmarco/msmarco-docs.tsv.gz is missing; make run ARGS=datasets says how to get it"
    absence = AbsenceConfig(dataset="msmarco-doc", candidates="official", reason=reason)
    table = _table((config.model_copy(update={"absent": {"two": absence}}), results), PHP_YAML, "table3")
    cells = [c for row in table.panels[0].rows for c in row.cells if c.dataset == "msmarco-doc"]
    assert {
        cell.note for cell in cells if cell.candidates == "official" and cell.row in ("bm25", "bert")
    } == {reason}
    assert reason not in {cell.note for cell in cells if cell.candidates == "ance"}


def test_a_reason_names_the_run_and_not_each_measure(config_of, tmp_path: Path) -> None:
    measures = ("RR@10", "RR@100")
    rows = flat_rows("squad", {"wikiformer": 0.5}, ("zero-shot", "full"), measures)
    control = flat_rows("squad", {"control": 0.4}, measures=measures[:1])
    rows += [row for row in control if row["model"] == "control"]
    run = config_of("wikiformer"), write_results(tmp_path, rows)
    reasons = _table(run, WIKIFORMER_YAML, "table2").letters
    assert "RR@100 is not among the measures of squad" in reasons
    assert [text for text in reasons if "papers runs control" in text] == [
        "no experiment of this table's papers runs control fine-tuned on squad"
    ]


def test_a_data_set_of_the_paper_has_a_panel_only_where_the_paper_reports_it(msmarco) -> None:
    panels = {n: len(_table(msmarco, WIKIFORMER_YAML, f"table{n}").panels) for n in (2, 3, 4, 5)}
    assert panels == {2: 2, 3: 1, 4: 1, 5: 2}


def test_a_paper_s_files_hold_each_printed_number_with_its_candidates(run, tmp_path: Path) -> None:
    config, results = run
    assert make_tables(PHP_YAML, config, ResultFiles(*results), tmp_path)["tables"] == 4
    cells = pandas.read_csv(tmp_path / "php_table3.csv", dtype=str, keep_default_na=False)
    php = cells[cells.row == "php"][["candidates", "published", "published_marks"]]
    assert php.iloc[:3:2].to_numpy().tolist() == [["ance", "0.4601", "†"], ["official", "0.4155", "†"]]


@pytest.mark.parametrize(
    ("paper", "name"),
    [(WIKIFORMER_YAML, f"table{n}") for n in (2, 3, 4, 5)] + [(PHP_YAML, "table3"), (PHP_YAML, "table5")],
)
def test_markdown_and_latex_hold_every_printed_number(run, paper: Path, name: str) -> None:
    table = _table(run, paper, name)
    text, tex = markdown(table).replace("\\", ""), latex(table)
    numbers = [number for row in load_published(paper).tables[name].rows for number in row.values]
    printed = [cell.published for cell in table.cells() if cell.published]
    assert len(printed) >= len([number for number in numbers if number[-1].isdigit()])
    for value in printed:
        assert value.printed in text
        assert re.search(rf"(?<![0-9]){re.escape(value.number)}", tex)


def test_a_table_says_what_stands_in_for_links(config, tmp_path: Path) -> None:
    hyperlinks = config.model_copy(update={"graph": config.graph.model_copy(update={"mentions": "none"})})
    mentions, symmetric = "exact mentions of other documents' titles", "in place of See Also links"
    for settings, models, said in (
        (config, ("wikiformer",), [mentions, symmetric]),
        # PROP needs no links; PHP does, but is not in this table.
        (config, ("prop",), []),
        (config, ("control", "php"), []),
        (hyperlinks, ("wikiformer", "prop"), [symmetric]),
    ):
        folder = tmp_path / "-".join((*models, settings.graph.mentions))
        folder.mkdir()
        run = settings, write_results(folder, flat_rows("squad", dict.fromkeys(models, 0.3)))
        notes = " ".join(_table(run, WIKIFORMER_YAML, "table2").notes)
        assert [note for note in (mentions, symmetric) if note in notes] == said, models


@pytest.mark.parametrize("shown", [{"php": 0.4, "harp": 0.3}, {"php": 0.4}], ids=["with", "without"])
def test_a_table_with_harp_says_what_stands_in_for_attention(
    config_of, tmp_path: Path, shown: dict[str, float]
) -> None:
    config = with_harp(config_of())
    run = config, write_results(tmp_path, flat_rows("squad", shown, ("zero-shot", "full")))
    for paper, name in ((PHP_YAML, "table3"), (WIKIFORMER_YAML, "table2"), (WIKIFORMER_YAML, "table3")):
        notes = " ".join(_table(run, paper, name).notes)
        assert ("HARP weighs words and anchors by idf here" in notes) == ("harp" in shown)


def test_a_row_of_the_best_variant_takes_the_best_of_each_column(config_of, tmp_path) -> None:
    levels = {"control": 0.1, "ares-simple": 0.4, "ares-rank": 0.5, "ares-rep": 0.3}
    others = {**levels, "ares-simple": 0.5, "ares-rank": 0.4}
    # By another measure, another variant is the best.
    rows = flat_rows("squad", levels, ("full",)) + flat_rows("squad", others, ("full",), ("nDCG@10",))
    table = _table((config_of(*levels), write_results(tmp_path, rows)), ARES_YAML, "table4")
    best = next(row for row in table.panels[1].rows if row.key == "ares-best")
    filled = {cell.measure: (cell.run.model, round(cell.ours.mean, 3)) for cell in best.cells if cell.run}
    assert filled == {"RR@10": ("ares-rank", 0.7), "nDCG@10": ("ares-simple", 0.7)}
    assert best.filled_by == "the best of ARES_simple, Ares-Rank, Ares-Rep"
