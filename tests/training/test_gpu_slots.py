"""Each job has a GPU of its own: slots of devices that are names only, between processes."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from fresh_process import call
from irpretrain.foundation.errors import ConfigError, SetupError
from irpretrain.training import gpu_slots
from irpretrain.training.gpu_slots import take_devices

FOUR = ["GPU-a", "GPU-b", "GPU-c", "GPU-d"]


@pytest.fixture(autouse=True)
def nothing_taken() -> Iterator[None]:
    gpu_slots.release_locks(gpu_slots.held_locks)
    yield
    gpu_slots.release_locks(gpu_slots.held_locks)


def take_until_told_to_end(count: int, names: list[str], folder: Path) -> None:
    print(json.dumps(take_devices(count, names, folder)), flush=True)
    sys.stdin.read()


@contextmanager
def job(count: int, names: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that takes devices, says which, and keeps them until its standard input is closed."""
    command = call(take_until_told_to_end, count, names, folder)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **streams) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def taken(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_jobs_that_run_at_once_have_different_devices(tmp_path: Path) -> None:
    with ExitStack() as stack:
        jobs = [stack.enter_context(job(count, FOUR, tmp_path)) for count in (1, 2, 1)]
        found = [taken(one) for one in jobs]
    assert [len(one) for one in found] == [1, 2, 1]
    assert sorted(itertools.chain.from_iterable(found)) == [0, 1, 2, 3]


def test_a_job_waits_for_a_device_and_says_so_and_gets_it_when_another_is_killed(tmp_path: Path) -> None:
    with job(1, ["GPU-a"], tmp_path) as first:
        assert taken(first) == [0]
        with job(1, ["GPU-a"], tmp_path) as second:
            assert second.stderr is not None
            waits = second.stderr.readline()
            assert "waits for 1 of 1 GPUs" in waits
            assert f"GPU-a.lock: process {first.pid}" in waits
            first.kill()
            assert taken(second) == [0]


def test_a_device_is_the_same_whatever_hides_the_others(tmp_path: Path) -> None:
    with job(1, FOUR, tmp_path) as first:
        assert taken(first) == [0]
        # CUDA_VISIBLE_DEVICES=2,0: device 0 of all is this job's number 1.
        assert take_devices(1, ["GPU-c", "GPU-a"], tmp_path) == [0]
        gpu_slots.release_locks(gpu_slots.held_locks)
        assert take_devices(1, ["GPU-a", "GPU-c"], tmp_path) == [1]
    assert take_devices(2, ["GPU-a", "GPU-c"], tmp_path) == [0, 1]


def test_who_asks_for_none_takes_a_free_one_and_shares_when_none_is(tmp_path: Path) -> None:
    with job(1, ["GPU-a", "GPU-b"], tmp_path) as first:
        assert taken(first) == [0]
        with job(0, ["GPU-a", "GPU-b"], tmp_path) as second:
            assert taken(second) == [1]
            assert take_devices(0, ["GPU-a", "GPU-b"], tmp_path) == [0]


def test_a_process_keeps_its_device_when_a_stage_within_a_stage_asks_again(tmp_path: Path) -> None:
    assert take_devices(1, FOUR, tmp_path) == [0]
    assert take_devices(1, FOUR, tmp_path) == [0]
    assert take_devices(0, FOUR, tmp_path) == [0]
    assert take_devices(2, FOUR, tmp_path) == [0, 1]


def test_what_cannot_be_had_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    with pytest.raises(
        ConfigError, match=r"compute\.gpus is 2, but this job sees 1 GPUs .*CUDA_VISIBLE_DEVICES=3"
    ):
        take_devices(2, ["GPU-d"], tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="cannot lock a GPU's slot there"):
        take_devices(1, ["GPU-d"], tmp_path / "file" / "below")


@pytest.mark.parametrize("planted", ["folder", "GPU-a.lock"])
def test_a_planted_link_costs_no_file(tmp_path: Path, planted: str) -> None:
    folder = tmp_path / "locks"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("ten years")
    if planted == "folder":
        folder.symlink_to(tmp_path / "mine")
    else:
        folder.mkdir(mode=0o700)
        (folder / planted).symlink_to(tmp_path / "mine" / "thesis")
    with pytest.raises(SetupError, match=str(folder)):
        take_devices(1, ["GPU-a"], folder)
    assert {path.name: path.read_text() for path in (tmp_path / "mine").iterdir()} == {"thesis": "ten years"}


def test_a_folder_that_others_can_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "locks"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(
        SetupError, match=f"this is drwxrwxrwx of user {os.getuid()}; remove it, or set TMPDIR"
    ):
        take_devices(1, ["GPU-a"], folder)
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(SetupError, match="set TMPDIR"):
        take_devices(1, ["GPU-a"], folder)
    assert list(folder.iterdir()) == []
