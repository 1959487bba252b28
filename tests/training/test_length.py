"""A pre-training of so many epochs: how many steps they are, and that it is the training of these steps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_training import lines, training_options, without_time

from irpretrain.config.pretraining import TaskConfig
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.provenance import sha256
from irpretrain.training.pretrain import pretrain, resolve_length, steps_of

Run = Callable[..., Path]


def by_epochs(epochs: float, **changes: Any) -> Any:
    return training_options(steps=None, epochs=epochs, **changes)


def tasks_of(*weights: float) -> list[TaskConfig]:
    return [TaskConfig(objective="rop", weight=weight) for weight in weights]


@pytest.mark.parametrize(
    ("epochs", "batch", "groups", "weights", "steps"),
    [
        (0.7, 1, [10], [1], 7),  # in floating point 7.000000000000001
        (0.001, 10, [5], [1], 1),
        (1, 10, [100, 40, 130], [1, 5, 0], 13),  # the largest, whatever the weights
    ],
)
def test_steps(epochs: float, batch: int, groups: list[int], weights: list[float], steps: int) -> None:
    options = by_epochs(epochs, batch_groups=batch)
    assert steps_of(options, tasks_of(*weights), groups) == steps


def test_what_one_objective_decides_is_reported_and_settled(capsys: pytest.CaptureFixture[str]) -> None:
    tasks = [TaskConfig(objective="mrds"), TaskConfig(objective="rop")]
    known, steps = resolve_length(
        by_epochs(2, batch_groups=10, epochs_of="rop"), tasks, [40, 9000], "tiny model"
    )
    assert capsys.readouterr().err == "[tiny model] epochs 2 of 9,000 groups of rop are steps 1,800\n"
    assert (known.steps, known.epochs, known.epochs_of) == (steps, None, None)


@given(
    st.integers(1, 40).map(lambda tenths: tenths / 10),
    st.integers(1, 9),
    st.lists(st.integers(1, 200), min_size=1, max_size=4),
)
def test_the_fewest_in_which_every_task_has_its_epochs(epochs: float, batch: int, groups: list[int]) -> None:
    options, tasks = by_epochs(epochs, batch_groups=batch), tasks_of(*[1] * len(groups))
    steps = steps_of(options, tasks, groups)

    def enough(steps: int) -> bool:
        # In tenths, so that all is whole numbers.
        return all(10 * batch * steps >= round(10 * epochs) * size for size in groups)

    assert enough(steps)
    assert not enough(steps - 1)


# `separable` has 180 groups, a step takes 4: a tenth of an epoch is 4.5 steps.


def test_epochs_train_as_the_steps_that_they_are(
    run_pretraining: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"dropout": 0.1, "log_every": 2, "mlm_head_steps": 2}
    folder = run_pretraining("epochs", by_epochs(0.1, **options), title="tiny model")
    displayed = [line for line in capfd.readouterr().err.splitlines() if line.startswith("[tiny model]")]
    assert displayed[0] == "[tiny model] epochs 0.1 of 180 groups are steps 5"
    assert [line.split(",")[0].split()[-1] for line in displayed[1:]] == ["2/5", "4/5", "5/5"]
    steps = run_pretraining("steps", training_options(steps=5, **options))
    assert sha256(folder / "model") == sha256(steps / "model")
    assert without_time(folder) == without_time(steps)
    assert [line["step"] for line in lines(folder)] == [1, 2, 3, 4, 5]


def test_what_was_seen_is_counted(pretraining_arguments: Callable[..., dict[str, Any]]) -> None:
    counts = pretrain(**pretraining_arguments("run", by_epochs(0.1)))
    assert {name: counts[name] for name in ("steps", "groups", "groups_available", "epochs")} == {
        "steps": 5,
        "groups": {"rop": 20},
        "groups_available": {"rop": 180},
        "epochs": {"rop": 0.1111},
    }


def test_too_few_steps_for_the_mlm_head_are_refused_before_training(
    run_pretraining: Run, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"epochs 0\.1 of 180 groups are steps 5; with mlm_head_steps 5"):
        run_pretraining("run", by_epochs(0.1, mlm_head_steps=5), title="tiny model")
    assert not (tmp_path / "run").exists()
    ranking = TaskConfig(objective="rop", mlm_weight=0)
    assert len(lines(run_pretraining("run", by_epochs(0.1, mlm_head_steps=5), task=ranking))) == 5
