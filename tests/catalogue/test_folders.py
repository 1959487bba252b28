"""Data lie beside the results or in the project; every run finds both."""

from pathlib import Path

import pytest

from irpretrain.config import load_config
from irpretrain.corpora.catalogue import completion
from irpretrain.corpora.catalogue.absence import missing_by_entry, refuse_absent, without_absent
from irpretrain.corpora.catalogue.completion import (
    data_folders,
    searched_folders_text,
    with_data_of_the_project,
)
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
TOPICS = "robust04/04.testset.gz"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project without data, and a working directory elsewhere."""
    (tmp_path / "project").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(completion, "project_directory", lambda: tmp_path / "project")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "project"


def config(tmp_path, text="experiments: {r: {dataset: robust04}}"):
    overlay = tmp_path / "mine.yaml"
    overlay.write_text(f"inherit: definitions\n{text}\n")
    return load_config(ROOT / "config.yaml", overlay)


def lay(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")


def test_the_working_directory_comes_first_then_the_project(project, tmp_path, monkeypatch):
    assert data_folders("data") == ["data", "../project/data"]
    assert data_folders("/data") == ["/data"]
    assert searched_folders_text("data") == f"{tmp_path}/work/data and {tmp_path}/project/data"
    monkeypatch.chdir(project)
    assert data_folders("data") == ["data"]


def test_a_data_set_is_read_where_it_is(project, tmp_path):
    without = config(tmp_path)
    assert with_data_of_the_project(without) is without
    lay(project / "data", TOPICS, "robust04/qrels.robust2004.txt", "robust04/disks45/a")
    found = with_data_of_the_project(without)
    assert found.corpora["robust04"].path == "../project/data/robust04/disks45"
    assert found.datasets["robust04"].queries.path == f"../project/data/{TOPICS}"
    assert found.datasets["robust04"].folds == without.datasets["robust04"].folds
    assert missing_by_entry(found) == {}
    assert without_absent(found) is found
    lay(Path("data"), TOPICS)
    assert with_data_of_the_project(without).datasets["robust04"].queries.path == f"data/{TOPICS}"


def test_a_path_that_the_configuration_gives_itself_is_found_too(project, tmp_path):
    named = config(tmp_path, "encoder: {path: data/bert-base-uncased}\nskip_absent: true")
    lay(project / "data", "bert-base-uncased/config.json")
    found = with_data_of_the_project(named)
    assert found.encoder.path == "../project/data/bert-base-uncased"
    assert found.skip_absent


def test_what_is_requested_for_and_absent_is_refused_with_the_files_and_where_to_get_them(project, tmp_path):
    with pytest.raises(ConfigError) as error:
        refuse_absent(config(tmp_path))
    reported = str(error.value).splitlines()
    assert reported[0] == "experiments.r: files that this needs are missing."
    assert reported[1] == "  robust04, from https://trec.nist.gov/data/robust.html"
    assert reported[2:5] == [
        f"    data/robust04/{name}" for name in ("disks45", "04.testset.gz", "qrels.robust2004.txt")
    ]
    assert reported[5] == f"  Looked for in {searched_folders_text('data')}."
    assert "datasets` says where each belongs" in reported[6]
    refuse_absent(config(tmp_path, "experiments: {r: {dataset: robust04}}\nskip_absent: true"))
    refuse_absent(config(tmp_path, "experiments: {s: {dataset: squad}}"))


def test_an_overlay_that_inherits_definitions_does_not_inherit_that_they_may_be_absent(tmp_path):
    paper, mine = ROOT / "configs/prop-paper.yaml", tmp_path / "mine.yaml"
    mine.write_text("inherit: definitions\nexperiments: {r: {dataset: robust04}}\n")
    assert load_config(ROOT / "config.yaml", paper).skip_absent
    assert not load_config(ROOT / "config.yaml", paper, mine).skip_absent
