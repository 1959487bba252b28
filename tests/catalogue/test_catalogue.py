"""The project's own catalogue, and what is refused in an entry."""

import re
from pathlib import Path

import pytest
from small import readings, write_entry

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.corpora.catalogue.completion import complete
from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.corpora.registry import FORMATS, format_of
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
CATALOGUE = read_catalogue()
entries = pytest.mark.parametrize("name", CATALOGUE)


@entries
def test_an_entry_is_sound(name):
    entry = CATALOGUE[name]
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name), "it is part of the names of files"
    assert entry.licence.page.startswith("http")
    assert entry.source.startswith("http")
    assert entry.files or entry.needs
    for kind, section in readings(entry):
        name = section.get("format", "trec")
        assert name in FORMATS[kind]
        format_of(kind, name).options(**section.get("options", {}))


@entries
def test_what_an_entry_offers_is_a_valid_configuration(name):
    given = base_config()
    given["experiments"] = {
        key: {"dataset": key, "models": ["control"], "regimes": ["zero-shot"]}
        for key in CATALOGUE[name].datasets
    }
    given["retrieval"]["depth"] = given["reranking"]["depth"] = 1000
    given["datasets"]["squad-first-stages"]["measures"] = ["RR@10"]  # its own first stages have 100 documents
    given["collections"] |= {"catalogued": list(CATALOGUE[name].corpora) or ["squad-dev"]}
    config = parse_config(given)
    for key in CATALOGUE[name].datasets:
        dataset = config.datasets[key]
        assert dataset.entry == name
        assert config.corpora[dataset.corpus].entry in (name, *CATALOGUE[name].needs)
        assert all(path.startswith("data/") for path in dataset.queries.paths + dataset.qrels.paths)


def test_measures_of_the_papers_are_measured():
    for name, entry in CATALOGUE.items():
        measured = {measure for dataset in entry.datasets.values() for measure in dataset["measures"]}
        wanted = {measure for measures in entry.papers.values() for measure in measures}
        assert not entry.datasets or wanted <= measured, name


def test_data_sets_have_the_depth_that_names_of_candidates_state():
    """Another `retrieval.depth` would else read more of a file, or less."""
    datasets = {name: given for entry in CATALOGUE.values() for name, given in entry.datasets.items()}
    stated = {
        (stage, dataset): (int(top[1]), datasets[dataset].get("depth"))
        for entry in CATALOGUE.values()
        for stage, described in entry.first_stages.items()
        if (top := re.search(r"\bTop (\d+)", described["label"]))
        for dataset in described["runs"]
    }
    assert len(stated) == 11
    assert {where for where, (label, depth) in stated.items() if label != depth} == set()


def test_no_file_has_two_checksums():
    for entry in CATALOGUE.values():
        assert not [path for path, file in entry.files.items() if file.md5 and file.sha256]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lable": "x"}, r"small\.yaml: lable: Extra inputs are not permitted"),
        ({"label": ""}, r"small\.yaml: label: String should have at least 1 character"),
        ({"needs": ["nothing"]}, r"small\.yaml: needs nothing, which is not in the catalogue"),
        (
            {"corpora": {"small": {"format": "jsonl", "path": "small/other.jsonl"}}},
            r"small\.yaml: corpora\.small\.path is 'small/other\.jsonl', which is not among the files",
        ),
        ({"files": {"../out": {"holds": "x"}}}, r"\.\./out: must be a path inside the data folder"),
        ({"files": {"/etc/passwd": {"holds": "x"}}}, r"/etc/passwd: must be a path inside the data folder"),
        ({"files": {"x": {"holds": "x", "md5": "123"}}}, r"files\.x\.md5: String should match pattern"),
        (
            {"files": {"x": {"holds": "x", "folder": True, "bytes": 3}}},
            "a folder has no checksum and no size",
        ),
    ],
)
def test_a_wrong_entry_is_one_message(tmp_path, changes, message):
    write_entry(tmp_path, **changes)
    with pytest.raises(ConfigError, match=message):
        read_catalogue(tmp_path)


