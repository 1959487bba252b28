import csv
import os
import re
from pathlib import Path

import pandas
import pytest
from small_run import PROP_YAML, flat_rows, write_results

from irpretrain.config import Config
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Scores
from irpretrain.report.tables import build_headline, make_tables
from irpretrain.workflow.screen.closing import WIDTH, headline, headlines


@pytest.fixture
def made(config: Config, results, tmp_path: Path) -> Path:
    make_tables(PROP_YAML, config, ResultFiles(*results), tmp_path / "tables")
    return tmp_path


def test_the_table_in_plain_text(made: Path) -> None:
    text = headline(made, paper="prop")
    # The last lines name files, whose paths may be longer; a terminal must be able to copy them.
    table = text.partition("Report:")[0].splitlines()
    assert max(len(line) for line in table) <= WIDTH
    assert table[0] == "SQuAD 1.1 (20 queries), RR@10"
    zero_shot, *_, fine_tuned = (line for line in table if re.match(r"PROP +0", line))
    assert re.match(r"PROP +0\.450ᶜ  \[", zero_shot)
    assert "0.630ᵇᶜ [" in fine_tuned
    assert f"Report:  {made / 'reports/prop.html'}" in text


def test_what_a_run_has_made_is_told(made: Path) -> None:
    (made / "reports").mkdir()
    for place, name in enumerate(("report.html", "reports/prop.html", "reports/php.html"), 1):
        (made / name).touch()
        os.utime(made / name, (place, place))
    # The whole report was made before, those of two papers now.
    text = headlines(made, 2)
    assert f"{made}/reports/php.html" in text
    assert "significantly better than BM25" in text
    assert f"{made}/report.html" not in text
    assert f"{made}/reports/prop.html" not in headlines(made, 3)
    # All were made now; none was, as when there was nothing to do.
    for since in (1, 4):
        assert re.findall(r"Report:  (\S+)", headlines(made, since)) == [f"{made}/report.html"]


def test_a_report_older_than_its_scores_says_so(made: Path) -> None:
    """As after a run of a single target."""
    (made / "scores").mkdir()
    names = [f"scores/{name}.csv" for name in "abcde"]
    for name, place in {"report.html": 2, "scores/other.csv": 1, **dict.fromkeys(reversed(names), 3)}.items():
        (made / name).touch()
        os.utime(made / name, (place, place))
    newer = ", ".join(f"{made}/{name}" for name in names)
    assert f"Newer than this table and report: {newer}. A run" in headline(made)
    os.utime(made / "report.html", (3, 3))
    assert "Newer" not in headline(made)


def test_without_a_table_the_place_is_still_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert headline(tmp_path).startswith("Report:")
    monkeypatch.setenv("PWD", str(tmp_path))
    assert "Report:  runs/fruit/results/report.html\n" in headline(tmp_path / "runs/fruit/results")


@pytest.mark.parametrize(
    ("table", "shown"),
    [("# Title", ""), ("# Title\n\nBest: 5 \\%.", "Best: 5 %.\n\n"), ("# Title\n\n**Panel**\n\n| a |", "")],
)
def test_the_sentences_of_the_table_are_shown(tmp_path: Path, table: str, shown: str) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/headline.md").write_text(table)
    assert headline(tmp_path).startswith(f"{shown}Report:")


def test_data_sets_of_one_label_stay_apart(made: Path) -> None:
    path = made / "tables" / "prop_headline.csv"
    rows = pandas.read_csv(path, dtype=str, keep_default_na=False)
    others = rows[rows.row == "bm25"].assign(dataset="other", queries="7")
    pandas.concat([rows, others]).to_csv(path, index=False)
    text = headline(made, paper="prop")
    assert text.count("SQuAD 1.1 (20 queries), ") == text.count("SQuAD 1.1 (7 queries), ") == 1


