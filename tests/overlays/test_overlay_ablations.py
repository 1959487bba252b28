"""The models of an ablation are what their names say, and otherwise what they ablate.

Figures and tables find models by name, so a wrong option would be reported as a finding.
"""

import re
from typing import Any

import pytest
from overlay_layers import load

from irpretrain.config import Config
from irpretrain.config.base import leaves
from overlay_commands import ROOT

WIKIFORMER = ("srr", "rwi", "ati", "ltm")
HEAD_START = "mlm_head_steps"
"""The embedded encoder has no MLM head: the first stage that masks needs a head start, wherever it stands."""


@pytest.fixture(scope="module", params=["ablations", "paper"])
def wikiformer(request: pytest.FixtureRequest) -> Config:
    return load(ROOT / f"configs/wikiformer-{request.param}.yaml")


@pytest.fixture(scope="module", params=["ablations", "paper"])
def php(request: pytest.FixtureRequest) -> Config:
    return load(ROOT / f"configs/php-{request.param}.yaml")


def named(config: Config, pattern: str) -> list[tuple[str, str]]:
    """The models whose names match, with what stands in the pattern's group; there must be some."""
    found = [(name, match[1]) for name in config.models if (match := re.fullmatch(pattern, name))]
    assert found, pattern
    return found


def tasks(config: Config, model: str) -> dict[str, Any]:
    """A model's tasks by the type of their objective."""
    return {config.objectives[task.objective].type: task for task in config.models[model].tasks}


def stages(config: Config, model: str) -> list[str]:
    """A model and those it starts from, the first one first."""
    start = config.models[model].start
    return [*(stages(config, start) if start != "encoder" else []), model]


def differences(config: Config, model: str, other: str) -> dict[str, Any]:
    """What a model has otherwise than another: keys of `training`, of its objectives' options, and of its tasks."""

    def described(name: str) -> dict[str, Any]:
        made = [
            {
                **task.model_dump(exclude={"objective"}),
                "options": config.objectives[task.objective].model_dump(),
            }
            for task in config.models[name].tasks
        ]
        made_of = {
            "collection": config.models[name].collection,
            "training": config.training_of(name).model_dump(),
            "tasks": {task["options"]["type"]: task for task in made},
        }
        return dict(leaves(made_of))

    ours, theirs = described(model), described(other)
    return {key: ours.get(key) for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)}


def test_wikiformer_adds_its_four_tasks(wikiformer):
    assert tuple(tasks(wikiformer, "wikiformer")) == WIKIFORMER


def test_one_task_of_wikiformer_is_left_out(wikiformer):
    found = named(wikiformer, r"wikiformer-without-(\w+)")
    assert sorted(task for _, task in found) == sorted(WIKIFORMER)
    for model, left_out in found:
        every = tasks(wikiformer, "wikiformer")
        assert tasks(wikiformer, model) == {name: task for name, task in every.items() if name != left_out}
        assert wikiformer.training_of(model) == wikiformer.training_of("wikiformer")
        assert wikiformer.models[model].collection == wikiformer.models["wikiformer"].collection
        assert wikiformer.models[model].select_on == wikiformer.models["wikiformer"].select_on


def test_a_size_is_the_number_of_groups_that_are_seen(wikiformer):
    for model, pairs in named(wikiformer, r"wikiformer-srr-(\d+)"):
        training = wikiformer.training_of(model)
        assert training.steps * training.batch_groups == int(pairs)
        assert tasks(wikiformer, model) == {"srr": tasks(wikiformer, "wikiformer")["srr"]}


def test_one_task_of_wikiformer_alone_and_all_with_mlm():
    config = load(ROOT / "configs/wikiformer-ablations.yaml")
    for model, task in named(config, r"wikiformer-(srr|rwi|ati|ltm)"):
        assert tasks(config, model) == {task: tasks(config, "wikiformer")[task]}
        assert config.training_of(model) == config.training_of("wikiformer")
    changed = differences(config, "wikiformer-with-mlm", "wikiformer")
    assert changed.pop(f"training.{HEAD_START}") > 0
    assert changed == {f"tasks.{task}.mlm_weight": 1 for task in WIKIFORMER}


def test_wikiformer_with_titles_differs_in_ati():
    config = load(ROOT / "configs/wikiformer-ablations.yaml")
    assert config.training_of("wikiformer-titles") == config.training_of("wikiformer")
    assert set(differences(config, "wikiformer-titles", "wikiformer")) == {"tasks.ati.options.negatives"}


def test_php_is_three_stages(php):
    assert [list(tasks(php, model)) for model in stages(php, "php")] == [["hp"], ["shp"], ["mrds"]]


@pytest.mark.parametrize("stage", ["hp", "shp", "mrds"])
def test_one_stage_of_php_alone(php, stage):
    position = ["hp", "shp", "mrds"].index(stage)
    whole = stages(php, "php")[position]
    trained = [name for name in stages(php, f"php-{stage}-only") if php.models[name].tasks]
    assert len(trained) == 1
    assert set(differences(php, trained[0], whole)) <= {f"training.{HEAD_START}"}


def compare_stages(
    config: Config, model: str, other: str, changed: dict[str, Any], masked: bool = True
) -> None:
    """The stages of two models differ in `changed` and nothing else; {stage} is the type of the objective."""
    ours, theirs = stages(config, model), stages(config, other)
    assert len(ours) == len(theirs)
    for one, two in zip(ours, theirs, strict=True):
        (stage,) = tasks(config, one)
        found = differences(config, one, two)
        if not masked:
            found.pop(f"training.{HEAD_START}", None)
        assert found == {key.replace("{stage}", stage): value for key, value in changed.items()}, one


def test_every_stage_has_as_many_negatives_as_the_name_says(php):
    for model, number in named(php, r"php-negatives-(\d+)"):
        compare_stages(php, model, "php", {"tasks.{stage}.options.negatives": int(number)})


def test_every_stage_masks_as_many_anchors_as_the_name_says(php):
    for model, percent in named(php, r"php-anchors-(\d+)"):
        compare_stages(php, model, "php", {"training.masking.anchor_ratio": int(percent) / 100})


def test_nothing_but_mlm_is_left_out(php):
    for model in ("php", "php-hp-only", "php-shp-only", "php-mrds-only"):
        changed = {"tasks.{stage}.mlm_weight": 0}
        compare_stages(php, f"{model}-without-mlm", model, changed, masked=False)


def test_rop_is_added_to_the_last_stage(php):
    found = differences(php, "php-rop", "php")
    added = {key: value for key, value in found.items() if not key.startswith("tasks.rop.")}
    # As long as the last stage: in steps, or in epochs of its own objective.
    in_epochs = php.training_of("php").epochs is not None
    assert added == ({"training.epochs_of": "mrds"} if in_epochs else {})
    assert list(tasks(php, "php-rop")) == ["mrds", "rop"]
    assert php.models["php-rop"].start == php.models["php"].start


def test_harp_has_its_tasks_and_the_hinge_loss(php):
    # Where links are mentions of titles no anchor is ambiguous, so QDM would have nothing to train on.
    disambiguation = ["qdm"] if php.graph.mentions == "none" else []
    assert list(tasks(php, "harp")) == ["rqp", *disambiguation, "rdp", "acm"]
    assert php.training_of("harp").loss == "hinge"
