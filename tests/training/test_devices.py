"""Threads, device and precision of a job, and what a user reads where memory runs out."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from irpretrain.config.training import ComputeConfig
from irpretrain.foundation.errors import ConfigError, TrainingError
from irpretrain.training import gpu_slots, ranks
from irpretrain.training.compute import choose_device, reproducible, take_gpu
from irpretrain.training.job_lock import take_lock
from irpretrain.training.ranks import Ranks, taking_part


def test_the_device_of_a_job_is_torch_s_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid=f"u{device}")
    )
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    folder = tmp_path / f"irpretrain-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700)
    held = take_lock(folder / "u0.lock")
    assert held is not None
    assert take_gpu(ComputeConfig(gpus=1)) == torch.device("cuda", 1)
    os.close(held)
    gpu_slots.release_locks(gpu_slots.held_locks)
    assert current == [torch.device("cuda", 1)]
    assert {path.name for path in folder.iterdir()} == {"u0.lock", "u1.lock"}


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
