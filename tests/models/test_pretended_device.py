"""Fine-tuning, re-ranking and DeepCT on a device whose memory the host cannot read give the processor's results.

Only copies that are named as such (`.cpu()`) bring numbers to the host; see `pretended_device`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pretended_device import DEVICE, DeviceTensor, PretendedDevice
from torch import Tensor

from irpretrain import CrossEncoder as GivenCrossEncoder
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.contracts import TERM_TARGETS
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import CorpusTexts, rerank
from irpretrain.retrieval.term_weights import train as term_weights
from irpretrain.retrieval.term_weights.infer import WeightPredictor
from irpretrain.text.texts import Text
from irpretrain.training import compute, finetune, trainer
from irpretrain.training import trainer as training_steps
from judged_collection import write_collection
from tiny_models import WORDS, write_bert

TEXT = TextConfig(words="alphanumeric")
SHORT = {"max_length": 24, "query_length": 4}


class PlainAdamW(torch.optim.AdamW):
    """The fused one knows no such device."""

    def __init__(self, groups: Any, options: Any) -> None:
        super().__init__(groups, lr=options.learning_rate, eps=options.epsilon, foreach=False)


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Return a context in which trainings and rankings compute on the pretended device; outside, on the processor."""
    monkeypatch.setattr(trainer, "AdamW", PlainAdamW)

    @contextmanager
    def reproducible(_: Any) -> Iterator[torch.device]:
        yield DEVICE

    @contextmanager
    def inside() -> Iterator[None]:
        with monkeypatch.context() as patch, PretendedDevice():
            for module in (compute, finetune, term_weights):
                patch.setattr(module, "reproducible", reproducible)
            for module in (compute, training_steps):
                patch.setattr(module, "autocast", lambda *_: nullcontext())
            patch.setattr(torch, "inference_mode", torch.no_grad)  # which no tensor with a wrapper knows
            patch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
            torch.__future__.set_overwrite_module_params_on_conversion(True)
            try:
                yield
            finally:
                torch.__future__.set_overwrite_module_params_on_conversion(False)

    return inside


@pytest.fixture
def collection(tmp_path: Path, make_store: Callable[..., Path]) -> dict[str, Any]:
    """Six queries, each for a document that holds its words; six candidates each; folds 1 to 3 in turn."""
    documents = {f"d{n}": " ".join(WORDS[6 * n : 6 * n + 4 + n]) for n in range(6)}
    queries = {f"q{n}": " ".join(WORDS[6 * n : 6 * n + 1 + n % 3]) for n in range(6)}
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(6)}
    run = {query: [(name, -float(n)) for n, name in enumerate(documents)] for query in queries}
    return {"stores": [make_store(documents)], **write_collection(tmp_path, queries, qrels, run, 3)}


def assert_same_runs(first: Path, second: Path) -> None:
    ours, theirs = ({q: dict(ranked) for q, ranked in read_run(path).items()} for path in (first, second))
    assert ours.keys() == theirs.keys()
    for query in ours:
        assert ours[query] == pytest.approx(theirs[query], abs=1e-4)


@pytest.mark.parametrize("head", ["mlp", "pooled", "cedr-knrm"])
@pytest.mark.parametrize("passages", [None, {"words": 3, "stride": 2}])
def test_fine_tuning(
    head: Any, passages: Any, on_device: Any, collection: dict[str, Any], tiny_encoder: Path, tmp_path: Path
) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder, head).save(tmp_path / "start")
    # The kernel of exact matches (deviation 0.001) makes gradients of rounding: weights that differ by 1e-7 give scores
    # that differ by 0.03 after this training at a rate of 1e-3, on the processor too, and by 1.4e-4 at 1e-6 on some.
    rate = 1e-7 if head == "cedr-knrm" else 1e-3
    cpu = {"device": "cpu", "precision": "fp32", "packing": "off"}
    options = FinetuningConfig(
        loss="listwise", negatives=2, batch_sizes=[4], learning_rates=[rate], epochs=2, compute=cpu, **SHORT
    )
    reranking = RerankingConfig(compute=cpu, passages=passages, **SHORT)

    def run(name: str) -> Path:
        finetune.finetune(
            tmp_path / "start", **collection, fold=1, regime="full", options=options, reranking=reranking,
            measure="RR@10", seed=1, run=tmp_path / name, metrics=tmp_path / f"{name}.json",
            checkpoints=tmp_path / f"{name}.checkpoints", output=tmp_path / f"{name}.model",
        )  # fmt: skip
        return tmp_path / name

    expected = run("processor")
    with on_device():
        made = run("device")
    assert_same_runs(made, expected)


