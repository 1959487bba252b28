"""Checkpoints of a job: the newest whole one is found, damaged ones are passed over, others' are never met."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from irpretrain.foundation.code_digest import begin_record, changed_files, code_record
from irpretrain.foundation.errors import TrainingError
from irpretrain.training import job_lock
from irpretrain.training.checkpoints import CheckpointClock, Checkpoints

JOB = {"seed": 1, "options": {"steps": 10}}


@pytest.fixture
def checkpoints(tmp_path) -> Checkpoints:
    return Checkpoints(tmp_path, JOB, "pretrain prop", 0)


def saved(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name[:13] for path in checkpoints.directory.glob("*.pt"))


def test_the_newest_state_comes_back(checkpoints, capsys):
    for step in (2, 4):
        checkpoints.save(step, {"weights": torch.full((3,), step, dtype=torch.float32)})
    state = checkpoints.load()
    assert state is not None
    assert state["step"] == 4
    assert state["weights"].tolist() == [4.0, 4.0, 4.0]
    assert capsys.readouterr().err.startswith("[pretrain prop] resumes from ")


def test_a_training_goes_on_from_a_checkpoint_of_other_code_and_its_result_says_so(checkpoints, capsys):
    begin_record()
    checkpoints.save(2, {})
    code = checkpoints.directory / "code.json"
    code.write_text(json.dumps(json.loads(code.read_text()) | {"foundation/errors.py": "0123"}))
    assert checkpoints.load() is not None
    message = capsys.readouterr().err.splitlines()[1]
    assert message == (
        "Other code began this work (changed since: foundation/errors.py). It goes on, and its result will be listed "
        f"as made by other code. To begin anew, stop and remove {checkpoints.directory}."
    )
    assert changed_files(code_record()) == ["foundation/errors.py"]
    checkpoints.save(4, {})  # killed again, and gone on from by a third process
    begin_record()
    assert changed_files(code_record()) == []
    assert checkpoints.load() is not None
    assert changed_files(code_record()) == ["foundation/errors.py"]
    assert "changed since: foundation/errors.py)" in capsys.readouterr().err


def test_only_a_checkpoint_that_knows_its_code_is_gone_on_from_without_a_word_about_it(checkpoints, capsys):
    begin_record()
    checkpoints.save(2, {})
    assert checkpoints.load() is not None
    assert capsys.readouterr().err.count("\n") == 1
    assert changed_files(code_record()) == []
    (checkpoints.directory / "code.json").unlink()
    assert checkpoints.load() is not None
    assert "changed since: unknown)" in capsys.readouterr().err
    assert changed_files(code_record()) == ["unknown"]


def test_the_last_two_are_retained(checkpoints):
    for step in (2, 4, 6, 8, 10):
        checkpoints.save(step, {})
    assert saved(checkpoints) == ["step-00000008", "step-00000010"]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:50] + b"?" + data[51:]]
)
def test_a_damaged_checkpoint_is_reported_removed_and_passed_over(checkpoints, capsys, damage):
    for step in (2, 4):
        checkpoints.save(step, {"weights": torch.ones(100)})
    newest = max(checkpoints.directory.glob("*.pt"))
    newest.write_bytes(damage(newest.read_bytes()))
    state = checkpoints.load()
    assert state is not None
    assert state["step"] == 2
    assert f"the checkpoint {newest} is damaged" in capsys.readouterr().err
    assert saved(checkpoints) == ["step-00000002"]


def test_a_changed_job_never_meets_old_state(tmp_path, checkpoints):
    checkpoints.save(2, {})
    for other in ({**JOB, "seed": 2}, {**JOB, "options": {"steps": 11}}, {}):
        assert Checkpoints(tmp_path, other, "pretrain prop", 0).load() is None
    assert Checkpoints(tmp_path, dict(reversed(JOB.items())), "pretrain prop", 0).load() is not None


def test_another_jobs_file_under_this_jobs_name_is_refused(tmp_path, checkpoints):
    other = Checkpoints(tmp_path, {"seed": 2}, "pretrain prop", 0)
    other.save(2, {})
    checkpoints.directory.mkdir(parents=True)
    for path in other.directory.glob("*.pt"):
        path.rename(checkpoints.directory / path.name)
    assert checkpoints.load() is None


def test_a_finished_job_leaves_nothing(tmp_path, checkpoints):
    with checkpoints:
        checkpoints.save(2, {})
        (checkpoints.directory / "snapshots").mkdir()
        checkpoints.discard()
    assert list(tmp_path.iterdir()) == []
    checkpoints.discard()


def test_a_folder_that_a_kill_left_half_removed_is_not_resumed_from(tmp_path, checkpoints, monkeypatch):
    """A kill after the results are written, before the workflow takes note of them."""

    def die(path: Path, **options: Any) -> None:
        if path.exists():
            raise KeyboardInterrupt

    checkpoints.save(2, {})
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", die)
        with pytest.raises(KeyboardInterrupt):
            checkpoints.discard()
    assert checkpoints.load() is None
    checkpoints.save(2, {})
    checkpoints.discard()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_job_leaves_its_checkpoints_and_no_lock(tmp_path, checkpoints):
    def interrupted():
        with checkpoints:
            checkpoints.save(2, {})
            raise ValueError("interrupted")

    with pytest.raises(ValueError, match="interrupted"):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == [checkpoints.key]
    with Checkpoints(tmp_path, JOB, "pretrain prop", 0) as again:
        assert again.load() is not None


def test_a_job_is_locked_while_it_works(tmp_path, checkpoints, monkeypatch):
    monkeypatch.setattr(job_lock, "WAIT_SECONDS", 0)
    with checkpoints, pytest.raises(TrainingError, match="still works on this job"):
        Checkpoints(tmp_path, JOB, "pretrain prop", 0).__enter__()


def test_a_checkpoint_loads_without_running_code(checkpoints):
    """Only tensors and plain values, so that a foreign checkpoint can do no harm."""

    class Evil:
        def __reduce__(self):
            return (Path.touch, (Path("evil"),))

    checkpoints.save(2, {"evil": Evil()})
    with pytest.raises(Exception, match="Weights only load failed"):
        checkpoints.load()


def savings(monkeypatch, minutes, step_seconds, save_seconds, until):
    """At which seconds a job saves whose steps and savings take so long."""
    now = [1000.0]
    monkeypatch.setattr("irpretrain.training.checkpoints.time", SimpleNamespace(monotonic=lambda: now[0]))
    clock, times = CheckpointClock(minutes), []
    while now[0] < 1000 + until:
        now[0] += step_seconds
        if clock.due():
            times.append(now[0] - 1000)
            now[0] += save_seconds
            clock.saved()
    return times


@pytest.mark.parametrize(
    ("minutes", "step_seconds", "save_seconds", "expected"),
    [
        (10, 1, 0, [5, 10, 20, 40, 80, 160, 320, 640, 1240, 1840]),
        (1, 1, 0, [5, 10, 20, 40, 80, *range(140, 2000, 60)]),
        (10, 300, 0, [300, 600, 1200, 1800]),
        (10, 1, 30, [5, 70, 200, 460, 980, 1610]),
        (0, 500, 0, [500, 1000, 1500, 2000]),
        (0.05, 1, 0, [*range(3, 1990, 3)]),
    ],
)
def test_a_job_saves_soon_then_at_twice_the_time_and_at_most_so_many_minutes_apart(
    monkeypatch, minutes, step_seconds, save_seconds, expected
):
    assert savings(monkeypatch, minutes, step_seconds, save_seconds, 1990) == expected
