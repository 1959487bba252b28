"""Experiments whose data are not there are left out with a reason; all others stay."""

from pathlib import Path

import pytest

from base_config import configuration
from irpretrain.corpora.catalogue.absence import without_absent
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources, used_files
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
DOCUMENTS = "data/msmarco/msmarco-docs.tsv.gz"
DEV = ["data/msmarco/msmarco-docdev-queries.tsv.gz", "data/msmarco/msmarco-docdev-qrels.tsv.gz"]
TRAIN = ["data/msmarco/msmarco-doctrain-queries.tsv.gz", "data/msmarco/msmarco-doctrain-qrels.tsv.gz"]


DEPTH = {"retrieval": {"depth": 100}, "reranking": {"depth": 100}}
"""As deep as the measures of MS MARCO's entry."""


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    """An empty one, without data."""
    monkeypatch.chdir(tmp_path)


def experiment(**changes: object) -> dict:
    return {"dataset": "msmarco-doc", "models": ["control"], "regimes": ["zero-shot"], **changes}


def touch(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("")


def test_the_embedded_default_lacks_nothing():
    default = configuration()
    assert without_absent(default) is default


def test_an_experiment_is_left_out_until_all_its_files_are_there():
    config = configuration(experiments={"marco": experiment()}, **DEPTH)
    left = without_absent(config)
    assert "marco" not in left.experiments
    assert list(left.experiments) == [name for name in config.experiments if name != "marco"]
    absence = left.absent["marco"]
    assert (absence.dataset, absence.candidates) == ("msmarco-doc", "bm25")
    assert absence.reason == (
        f"{DOCUMENTS} and 2 more files are missing; make run ARGS=datasets says how to get them"
    )
    how = "make run ARGS=datasets says how to get them"
    assert left.report.notes[-1] == f"Not run, as files are missing: marco; {how}."
    assert "msmarco-doc" not in left.used_names("datasets")
    check_sources(left, read_manifest(ROOT / "resources/embedded.yaml"))
    touch(DOCUMENTS, DEV[0])
    assert without_absent(config).absent["marco"].reason.startswith(f"{DEV[1]} is missing")
    touch(*DEV)
    assert without_absent(config) is config


def test_an_experiment_at_several_depths_is_left_out_too():
    left = without_absent(configuration(experiments={"deep": experiment(depths=[5])}, **DEPTH))
    assert list(left.absent) == ["deep"]


def test_what_trains_chooses_or_is_re_ranked_counts_too():
    touch(DOCUMENTS, *DEV)
    tuned = {"official": {}, "tuned": {"label": "tuned", "tuned_on": "msmarco-train"}}
    config = configuration(
        **DEPTH,
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


def test_a_corpus_for_pre_training_may_be_missing_too():
    config = configuration(
        collections={"marco": ["msmarco"]},
        models={"marco": {"label": "x", "collection": "marco", "tasks": [{"objective": "rop"}]}},
        experiments={"marco": experiment(dataset="squad", models=["marco"])},
    )
    assert without_absent(config).absent["marco"].reason.startswith(f"{DOCUMENTS} is missing")
    touch(DOCUMENTS)
    assert without_absent(config) is config


def test_what_a_diagnosis_or_a_figure_alone_shows_is_used():
    config = configuration(
        collections={"marco": ["msmarco"]},
        models={"marco": {"collection": "marco", "tasks": [{"objective": "rop"}]}},
        diagnoses={"alone": {"collection": "pretraining", "models": ["marco"]}},
        indexes={"asked": {"type": "expansion", "path": "asked.tsv"}},
        weight_distributions={"alone": {"label": "x", "corpora": ["squad-dev"], "weightings": ["asked"]}},
    )
    assert "msmarco" in config.used_names("corpora")
    assert "indexes.asked.path" in [files.key for files in used_files(config)]
    assert "alone" not in without_absent(config).diagnoses


def test_a_file_that_the_configuration_names_itself_is_no_absence():
    own = configuration().datasets["squad"].model_dump() | {
        "label": "own",
        "queries": {"format": "tsv", "path": "mine.tsv"},
    }
    config = configuration(datasets={"own": own}, experiments={"own": experiment(dataset="own")})
    assert without_absent(config) is config
    with pytest.raises(ConfigError, match=r"datasets\.own\.queries\.path: mine\.tsv: there is no such file"):
        check_sources(config, read_manifest(ROOT / "resources/embedded.yaml"))


def test_what_lies_where_the_catalogue_puts_it_is_known_however_it_is_described():
    own = configuration().datasets["squad"].model_dump() | {
        "label": "own",
        "queries": {"format": "tsv", "path": DEV[0]},
    }
    config = configuration(datasets={"own": own}, experiments={"own": experiment(dataset="own")})
    assert without_absent(config).absent["own"].reason.startswith(f"{DEV[0]} is missing")


def test_without_the_encoder_only_what_needs_none_is_left():
    config = configuration(encoder={"path": "data/bert-base-uncased"})
    left = without_absent(config)
    assert not any(one.models for one in left.active_experiments.values())
    assert left.diagnoses == {}
    assert "diagnosis embedded" in left.report.notes[-1]
    check_sources(left, read_manifest(ROOT / "resources/embedded.yaml"))


def test_predictors_that_cannot_be_made_stay_named():
    """Objectives name them; but no table waits for them."""
    one = {
        **configuration().predictors["simple"].model_dump(),
        "dataset": "msmarco-doc",
        "collection": "marco",
    }
    config = configuration(collections={"marco": ["msmarco-documents"]}, predictors={"marco": one})
    left = without_absent(config)
    assert "marco" in left.predictors
    assert left.absent_predictors["marco"].startswith(f"{DOCUMENTS} and 2 more files are missing")
    assert "marco" not in left.used_names("predictors")
    assert "simple" in left.used_names("predictors")
    check_sources(left, read_manifest(ROOT / "resources/embedded.yaml"))


def test_pages_of_targets_are_left_out_too():
    config = configuration(
        datasets={"msmarco-doc": {}},
        attributions={"marco": {"dataset": "msmarco-doc", "models": ["control"]}},
        term_weight_pages={"marco": {"dataset": "msmarco-doc", "weightings": ["tf"]}},
    )
    left = without_absent(config)
    assert "marco" in config.attributions
    assert left.attributions == {}
    assert list(left.term_weight_pages) == ["squad"]
