"""Experiments whose data are not there are left out with a reason; all others stay."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from irpretrain.catalogue.absence import without_absent
from irpretrain.config import Config, parse_config
from irpretrain.config.usage import used_datasets
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources
from irpretrain.errors import ConfigError

ROOT = Path(__file__).parents[2]
DOCUMENTS = "data/msmarco/msmarco-docs.tsv.gz"
DEV = ["data/msmarco/msmarco-docdev-queries.tsv.gz", "data/msmarco/msmarco-docdev-qrels.tsv.gz"]
TRAIN = ["data/msmarco/msmarco-doctrain-queries.tsv.gz", "data/msmarco/msmarco-doctrain-qrels.tsv.gz"]


def configuration(**sections: dict) -> Config:
    given = yaml.safe_load((ROOT / "config.yaml").read_text())
    for section, entries in sections.items():
        given[section] = {**given.get(section, {}), **entries}
    return parse_config(given)


def experiment(**changes: object) -> dict:
    return {"dataset": "msmarco-doc", "models": ["untrained"], "regimes": ["zero-shot"], **changes}


def touch(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("")


def test_the_embedded_default_lacks_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    default = configuration()
    assert without_absent(default) is default


def test_an_experiment_is_left_out_until_all_its_files_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configuration(experiments={"marco": experiment()})
    left = without_absent(config)
    assert "marco" not in left.experiments
    assert list(left.experiments) == [name for name in config.experiments if name != "marco"]
    absence = left.absent["marco"]
    assert (absence.dataset, absence.candidates) == ("msmarco-doc", "bm25")
    assert absence.reason == (
        f"{DOCUMENTS} and 2 more files are missing; snakemake --cores 1 datasets says how to get them"
    )
    assert left.report.notes[-1] == f"Experiment marco is not run: {absence.reason}."
    assert "msmarco-doc" not in used_datasets(left)
    check_sources(left, read_manifest(ROOT / "resources/embedded.yaml"))
    touch(DOCUMENTS, DEV[0])
    assert without_absent(config).absent["marco"].reason.startswith(f"{DEV[1]} is missing")
    touch(*DEV)
    assert without_absent(config) is config


def test_what_trains_chooses_or_is_re_ranked_counts_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    touch(DOCUMENTS, *DEV)
    tuned = {"official": {}, "tuned": {"label": "tuned", "tuned_on": "msmarco-train"}}
    config = configuration(
        first_stages=tuned,
        experiments={
            "zero": experiment(),
            "full": experiment(regimes=["full"]),
            "given": experiment(candidates="official"),
            "tuned": experiment(candidates="tuned"),
        },
    )
    assert set(without_absent(config).absent) == {"full", "given", "tuned"}
    touch(*TRAIN)
    assert set(without_absent(config).absent) == {"given"}


def test_a_corpus_for_pre_training_may_be_missing_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configuration(
        collections={"marco": ["msmarco"]},
        models={"marco": {"label": "x", "collection": "marco", "tasks": [{"objective": "rop"}]}},
        experiments={"marco": experiment(dataset="squad", models=["marco"])},
    )
    assert without_absent(config).absent["marco"].reason.startswith(f"{DOCUMENTS} is missing")
    touch(DOCUMENTS)
    assert without_absent(config) is config


def test_a_file_that_the_configuration_names_itself_is_no_absence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = configuration().datasets["squad"].model_dump() | {"queries": {"format": "tsv", "path": "mine.tsv"}}
    config = configuration(datasets={"own": own}, experiments={"own": experiment(dataset="own")})
    assert without_absent(config) is config
    with pytest.raises(ConfigError, match=r"datasets\.own\.queries\.path: mine\.tsv: there is no such file"):
        check_sources(config, read_manifest(ROOT / "resources/embedded.yaml"))
