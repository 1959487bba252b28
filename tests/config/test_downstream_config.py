"""Tasks beside retrieval in the configuration: the catalogue's by name, faults named, missing files no stop."""

from pathlib import Path

from base_config import base_config
from irpretrain.config import load_config, parse_config
from irpretrain.config.papers import load_published
from irpretrain.corpora.catalogue.absence import without_absent
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources, used_assets

ROOT = Path(__file__).parents[2]
TASKS = [path.stem for path in (ROOT / "resources/datasets").glob("mrqa-*.yaml")]


def configuration(**sections):
    given = base_config()
    given["report"] = {"papers": ["php"]}
    return parse_config({**given, **sections})


def test_the_default_runs_no_task():
    assert configuration().used_names("downstream_tasks") == []


def test_every_task_of_the_catalogue_is_there_by_its_name():
    assert len(TASKS) == 6
    config = configuration(downstream={"all": {"tasks": TASKS, "models": ["control"]}})
    assert set(config.used_names("downstream_tasks")) == set(TASKS)
    assert list(config.downstream_tasks["mrqa-newsqa"].files) == ["train", "development"]
    assert config.downstream_tasks["mrqa-newsqa"].entry == "mrqa-newsqa"


def test_models_of_tasks_are_made_with_those_that_they_start_from():
    config = configuration(
        experiments={}, downstream={"one": {"papers": ["php"], "tasks": ["mrqa-squad"], "models": ["php"]}}
    )
    assert config.used_models == ["php", "php-shp", "php-hp-only"]
    assert config.of_papers(["prop"]).used_models == []


def test_a_task_whose_files_are_missing_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = load_config(ROOT / "config.yaml", ROOT / "configs/downstream.yaml")
    assert without_absent(config) is config
    both = config.downstream["answers"].model_copy(update={"tasks": ["squad-spans", "mrqa-squad"]})
    files = configuration(downstream={"x": {"tasks": ["mrqa-squad"], "models": ["php"]}}).downstream_tasks
    config = config.model_copy(
        update={
            "downstream": {"both": both, "lone": both.model_copy(update={"tasks": ["mrqa-squad"]})},
            "downstream_tasks": {**config.downstream_tasks, **files},
        }
    )
    left = without_absent(config)
    assert {name: one.tasks for name, one in left.downstream.items()} == {"both": ["squad-spans"]}
    reason = "data/mrqa/train/SQuAD.jsonl.gz and 1 more files are missing; make run ARGS=datasets says how"
    assert left.absent_tasks["mrqa-squad"].startswith(reason)
    assert left.report.notes[-1].startswith("Not run, as files are missing: mrqa-squad; make run")
    check_sources(left, read_manifest(ROOT / "resources/embedded.yaml"))
    for part in ("train", "dev"):
        path = tmp_path / "data/mrqa" / part / "SQuAD.jsonl.gz"
        path.parent.mkdir(parents=True)
        path.write_text("")
    assert without_absent(config) is config


def test_the_overlay_needs_embedded_data_alone():
    config = load_config(ROOT / "config.yaml", ROOT / "configs/downstream.yaml")
    assert {"squad-train", "squad-dev", "minilm"} <= set(used_assets(config))


def test_the_papers_overlay_has_what_table_4_shows():
    published = load_published(ROOT / "resources/published/php.yaml").answers
    overlays = [ROOT / f"configs/{name}.yaml" for name in ("paper", "php-paper")]
    config = load_config(ROOT / "config.yaml", *overlays)
    assert set(config.downstream["mrqa"].tasks) == set(published.tasks)
    displayed = config.downstream["mrqa"].models
    for row in (row for row in published.rows if row.values):
        assert next(name for name in row.models if name in config.models) in displayed
    assert set(config.downstream["mrqa"].tasks) == set(TASKS)
    assert config.question_answering.compute.gpus == 1
