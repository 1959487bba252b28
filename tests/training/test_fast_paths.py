"""Fast paths: which way an encoder is computed, in which precision, and what is said where a GPU goes without them."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from irpretrain.config.training import ComputeConfig, Packing
from irpretrain.models import packed
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.packed import layout_of
from irpretrain.models.reranker import load_reranker
from irpretrain.training import compute
from irpretrain.training.compute import log_once, precision_on, slow_paths, use_fast_paths
from tiny_models import write_distilbert

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def _nothing_reported() -> None:
    log_once.cache_clear()


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch says that there is a GPU with the kernel; nothing computes on it."""
    monkeypatch.setattr(torch.backends.cuda, "is_flash_attention_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize(
    ("options", "compiles", "reported"),
    [
        ({"precision": "bf16"}, True, []),
        ({"precision": "fp16", "packing": "on"}, True, []),
        (
            {"precision": "bf16", "packing": "off"},
            True,
            ["padding is computed, because compute.packing is off"],
        ),
        ({}, True, ["single precision, .* set compute.precision to bf16", "padding .* no single precision"]),
        (
            {"packing": "on"},
            True,
            ["single precision", "attention is a call a sequence: .* no single precision"],
        ),
        ({"precision": "bf16"}, False, ["more kernels than necessary: there is no compiler"]),
    ],
)
def test_a_gpu_that_goes_without_is_reported_why(
    tiny_encoder: Path,
    options: dict[str, Any],
    compiles: bool,
    reported: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compute, "why_no_triton", lambda: None if compiles else "there is no compiler")
    bert = CrossEncoderModel.from_encoder(tiny_encoder, dropout=0.1).encoder
    found = list(slow_paths(bert, ComputeConfig(**options), GPU))
    assert len(found) == len(reported)
    for line, pattern in zip(found, reported, strict=True):
        assert re.search(pattern, line), line


@pytest.mark.usefixtures("hopper")
def test_other_architectures_are_reported_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    distilbert = load_reranker(write_distilbert(tmp_path / "distilbert"))
    assert list(slow_paths(distilbert.encoder, ComputeConfig(precision="bf16"), GPU)) == [
        "padding is computed, because encoders of type distilbert are never packed"
    ]
    capfd.readouterr()
    use_fast_paths(torch.nn.Linear(2, 2), ComputeConfig(), GPU)  # a ranker over words, say
    assert capfd.readouterr().err == ""


def test_a_line_is_reported_once(capfd: pytest.CaptureFixture[str]) -> None:
    for line in ("one", "two", "one"):
        log_once(line)
    assert capfd.readouterr().err == "one\ntwo\n"


def test_a_cpu_is_reported_nothing(tiny_encoder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    use_fast_paths(model, ComputeConfig(packing="off"), CPU)
    assert not layout_of(model).packs
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("device", "packing", "way"),
    [
        (CPU, "auto", packed.encode_by_sequence),
        (CPU, "off", None),
        (GPU, "auto", None),
        (GPU, "on", packed.encode_by_sequence),
    ],
)
def test_without_kernels_a_gpu_pads_and_a_cpu_packs(
    monkeypatch: pytest.MonkeyPatch, device: torch.device, packing: Packing, way: Any
) -> None:
    for name, answer in (("is_bert", True), ("compute_dtype", None), ("why_not_fused", "no kernel")):
        monkeypatch.setattr(packed, name, lambda *_, answer=answer: answer)
    assert packed.packed_encoder(SimpleNamespace(device=device), packing) is way


@pytest.mark.parametrize(
    ("capabilities", "precision"),
    [
        ({"avx2": True, "avx512_bf16": False}, "fp32"),
        ({"avx512_bf16": True}, "bf16"),
        ({"amx_bf16": True}, "bf16"),
        ({}, "fp32"),
    ],
)
def test_auto_is_bf16_where_the_processor_multiplies_it(
    capabilities: dict[str, bool], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    cpu = torch.device("cpu")
    assert precision_on(cpu, ComputeConfig(precision="auto")) == precision
    assert precision_on(cpu, ComputeConfig()) == "fp32"


@pytest.mark.parametrize(("supported", "precision"), [(True, "bf16"), (False, "fp32")])
def test_auto_is_bf16_where_the_gpu_multiplies_it(
    supported: bool, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    assert precision_on(GPU, ComputeConfig(precision="auto")) == precision