def test_what_is_no_yaml_and_what_is_given_twice(tmp_path):
    write_entry(tmp_path)
    write_entry(tmp_path, "twin")
    (tmp_path / "broken.yaml").write_text("label: [")
    with pytest.raises(ConfigError) as caught:
        read_catalogue(tmp_path)
    text = str(caught.value)
    assert "broken.yaml: this is not valid YAML" in text
    assert "twin.yaml: corpora.small is in small.yaml too" in text
    assert "twin.yaml: datasets.small is in small.yaml too" in text


def test_completion_takes_what_is_named_and_nothing_else(tmp_path):
    write_entry(tmp_path)
    given = {
        "data_folder": "elsewhere",
        "datasets": {"own": {"label": "x", "corpus": "own"}},
        "experiments": {"one": {"dataset": "small", "candidates": "theirs"}, "two": {"dataset": "own"}},
    }
    completed = complete(given, tmp_path)
    assert completed["corpora"] == {
        "small": {
            "format": "jsonl",
            "path": "elsewhere/small/documents.jsonl.gz",
            "expected": 3,
            "entry": "small",
        }
    }
    assert completed["datasets"]["own"] == given["datasets"]["own"]
    assert completed["datasets"]["small"]["queries"]["path"] == "elsewhere/small/queries.tsv"
    assert completed["first_stages"]["theirs"]["runs"] == {
        "small": {"path": "elsewhere/small/theirs.run", "entry": "small"}
    }
    assert complete({"experiments": {"two": {"dataset": "unknown"}}}, tmp_path) == {
        "experiments": {"two": {"dataset": "unknown"}}
    }


def test_a_run_over_a_data_set_that_is_not_there_is_left_out(tmp_path):
    write_entry(tmp_path)
    given = {
        "datasets": {"own": {"label": "x", "corpus": "own"}},
        "experiments": {"one": {"dataset": "own", "candidates": "theirs"}},
    }
    assert complete(given, tmp_path)["first_stages"] == {}  # without runs it would search an index


def test_keys_of_the_configuration_are_laid_over_the_catalogue(tmp_path):
    write_entry(tmp_path)
    given = {
        "corpora": {"small": {"shards": 4}},
        "datasets": {"small": {"measures": ["AP"], "queries": {"malformed": "skip"}}},
    }
    completed = complete(given, tmp_path)
    assert completed["corpora"]["small"]["shards"] == 4
    assert completed["corpora"]["small"]["format"] == "jsonl"
    assert completed["datasets"]["small"]["measures"] == ["AP"]
    assert completed["datasets"]["small"]["queries"] == {
        "format": "tsv",
        "path": "data/small/queries.tsv",
        "expected": 2,
        "malformed": "skip",
    }
    own = {"corpora": {"small": {"format": "tsv", "path": "mine.tsv"}}}
    assert complete(own, tmp_path) == own, "what describes itself is nobody else's"


@pytest.mark.parametrize(
    "given",
    [
        {"experiments": None},
        {"experiments": {"one": None}},
        {"experiments": {"one": {"dataset": 3, "candidates": ["theirs"]}}},
        {"datasets": "small"},
        {"datasets": {"small": "x"}},
        {"models": {"m": {"select_on": "small"}}},
        {"first_stages": {"theirs": {"runs": 3}}, "experiments": {"one": {"candidates": "theirs"}}},
    ],
)
def test_configurations_of_another_shape_are_left_to_the_checks(tmp_path, given):
    write_entry(tmp_path)
    complete(given, tmp_path)


def test_downloads_are_as_large_as_their_files_or_as_the_entry_says(tmp_path):
    files = {"a": {"holds": "x", "bytes": 3}, "b": {"holds": "y", "bytes": 4}, "c": {"holds": "z"}}
    write_entry(tmp_path, "known", files=files, corpora={}, datasets={}, first_stages={}, gigabytes=2)
    write_entry(tmp_path, "other", files=files, corpora={}, datasets={}, first_stages={})
    known, other = read_catalogue(tmp_path).values()
    assert (known.download(["a", "b"]), known.download(["a", "c"])) == (7, 2e9)
    assert other.download(["c"]) is None


@entries
def test_a_source_fits_the_screen(name):
    assert len(f"      {CATALOGUE[name].source}") <= 100
