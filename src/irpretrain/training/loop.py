"""A training from its last checkpoint to its last step: steps, the log, status lines, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.metrics import MetricsLog, StatusLine
from irpretrain.training.steps import StepTask
from irpretrain.training.trainer import Model, Trainer


def run_steps(
    trainer: Trainer[Model],
    tasks_of: Callable[[int], tuple[Sequence[StepTask], int]],
    log_every: int,
    checkpoints: Checkpoints,
    log: MetricsLog,
    title: str,
    after: Callable[[int], None] = lambda step: None,
) -> int:
    """Do all steps that the newest checkpoint has not done. Of several processes the first alone writes and speaks.

    Args:
        trainer: model, optimiser and schedule.
        tasks_of: step, counted from 0 → its tasks, and the number of the batch that they see.
        log_every: steps between status lines.
        checkpoints: the job's; they say when to save.
        log: has a record a step in the end, whenever it was broken off.
        title: what status lines call the job.
        after: called after each step with its number, counted from 1, also with that of the checkpoint that is gone on
            from: what it does may take long, so a checkpoint does not say that it was done.

    Returns:
        Word pieces seen in all steps, without padding.
    """
    done, tokens = 0, 0
    if (state := checkpoints.load()) is not None:
        trainer.restore(state)
        done, tokens = int(state["step"]), int(state["tokens"])
    leads = trainer.ranks.leads
    if leads:
        log.truncate(done)
        if done:
            after(done)
    status = StatusLine(title, trainer.steps, log_every, trainer.peak)
    coming = range(done, trainer.steps)
    with trainer.reading_ahead(tasks_of, coming):
        for step in coming:
            measured = trainer.step(step, *tasks_of(step))
            tokens += measured.tokens
            done = measured.step
            if not leads:
                continue
            log.append(measured.record())
            status.add(measured)
            if checkpoints.clock.due() or done == trainer.steps:
                log.flush()
                checkpoints.save(done, {**trainer.state(), "tokens": tokens})
            after(done)
    return tokens
