"""Tasks that are summed or take turns; options of a task's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_training import Stop, crash_at, lines, training_options, without_time

from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.errors import ConfigError
from irpretrain.provenance import sha256
from irpretrain.training.group_table import Mixing
from irpretrain.training.group_task import Task
from irpretrain.training.trainer import Trainer

Run = Callable[..., Path]


def test_a_sum_trains_every_task_in_every_step() -> None:
    mixing = Mixing("sum", [1.0, 0.0, 3.0], 5, 1)
    assert [mixing.of_step(step) for step in range(5)] == [([0, 1, 2], step) for step in range(5)]
    assert mixing.batches() == [5, 5, 5]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=5), st.integers(1, 60), st.integers(0, 9))
def test_taking_turns_every_task_sees_its_batches_one_after_another(
    weights: list[float], steps: int, seed: int
) -> None:
    mixing = Mixing("alternate", weights, steps, seed)
    seen: list[list[int]] = [[] for _ in weights]
    for step in range(steps):
        [task], batch = mixing.of_step(step)
        seen[task].append(batch)
    assert seen == [list(range(count)) for count in mixing.batches()]
    # A longer training begins as the shorter one.
    longer = Mixing("alternate", weights, steps + 7, seed)
    assert [longer.of_step(step) for step in range(steps)] == [mixing.of_step(step) for step in range(steps)]


def test_turns_are_as_frequent_as_weights_say() -> None:
    counts = np.array(Mixing("alternate", [1.0, 0.0, 3.0], 20_000, 4).batches())
    assert counts[1] == 0
    assert abs(counts[2] - 15_000) < 250  # standard deviation 61
    assert Mixing("alternate", [1.0, 1.0], 50, 1).of_step(49) != Mixing(
        "alternate", [1.0, 1.0], 50, 2
    ).of_step(49)


TASKS = [
    TaskConfig(objective="rop", weight=2, mlm_weight=0),
    TaskConfig(objective="rop", weight=1, mlm_weight=0.5),
]


def test_a_step_of_one_task_has_its_loss_alone(run_pretraining: Run, separable: tuple[Path, Path]) -> None:
    options = training_options(mixing="alternate", steps=12)
    folder = run_pretraining("turns", options, tasks=TASKS, groups=[separable[1]] * 2)
    names = []
    for line in lines(folder):
        [(name, losses)] = line["tasks"].items()
        names.append(name)
        assert line["loss"] == pytest.approx(losses["ranking_loss"] + 0.5 * (losses["mlm_loss"] or 0))
    assert set(names) == {"rop", "rop#1"}


def test_a_single_task_keeps_its_weight(run_pretraining: Run) -> None:
    options = training_options(mixing="alternate", steps=2)
    folder = run_pretraining("alone", options, task=TaskConfig(objective="rop", weight=0))
    for line in lines(folder):
        assert line["loss"] == line["tasks"]["rop"]["mlm_loss"]


@pytest.mark.parametrize("step", [3, 5])
def test_resume_is_exact_when_tasks_take_turns(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, separable: tuple[Path, Path], step: int
) -> None:
    def run(name: str) -> Path:
        options = training_options(mixing="alternate", dropout=0.2)
        return run_pretraining(name, options, tasks=TASKS, groups=[separable[1]] * 2)

    whole = run("whole")
    with crash_at(monkeypatch, step), pytest.raises(Stop):
        run("broken")
    resumed = run("broken")
    assert sha256(resumed / "model") == sha256(whole / "model")
    assert without_time(resumed) == without_time(whole)


def trained_tasks(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> list[Task]:
    """The tasks that a training hands to its first step."""
    seen: list[Task] = []

    def note(self: Trainer, step: int, tasks: list[Task], batch: int) -> None:
        seen.extend(tasks)
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", note)
        with pytest.raises(Stop):
            run()
    return seen


def test_tasks_of_one_training_may_have_lengths_losses_and_masks_of_their_own(
    run_pretraining: Run, monkeypatch: pytest.MonkeyPatch, separable: tuple[Path, Path]
) -> None:
    own = TaskConfig(
        objective="rop",
        max_length=12,
        query_length=1,
        loss="listwise",
        masking={"scope": "sequence", "ratio": 0.99},
    )
    options = training_options(masking={"most": 5})
    tasks = [TaskConfig(objective="rop"), own]
    usual, other = trained_tasks(
        monkeypatch, lambda: run_pretraining("own", options, tasks=tasks, groups=[separable[1]] * 2)
    )
    assert (usual.loss, other.loss) == ("hinge", "listwise")
    first, second = (task.builder.build(task.source.groups(0)) for task in (usual, other))
    assert first.input_ids.shape[1] == 3 + 2 + 12  # two words a query, twelve a document
    assert second.input_ids.shape[1] == 12
    assert second.query.sum(axis=1).tolist() == [1] * len(second.query)
    assert usual.masker is not None
    assert other.masker is not None
    assert not (usual.masker.apply(first, 0).chosen & first.query).any()
    masked = other.masker.apply(second, 0).chosen
    assert (masked & second.query).any()
    assert (masked.sum(axis=1) == 5).all()  # the cap is still pretraining's


def test_wikiformers_lengths() -> None:
    """30 and 480 for SRR, RWI and ATI; 255 and 255 for LTM, which together fill the encoder's 512 positions."""
    options = PretrainingConfig(
        steps=1, batch_groups=1, loss="listwise", head="mlp", max_length=512, query_length=30
    )
    assert options.of_task(TaskConfig(objective="srr")) is options
    ltm = options.of_task(TaskConfig(objective="ltm", query_length=255))
    assert (ltm.max_length, ltm.query_length, ltm.loss) == (512, 255, "listwise")


def test_a_tasks_options_that_do_not_fit_are_refused(run_pretraining: Run) -> None:
    options = training_options()
    with pytest.raises(
        ValueError, match=r"task rop: query_length 30 .* lower query_length or raise max_length"
    ):
        options.of_task(TaskConfig(objective="rop", query_length=30))
    with pytest.raises(ValueError, match=r"task rop: masking\.ratoi: unknown key; did you mean ratio"):
        options.of_task(TaskConfig(objective="rop", masking={"ratoi": 0.5}))
    with pytest.raises(ConfigError, match=r"task rop\.max_length: 65 is longer than the encoder's 64"):
        run_pretraining("long", options, task=TaskConfig(objective="rop", max_length=65))
