"""What joins the experiments and papers of one run."""

import csv
from pathlib import Path

import pytest
from small_run import rows_of, write_results

from irpretrain.config.experiments import ReportConfig
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.foundation.errors import IntegrityError
from irpretrain.report.claim_answers import answer_claims
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import RunName, Scores
from irpretrain.report.tables import write_overview


def _experiment(
    directory: Path, models: tuple[str, ...], changed: float = 0.0
) -> tuple[list[Path], list[Path]]:
    """Results of an experiment; `changed` is added to the values of BM25, which all experiments share."""
    directory.mkdir()
    rows = rows_of("squad", models=models)
    rows = [{**row, "value": row["value"] + changed * (row["model"] == "bm25")} for row in rows]
    return write_results(directory, rows)


def _lines(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _overview(config, folder: Path, files: ResultFiles) -> tuple[list[Path], dict]:
    """The scores, values of queries and claims that are joined, and their counts."""
    folder.mkdir(exist_ok=True)
    made = [folder / name for name in ("scores.csv", "per_query.parquet", "claims.csv")]
    return made, write_overview(config, files, *made, folder / "tables")


def test_each_row_stands_once(config, tmp_path: Path) -> None:
    first = _experiment(tmp_path / "first", ("control", "prop"))
    second = _experiment(tmp_path / "second", ("prop", "prop-mlm"))
    scores, per_query = (one + two for one, two in zip(first, second, strict=True))
    claims = [tmp_path / "prop.csv", tmp_path / "again.csv"]
    for path in claims:
        answer_claims("prop", config, ResultFiles(scores, per_query), path)
    made, counts = _overview(config, tmp_path, ResultFiles(scores, per_query, claims=claims))

    rows = _lines(made[0])
    keys = [tuple(row[k] for k in ("dataset", "candidates", "model", "regime", "measure")) for row in rows]
    assert len(set(keys)) == len(keys) == counts["scores"]
    assert {row["model"] for row in rows if row["regime"] == "full"} == {"control", "prop", "prop-mlm"}
    assert [key[:4] for key in keys] == sorted(key[:4] for key in keys)
    assert PER_QUERY.count(made[1]) == counts["per_query"]
    assert made[2].read_bytes() == claims[0].read_bytes()
    assert Scores.read([made[1]]).runs() == Scores.read(per_query).runs()
    labels = {row["label"].partition(" ")[0] for row in _lines(tmp_path / "tables" / "headline.csv")}
    assert labels >= {"BM25", "PROP"}


def test_the_order_of_experiments_changes_nothing_that_is_measured(config, tmp_path: Path) -> None:
    experiments = [_experiment(tmp_path / model, ("control", model)) for model in ("prop", "prop-mlm")]
    written = []
    for number, ((scores, per_query), others) in enumerate((experiments, experiments[::-1])):
        files = ResultFiles(scores + others[0], per_query + others[1])
        made, _ = _overview(config, tmp_path / str(number), files)
        written.append([path.read_bytes() for path in made[:2]])
    assert written[0] == written[1]


def test_experiments_must_agree_about_a_run_that_they_share(tmp_path: Path) -> None:
    _, first = _experiment(tmp_path / "first", ("prop",))
    _, other = _experiment(tmp_path / "other", ("control",), changed=0.1)
    with pytest.raises(IntegrityError, match="do not cover the same queries once each"):
        Scores.read(first + other)
    shared = Scores.read(first + first).get(RunName("squad", "bm25", "bm25", "first-stage"), "RR@10")
    assert shared is not None
    assert shared.values.shape == (1, 20)


def test_without_papers_there_are_no_claims(config, tmp_path: Path) -> None:
    files = ResultFiles(*_experiment(tmp_path / "first", ("control", "prop")))
    own = config.model_copy(update={"report": ReportConfig()})
    _, counts = _overview(own, tmp_path, files)
    assert counts["claims"] == 0
    assert {path.name.partition(".")[0] for path in (tmp_path / "tables").iterdir()} == {"headline"}
