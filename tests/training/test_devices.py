"""Each job has a GPU of its own: slots of devices that are names only, between processes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from fresh_process import call
from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.errors import ConfigError, SetupError, TrainingError
from irpretrain.training import compute, ranks
from irpretrain.training.compute import choose_device, reproducible, take_devices, take_gpu
from irpretrain.training.ranks import Ranks, taking_part

FOUR = ["GPU-a", "GPU-b", "GPU-c", "GPU-d"]


@pytest.fixture(autouse=True)
def nothing_taken() -> Iterator[None]:
    compute.release_locks(compute._held_locks)
    yield
    compute.release_locks(compute._held_locks)


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
        compute.release_locks(compute._held_locks)
        assert take_devices(1, ["GPU-a", "GPU-c"], tmp_path) == [1]


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


def test_the_device_of_a_job_is_torch_s_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid=f"u{device}")
    )
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    folder = tmp_path / f"irpretrain-gpus-{os.getuid()}"
    with job(1, ["u0"], folder) as first:
        assert taken(first) == [0]
        assert take_gpu(ComputeConfig(gpus=1)) == torch.device("cuda", 1)
    assert current == [torch.device("cuda", 1)]
    assert {path.name for path in folder.iterdir()} == {"u0.lock", "u1.lock"}


def test_what_cannot_be_had_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    with pytest.raises(
        ConfigError, match=r"compute\.gpus is 2, but this job sees 1 GPUs .*CUDA_VISIBLE_DEVICES=3"
    ):
        take_devices(2, ["GPU-d"], tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="cannot lock a GPU's slot there"):
        take_devices(1, ["GPU-d"], tmp_path / "file" / "below")


def test_a_job_that_asks_for_a_gpu_computes_without_one_only_if_it_is_reported_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"compute\.gpus is 1, but torch finds no GPU"):
        choose_device(ComputeConfig(gpus=1))
    assert choose_device(ComputeConfig(gpus=1, device="cpu")).type == "cpu"
    assert choose_device(ComputeConfig()).type == "cpu"


def test_memory_that_runs_out_is_named_with_torch_s_numbers() -> None:
    text = (
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which 7.00 MiB is "
        "free. Process 42 has 7.99 GiB memory in use."
    )
    with pytest.raises(TrainingError) as caught, reproducible(ComputeConfig(device="cpu")):
        raise torch.OutOfMemoryError(text)
    numbers = "tried to allocate 20.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which 7.00 MiB is free)"
    assert numbers in str(caught.value)
    with pytest.raises(RuntimeError, match="shapes"), reproducible(ComputeConfig(device="cpu")):
        raise RuntimeError("shapes differ")


@pytest.mark.parametrize(
    "message",
    [
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes",
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ],
)
def test_memory_that_runs_out_stops_with_advice(message: str) -> None:
    expected = pytest.raises(TrainingError, match=r"^memory ran out\. .*batch_tokens.*raise accumulation")
    with expected, reproducible(ComputeConfig(device="cpu")):
        raise RuntimeError(message)


def test_settings_of_torch_come_back() -> None:
    """Meanwhile convolutions keep single precision."""
    torch.set_num_threads(2)
    before = torch.backends.cudnn.allow_tf32
    with reproducible(ComputeConfig(device="cpu", threads=1)):
        assert torch.get_num_threads() == 1
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.allow_tf32
    assert torch.get_num_threads() == 2
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.backends.cudnn.allow_tf32 == before


def test_a_process_takes_its_gpu_before_it_meets_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[str]()
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: calls.append(f"set {device}"))
    group = SimpleNamespace(
        init_process_group=lambda backend, device_id, **_: calls.append(f"meet on {device_id}"),
        destroy_process_group=lambda: None,
        TCPStore=lambda host, port, timeout: None,
    )
    monkeypatch.setattr(ranks, "distributed", group)
    with taking_part(Ranks(1, 2, gpu=1), 1):
        assert calls == ["set cuda:1", "meet on cuda:1"]


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
        SetupError, match=f"this is of user {os.getuid()}, mode 777; remove it, or set TMPDIR"
    ):
        take_devices(1, ["GPU-a"], folder)
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(SetupError, match="set TMPDIR"):
        take_devices(1, ["GPU-a"], folder)
    assert list(folder.iterdir()) == []