def test_long_labels_are_cut(made: Path) -> None:
    path = made / "tables" / "prop_headline.csv"
    path.write_text(path.read_text().replace("random sampling (", "random sampling of every word there is ("))
    table = headline(made, paper="prop").partition("Report:")[0]
    assert "\nrandom sampling of every wor… " in table
    assert max(map(len, table.splitlines())) <= WIDTH


def test_every_measure_that_is_asked_for_is_in_every_table(config: Config, tmp_path: Path) -> None:
    """In the order of the configuration; in the terminal the first alone."""
    measures = ["AP", "nDCG@20", "P@10", "RR@10", "R@10", "nDCG@10", "RR@100", "P@5", "P@20"]
    squad = config.datasets["squad"].model_copy(update={"measures": measures})
    asked = config.model_copy(update={"datasets": {**config.datasets, "squad": squad}})
    rows = flat_rows("squad", {"prop": 0.5, "control": 0.3}, ("zero-shot", "full"), tuple(measures))
    files = ResultFiles(*write_results(tmp_path, rows))
    make_tables(PROP_YAML, asked, files, tmp_path / "tables")
    for table in ("prop_headline", "prop_table2", "prop_table3"):
        with open(tmp_path / "tables" / f"{table}.csv", newline="") as handle:
            cells = [cell for cell in csv.DictReader(handle) if cell["dataset"] == "squad"]
        for regime in ("zero-shot", "full"):
            shown = dict.fromkeys(cell["measure"] for cell in cells if cell["regime"] == regime)
            assert list(shown) == measures, (table, regime)
    text = headline(tmp_path, paper="prop").partition("Report:")[0]
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.startswith("SQuAD 1.1 (20 queries), AP\n")
    assert "nDCG" not in text.partition("Best on")[0]


def test_first_stages_alone_are_spoken_of_as_such(config: Config, tmp_path: Path) -> None:
    scores, per_query = write_results(tmp_path, flat_rows("squad", {}, measures=("AP", "RR@10")))
    table = build_headline(config, Scores.read(per_query))
    assert table.title == "Runs on SQuAD 1.1"
    assert [(column.group, column.label) for column in table.panels[0].columns] == [
        ("first stage", "RR@10"), ("first stage", "AP"), ("first stage", "RR@10 against BM25"),
    ]  # fmt: skip
    assert not re.search("re-rank|encoder|zero-shot", "\n".join(table.notes[:-1]))
    make_tables(PROP_YAML, config, ResultFiles(scores, per_query), tmp_path / "tables")
    assert "control" not in headline(tmp_path, paper="prop")
    panel = (tmp_path / "tables" / "prop_table2.md").read_text().partition("This configuration: SQuAD")[2]
    assert "SQuAD 1.1, first stage" in panel
    assert [label for label in ("QL", "BM25", "BERT", "PROP") if f"\n| {label}" in panel] == ["QL", "BM25"]


def test_few_shot_regimes_stand_between_zero_shot_and_full(config: Config, tmp_path: Path) -> None:
    rows = flat_rows(
        "squad", {"prop": 0.5, "control": 0.3}, ("few-shot-10", "full", "few-shot-2", "zero-shot")
    )
    table = build_headline(config, Scores.read(write_results(tmp_path, rows)[1]))
    groups = ["zero-shot", "few-shot (2 queries)", "few-shot (10 queries)", "fine-tuned"]
    assert list(dict.fromkeys(column.group for column in table.panels[0].columns)) == groups


def test_few_shot_regimes_alone_are_shown(config: Config, tmp_path: Path) -> None:
    files = ResultFiles(*write_results(tmp_path, flat_rows("squad", {"prop": 0.5}, ("few-shot-1",))))
    make_tables(PROP_YAML, config, files, tmp_path / "tables")
    text = headline(tmp_path, paper="prop")
    assert re.search(r"^Model +few-shot \(1 query\)$", text, re.MULTILINE)
    assert re.search(r"^PROP +0\.700ᵇ", text, re.MULTILINE)
