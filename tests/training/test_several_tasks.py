"""Several tasks of one training, each with options of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_training import Stop, training_options

from irpretrain.config.pretraining import TaskConfig
from irpretrain.foundation.errors import ConfigError
from irpretrain.training.ranking_tasks import RankingTask, SequenceReader
from irpretrain.training.trainer import Trainer

Run = Callable[..., Path]


def trained_tasks(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> list[RankingTask]:
    """The tasks that a training hands to its first step."""
    seen: list[RankingTask] = []

    def note(self: Trainer, step: int, tasks: list[RankingTask], *_: object) -> None:
        seen.extend(tasks)
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "begin", note)
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
    readers = [task.reader for task in (usual, other) if isinstance(task.reader, SequenceReader)]
    first, second = (
        reader.builder.build(task.source.groups(0))
        for reader, task in zip(readers, (usual, other), strict=True)
    )
    assert first.input_ids.shape[1] == 3 + 2 + 12  # two words a query, twelve a document
    assert second.input_ids.shape[1] == 12
    assert second.query_mask.sum(axis=1).tolist() == [1] * len(second.query_mask)
    usual_masker, other_masker = (reader.masker for reader in readers)
    assert usual_masker is not None
    assert other_masker is not None
    assert not (usual_masker.apply(first, 0).is_selected & first.query_mask).any()
    masked = other_masker.apply(second, 0).is_selected
    assert (masked & second.query_mask).any()
    assert (masked.sum(axis=1) == 5).all()  # the cap is still pretraining's


def test_a_tasks_options_that_do_not_fit_are_refused(run_pretraining: Run) -> None:
    options = training_options()
    with pytest.raises(ValueError, match=r"task rop: masking\.ratoi: unknown key; did you mean ratio"):
        options.of_task(TaskConfig(objective="rop", masking={"ratoi": 0.5}))
    with pytest.raises(ConfigError, match=r"task rop\.max_length: 65 is longer than the encoder's 64"):
        run_pretraining("long", options, task=TaskConfig(objective="rop", max_length=65))
