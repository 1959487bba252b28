"""Two trainers never work on one job: the second waits, then says who holds it."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from fresh_process import call
from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.training import job_lock
from irpretrain.training.job_lock import hold_lock, hold_output


def hold_until_told_to_end(path: Path) -> None:
    with hold_lock(path, "pretrain prop"):
        print("held", flush=True)
        sys.stdin.read()


@contextmanager
def other_process(path: Path):
    """A process that holds the lock until its standard input is closed."""
    with subprocess.Popen(
        call(hold_until_told_to_end, path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "checkpoints" / "job.lock"


def test_a_free_job_is_held_and_given_back_without_a_word(path, capsys):
    with hold_lock(path, "pretrain prop"):
        assert path.read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    assert not path.exists()
    with hold_lock(path, "pretrain prop"):
        pass
    assert capsys.readouterr().err == ""


def test_the_second_waits_with_one_line_then_names_the_holder(path, capsys, monkeypatch):
    monkeypatch.setattr(job_lock, "WAIT_SECONDS", 0.5)
    with other_process(path) as holder:
        start = time.monotonic()
        with pytest.raises(TrainingError) as raised, hold_lock(path, "pretrain prop"):
            pass
        assert time.monotonic() - start >= 0.5
    who = f"process {holder.pid} on {socket.gethostname()}"
    assert str(raised.value).startswith(f"pretrain prop: {who} still works on this job ({path}). Wait until")
    assert capsys.readouterr().err == (
        f"[pretrain prop] waits up to 0 s for {who}, which works on the same job\n"
    )


def test_the_second_goes_on_when_the_first_ends(path, capsys):
    with other_process(path) as holder:
        assert holder.stdin is not None
        threading.Timer(0.3, holder.stdin.close).start()
        with hold_lock(path, "pretrain prop"):
            assert path.read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    assert capsys.readouterr().err.count("\n") == 1
    assert not path.exists()


def test_a_killed_process_holds_nothing(path, capsys):
    with other_process(path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert path.exists()
        with hold_lock(path, "pretrain prop"):
            pass
    assert not path.exists()
    assert capsys.readouterr().err == ""


def test_other_jobs_do_not_wait(path, capsys):
    with other_process(path), hold_lock(path.with_name("other.lock"), "pretrain prop"):
        pass
    assert capsys.readouterr().err == ""


def test_a_lock_file_that_went_while_it_was_opened_is_not_a_lock(path, monkeypatch):
    """Between opening and locking, the holder may end and remove the file, and a third process make a new one."""
    original, seen = job_lock.fcntl.flock, []

    def flock(descriptor: int, operation: int) -> None:
        original(descriptor, operation)
        seen.append(descriptor)
        if len(seen) == 1:
            path.unlink()

    monkeypatch.setattr(job_lock.fcntl, "flock", flock)
    open_before = os.listdir("/dev/fd")
    with hold_lock(path, "pretrain prop"):
        assert len(seen) == 2
        assert path.exists()
        assert len(os.listdir("/dev/fd")) == len(open_before) + 1


def test_a_file_system_without_locks_is_no_obstacle(path, monkeypatch):
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(job_lock.errno.ENOLCK, "No locks available")

    monkeypatch.setattr(job_lock.fcntl, "flock", flock)
    with hold_lock(path, "pretrain prop"):
        assert path.exists()


def test_what_a_link_leads_to_is_not_overwritten(tmp_path):
    (tmp_path / "thesis").write_text("ten years")
    (tmp_path / "job.lock").symlink_to(tmp_path / "thesis")
    with (
        pytest.raises(TrainingError, match="remove the link"),
        hold_lock(tmp_path / "job.lock", "pretrain prop"),
    ):
        pass
    assert (tmp_path / "thesis").read_text() == "ten years"


def test_a_folder_that_went_while_its_lock_was_opened_is_made_again(path, monkeypatch):
    """The last process that used a folder of checkpoints removes it."""
    original, seen = os.open, []

    def open_late(name, *options, **named):
        if name == path and not seen:
            seen.append(name)
            path.parent.rmdir()
        return original(name, *options, **named)

    monkeypatch.setattr(job_lock.os, "open", open_late)
    with hold_lock(path, "pretrain prop"):
        assert path.exists()
    assert seen == [path]


def test_an_output_has_one_writer(path):
    with other_process(path) as holder:
        with pytest.raises(InputError) as raised, hold_output(path, Path("model")):
            pass
    assert str(raised.value) == (
        f"model: process {holder.pid} on {socket.gethostname()} is writing this output\n"
        "  Wait until that process has ended, or name another output."
    )
    with hold_output(path, Path("model")):
        assert path.exists()
    assert not path.exists()