@pytest.mark.parametrize("head", ["mlp", "cedr-knrm"])
def test_re_ranking(
    head: Any, on_device: Any, collection: dict[str, Any], tiny_encoder: Path, tmp_path: Path
) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder, head).save(tmp_path / "model")
    options = RerankingConfig(compute={"device": "cpu", "precision": "fp32", "packing": "off"}, **SHORT)
    corpus = CorpusTexts(collection["stores"])
    inputs = (corpus, collection["queries"], collection["candidates"], options)
    rerank(tmp_path / "model", *inputs, tmp_path / "processor.run.gz")
    with on_device():
        rerank(tmp_path / "model", *inputs, tmp_path / "device.run.gz")
    assert_same_runs(tmp_path / "device.run.gz", tmp_path / "processor.run.gz")


@pytest.mark.parametrize("packing", ["on", "off"])
def test_re_ranking_with_a_given_model(on_device: Any, tmp_path: Path, packing: str) -> None:
    options = {"compute": {"device": "cpu", "precision": "fp32", "packing": packing}, **SHORT}
    model = GivenCrossEncoder(write_bert(tmp_path / "model", labels=2), **options)
    pairs = [(WORDS[n], " ".join(WORDS[n : 2 * n + 1])) for n in range(5)]
    expected = model.predict(pairs)
    with on_device():
        made = model.predict(pairs)
    assert np.allclose(made, expected, atol=1e-4)


def test_deepct(on_device: Any, tiny_encoder: Path, tmp_path: Path) -> None:
    """Training, then inference with what was trained."""
    position = {"part": 0, "sample": 0, "judged": 1}
    rows = [
        {**position, "position": n, "document_id": str(n), "text": " ".join(WORDS[n : 2 * n + 2]),
         "targets": [0.5] * (n + 2)}
        for n in range(4)
    ]  # fmt: skip
    TERM_TARGETS.write(tmp_path / "targets", rows)
    cpu = {"device": "cpu", "precision": "fp32", "packing": "off"}
    options = TermWeightsConfig(
        label="b", dataset="b", max_length=32,
        training={"steps": 3, "batch_size": 2, "compute": cpu}, inference={"compute": cpu},
    )  # fmt: skip
    encoder = EncoderConfig(path="tiny", label="tiny")
    texts = [Text(0, n, str(n), " ".join(WORDS[n : n + 3 + 5 * n])) for n in range(3)]

    def weights(name: str, device: torch.device) -> list[float]:
        term_weights.train_regressor(
            tiny_encoder, tmp_path / "targets", options, encoder, TEXT, 1,
            tmp_path / name, tmp_path / f"{name}.jsonl", tmp_path / f"{name}.checkpoints",
        )  # fmt: skip
        table, _ = WeightPredictor.open(tmp_path / name, options, TEXT, device).rows(texts)
        return [term["weight"] for terms in table["terms"].to_pylist() for term in terms]

    expected = weights("processor", torch.device("cpu"))
    with on_device():
        made = weights("device", DEVICE)
    assert np.allclose(made, expected, atol=1e-4)
    assert len(set(expected)) > 1


@pytest.mark.parametrize(
    "read",
    [
        lambda tensor: int(tensor.sum()),
        lambda tensor: tensor[tensor > 0],
        lambda tensor: tensor.nonzero(),
        lambda tensor: tensor + torch.ones(2),
        lambda tensor: torch.nn.functional.linear(tensor, torch.ones(1, 2)),
        lambda tensor: bool(tensor.any()),
    ],
)
def test_the_host_cannot_read_the_device_nor_compute_with_it(read: Callable[[Tensor], Any]) -> None:
    with PretendedDevice():
        tensor = torch.ones(2).to(DEVICE)
        assert isinstance(tensor, DeviceTensor)
        with pytest.raises(RuntimeError, match=r"waits for the device|of the host and of the device"):
            read(tensor)
        assert tensor.cpu().tolist() == [1, 1]
