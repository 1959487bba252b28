"""Whatever the catalogue knows can be planned without its files."""

from pathlib import Path

import pytest

from base_config import base_config
from irpretrain.config import Config, parse_config
from irpretrain.corpora.catalogue.absence import missing_by_entry, missing_files
from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources
from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan.preparation import with_stand_ins

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = read_catalogue()
MANIFEST = read_manifest(ROOT / "resources/embedded.yaml")


def everything() -> Config:
    """The embedded default, and every data set, run and task of the catalogue."""
    given = base_config()
    given["retrieval"]["depth"], given["reranking"]["depth"] = 1000, None
    given["experiments"] = {
        dataset: {"dataset": dataset, "models": ["control"], "regimes": ["zero-shot"]}
        for entry in CATALOGUE.values()
        for dataset in entry.datasets
    }
    for entry in CATALOGUE.values():
        for stage, runs in entry.first_stages.items():
            for dataset in runs["runs"]:
                again = {**given["experiments"][dataset], "candidates": stage}
                given["experiments"][f"{dataset}-{stage}"] = again
    tasks = [task for entry in CATALOGUE.values() for task in entry.downstream_tasks]
    given["downstream"] = {"all": {"tasks": tasks, "models": ["control"]}}
    given["encoder"] = {**given["encoder"], "path": "data/bert-base-uncased"}
    given["retrieval"]["depth"] = given["reranking"]["depth"] = 1000
    config: Config = parse_config(given)
    return config


def test_every_data_set_can_be_planned_without_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = everything()
    described = {name for name, entry in CATALOGUE.items() if entry.datasets or entry.downstream_tasks}
    missing = missing_by_entry(config)
    assert described < set(missing)
    with pytest.raises(ConfigError, match="data/robust04/disks45: there is no such file or folder"):
        check_sources(config, MANIFEST)
    planned = with_stand_ins(config, tmp_path / "stand-ins")
    assert missing_files(planned) == []
    assert with_stand_ins(config, tmp_path / "stand-ins") == planned, "they may lie there already"
    check_sources(planned, MANIFEST)
    assert planned.experiments == config.experiments
    assert not Path("data").exists()


def test_folders_of_the_catalogue_have_no_suffix():
    """By this a stand-in knows which it must be."""
    for entry in CATALOGUE.values():
        for path, file in entry.files.items():
            assert file.folder == (not Path(path).suffix), path


def test_where_nothing_is_missing_nothing_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config: Config = parse_config(base_config())
    assert with_stand_ins(config, tmp_path) is config


def test_files_of_ones_own_have_no_stand_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = base_config()
    given["encoder"] = {**given["encoder"], "path": "mine"}
    config: Config = parse_config(given)
    assert with_stand_ins(config, tmp_path) is config
    with pytest.raises(ConfigError, match=r"encoder\.path: mine: there is no such folder"):
        check_sources(config, MANIFEST)
