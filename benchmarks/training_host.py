"""What a GPU's training and inference cost the host, measured without a GPU.

    python benchmarks/training_host.py

- Time and operations of a step that no graph replays, of an encoder of BERT-base's 12 layers, so narrow
  that arithmetic takes almost no time. Attention and the kernels between products are replaced by nothing
  (`Nothing`), so what is left is what the host does before a GPU can compute. Operations are those of torch's
  dispatcher that are no views; a kernel of ours counts as one.
- Share of time that a device is busy which takes so many milliseconds for each of these steps (`SlowDevice`); batches
  of 64 groups of articles are read. One after the other: as on a processor, where nothing is read ahead.
- Sizes: different sizes of batches in 200 steps, each of which a GPU's libraries plan for and a graph is recorded for;
  those of batches that are not filled up; and the rates at which one core builds batches of groups, and also masks and
  packs them.
- Inference with a network that returns zeros: what one core reads, sorts, packs and collects a second.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import BertConfig, BertForSequenceClassification

from generated_work import TEXT, GeneratedWork
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.training import ComputeConfig, OptimiserConfig
from irpretrain.models import cross_encoder, fused_layers, mlm_heads, packed
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import Layout, PackedBatch, PaddedBatch
from irpretrain.retrieval.rerank import rerank_run
from irpretrain.retrieval.term_weights.infer import WeightPredictor
from irpretrain.retrieval.term_weights.sequences import TrainingSequences
from irpretrain.retrieval.term_weights.train import TokenRegression
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training import trainer
from irpretrain.training.batches import Batch, BatchBuilder
from irpretrain.training.metrics import TaskMetrics
from irpretrain.training.ranking_groups import RankingGroups
from irpretrain.training.ranking_tasks import GroupBatch, RankingTask, SequenceReader
from irpretrain.training.trainer import StepContext, StepTask, TaskStep, Trainer

GPU_LAYOUT = Layout(packs=True, fills_up=True)
CPU = torch.device("cpu")
ROUNDS, STEPS = 5, 10
VIEWS = (
    "view", "aten.t.", "unbind", "split", "slice.", "select.", "expand", "permute", "transpose", "detach", "unsqueeze",
    "squeeze", "alias", "empty", "as_strided", "profiler",
)  # fmt: skip
STAGES = (
    ("pre-training", "articles", 16),
    ("pre-training", "articles", 64),
    ("pre-training", "passages", 64),
    ("pre-training", "passages", 1024),
    ("fine-tuning", "passages", 16),
    ("fine-tuning", "articles", 64),
    ("weights of words", "passages", 16),
)
COUNTED_STEPS = 200
BATCH_TOKENS, SCORED_QUERIES, WEIGHED_TEXTS = 65536, 200, 8192
# Time of a step on a device, as a multiple of the host's: on an H200 it is 6 of 64 groups of articles.
SLOWER, BUSY_STEPS = (6, 2), 20


class Nothing:
    """Kernels that compute nothing; what they return has the right shapes."""

    def residual_norm(self, x: Tensor, *_: Any) -> tuple[Tensor, ...]:
        moments = torch.empty((2, len(x)))
        return torch.zeros_like(x), torch.zeros_like(x), *moments.unbind()

    def residual_norm_gradient(self, gradient: Tensor, total: Tensor, *_: Any) -> tuple[Tensor, ...]:
        into = torch.zeros_like(total)
        return into, into, torch.zeros((3, total.shape[1]))

    def gelu_gradient(self, gradient: Tensor, x: Tensor, with_value: bool) -> tuple[Tensor, Tensor, None]:
        return torch.zeros_like(x), torch.zeros(x.shape[1]), None


# What `Nothing` and the attention in its place do, which a GPU does in one kernel each.
REPLACED = {"zeros_like", "zeros"}


def attend(call: Any, query: Tensor, *_: Any) -> tuple[Tensor, ...]:
    nothing = torch.empty(1)
    return torch.zeros_like(query), nothing, nothing, nothing


def attend_gradient(call: Any, into: Tensor, query: Tensor, key: Tensor, value: Tensor, *_: Any) -> Any:
    return tuple(torch.zeros(each.shape, dtype=each.dtype) for each in (query, key, value))


def mlm_loss_as_on_a_gpu(head: Any, states: Tensor, embeddings: Tensor, labels: Tensor) -> Tensor:
    loss: Tensor = mlm_heads._VocabularyLoss.apply(head.transform(states), embeddings, head.bias, labels)
    return loss


def narrow_trainer() -> tuple[Trainer[CrossEncoderModel], RankingTask, TaskStep]:
    """Return a trainer of a narrow model with the way of a GPU, a task, and a step's batch."""
    fused_layers._attend, fused_layers._attend_gradient = attend, attend_gradient  # type: ignore[assignment]
    fused_layers.kernels_for = lambda device: Nothing()  # type: ignore[assignment, return-value]
    packed.packed_encoder = lambda encoder, packing: fused_layers.encode_fused
    trainer.layout_of = lambda model: GPU_LAYOUT
    cross_encoder.mlm_loss_sum = mlm_loss_as_on_a_gpu
    sizes: dict[str, Any] = {
        "vocab_size": 64,
        "num_labels": 1,
        "hidden_size": 16,
        "num_hidden_layers": 12,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    config = BertConfig(**sizes)
    cross_encoder.takes_types = lambda *_: True
    cross_encoder.check_types = lambda *_: None
    head = mlm_heads.BertMlmHead(config)
    model = CrossEncoderModel(BertForSequenceClassification(config), head, Path())
    compute = ComputeConfig(device="cpu", precision="bf16")
    made = Trainer(model, OptimiserConfig(), compute, CPU, seed=1, steps=1000)
    draw = np.random.default_rng(0)
    ids = draw.integers(5, 60, (4, 8))
    masked = draw.random(ids.shape) < 0.2
    masked[:, 0] = False
    padded = PaddedBatch(ids, np.zeros_like(ids), np.ones_like(ids), masked)
    batch = PackedBatch.of(padded, 8, fills_up=True)
    assert batch.masked_rows is not None
    labels = np.pad(
        ids[masked], (0, len(batch.masked_rows) - int(masked.sum())), constant_values=mlm_heads.IGNORED
    )
    task = RankingTask("rop", SimpleNamespace(), SequenceReader(SimpleNamespace()), "hinge", mlm_weight=1.0)  # type: ignore[arg-type]
    groups = GroupBatch(np.array([2, 2]), 32, batch, labels)
    return made, task, TaskStep(TaskMetrics(1.0, 1.0, pairs=2, groups=2), 32, {0: groups}, int(masked.sum()))


class Counted(TorchDispatchMode):
    """Counts operations by name."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[str(function)] += 1
        return function(*args, **(kwargs or {}))


def host_time() -> tuple[float, int]:
    """Return a step's milliseconds of processor time, the best of some rounds, and its operations."""
    made, task, part = narrow_trainer()

    def step(number: int) -> None:
        made.begin(number, [task], {task.name: part}, 0.0)

    for number in range(STEPS):
        step(number)
    best = np.inf
    for _ in range(ROUNDS):
        began = time.process_time()
        for number in range(STEPS):
            step(number)
        best = min(best, (time.process_time() - began) / STEPS)
    with Counted() as counted:
        step(0)
    names = {name: count for name, count in counted.counts.items() if not any(view in name for view in VIEWS)}
    replaced = sum(count for name, count in names.items() if name.split(".")[1] in REPLACED)
    ours = 3 * made.model.encoder.config.num_hidden_layers * 2 - made.model.encoder.config.num_hidden_layers
    return 1000 * best, sum(names.values()) - replaced + ours


class SlowDevice:
    """A device that computes each step for `seconds` once it is given the step, one after the other."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.idle, self.end = seconds, 0.0, np.inf

    def to_host(self, numbers: Tensor) -> Callable[[], Tensor]:
        """In place of `length_batches.to_host`, which is called when a step is given."""
        now = time.perf_counter()
        self.idle += max(now - self.end, 0.0)
        ready = self.end = max(now, self.end if self.end < np.inf else now) + self.seconds

        def wait() -> Tensor:
            time.sleep(max(ready - time.perf_counter(), 0.0))
            return numbers

        return wait


@dataclass
class ReadTask:
    """Reads what a GPU would be given, and computes a small batch."""

    reads: StepTask
    computes: RankingTask
    part: TaskStep
    name: str = "rop"

    def read(self, setting: StepContext, step: int) -> TaskStep:
        return self.reads.read(setting, step)

    def micro_batch(self, model: Any, setting: StepContext, step: int, _: TaskStep, batch: GroupBatch) -> Any:
        batch.inputs.flat(CPU)
        return self.computes.micro_batch(model, setting, step, self.part, self.part.batches[0])


def busy_share(task: StepTask, seconds: float, overlaps: bool) -> float:
    """Return the share of time that a device computes which takes `seconds` for a step of `task`."""
    made, small, part = narrow_trainer()
    made.overlaps, device = overlaps, SlowDevice(seconds)
    for _ in made.run(range(STEPS), [ReadTask(task, small, part)]):
        pass
    with mock.patch.object(trainer, "to_host", device.to_host):
        for _ in made.run(range(STEPS, STEPS + BUSY_STEPS), [ReadTask(task, small, part)], lambda _: False):
            pass
    return BUSY_STEPS * seconds / (BUSY_STEPS * seconds + device.idle)


def training(work: GeneratedWork, stage: str, mix: str, size: int) -> tuple[StepTask, StepContext]:
    """Return a training of BERT-base on generated work, and the setting in which a GPU would read it."""
    compute = ComputeConfig(device="cpu")
    if stage == "weights of words":
        options = weight_options(work)
        sequences = TrainingSequences.read(work.targets(), EncoderPieces(work.encoder()), options, TEXT)
        return TokenRegression(sequences, size, "mean", 1), StepContext(CPU, compute, 1, layout=GPU_LAYOUT)
    source = work.training(stage, mix, size, 1, compute).source()
    reader = SequenceReader(source.builder, source.masker)
    task = RankingTask("rop", source.groups, reader, "hinge", mlm_weight=1.0)
    return task, StepContext(CPU, compute, 1, layout=GPU_LAYOUT)


def sizes_of_batches(task: StepTask, setting: StepContext) -> tuple[int, int, float, float, float]:
    """Return sizes in 200 steps, those not filled up, the share of rows that fill up, and pieces/s built and read."""

    def inputs(part: TaskStep) -> PackedBatch:
        batch: Any = part.batches[0]
        packed_batch: PackedBatch = batch.inputs if isinstance(batch, GroupBatch) else batch[0]
        return packed_batch

    task.read(setting, 0)
    build, build_seconds = BatchBuilder.build, 0.0

    def timed_build(builder: BatchBuilder, groups: RankingGroups) -> Batch:
        nonlocal build_seconds
        began = time.process_time()
        batch = build(builder, groups)
        build_seconds += time.process_time() - began
        return batch

    with mock.patch.object(BatchBuilder, "build", timed_build):
        began = time.process_time()
        parts = [task.read(setting, step) for step in range(COUNTED_STEPS)]
        seconds = time.process_time() - began
    exact = replace(setting, layout=Layout(packs=True))
    shapes = [{inputs(part).shape for part in parts}]
    shapes.append({inputs(task.read(exact, step)).shape for step in range(COUNTED_STEPS)})
    rows, tokens = (sum(len(inputs(p).input_ids) for p in parts), sum(p.tokens for p in parts))
    built = tokens / build_seconds if build_seconds else np.nan  # sequences of words have no groups
    return len(shapes[0]), len(shapes[1]), 1 - tokens / rows, built, tokens / seconds


def weight_options(work: GeneratedWork) -> TermWeightsConfig:
    inference = {"batch_tokens": BATCH_TOKENS, "compute": {"device": "cpu"}}
    longest = work.lengths("passages").longest
    return TermWeightsConfig(label="b", dataset="b", max_length=longest, inference=inference)


def rerank_rate(work: GeneratedWork, mix: str) -> float:
    """Return the pairs that are re-ranked in a second of processor time if the network takes none."""
    from reranking import Work

    reranking: Work = work.reranking(mix, ComputeConfig(device="cpu"), SCORED_QUERIES, BATCH_TOKENS)
    model = narrow_trainer()[0].model
    tokenizer, store = load_tokenizer(reranking.model), TokenStore.open([reranking.store])
    texts, turns = reranking.candidates()

    def encode(batch: PackedBatch) -> tuple[Tensor, None]:
        batch.flat(CPU)
        return torch.zeros(len(batch.cls_rows)), None

    with (
        mock.patch.object(model, "encode", encode),
        mock.patch.object(packed, "layout_of", return_value=GPU_LAYOUT),
    ):
        for turn in turns[:2]:  # the first one compiles
            began = time.process_time()
            rerank_run(model, tokenizer, store, texts, turn, reranking.options)
    return sum(map(len, turn.values())) / (time.process_time() - began)


def weigh_rate(work: GeneratedWork) -> float:
    """Return the word pieces that are weighed in a second of processor time if the network takes none."""
    predictor = WeightPredictor.open(work.regressor(), weight_options(work), TEXT, CPU)
    predictor.layout = GPU_LAYOUT
    texts = work.documents_to_weigh("passages", WEIGHED_TEXTS)

    def weights(batch: PackedBatch) -> Tensor:
        batch.flat(CPU)
        return torch.zeros(len(batch.input_ids))

    with mock.patch.object(predictor.model, "weights", weights):
        began = time.process_time()
        _, counts = predictor.rows(texts)
    return counts["word_pieces"] / (time.process_time() - began)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        work = GeneratedWork(Path(name))
        print(
            "| training | documents | batch | sizes | not filled up | rows that fill up "
            "| million pieces/s built | masked and packed too |"
        )
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for stage, mix, size in STAGES:
            sizes, exact, share, built, read = sizes_of_batches(*training(work, stage, mix, size))
            built_text = "–" if np.isnan(built) else f"{built / 1e6:.1f}"
            print(
                f"| {stage} | {mix} | {size} | {sizes} | {exact} | {share:.1%} | {built_text} | {read / 1e6:.1f} |"
            )
        milliseconds, operations = host_time()
        print(f"\na step of BERT-base's layers: {milliseconds:.1f} ms of the host, {operations} operations")
        task, _ = training(work, *STAGES[1])
        print("\n| device, ms a step | busy | busy, one after the other |\n|---:|---:|---:|")
        for times in SLOWER:
            shares = [busy_share(task, times * milliseconds / 1000, overlaps) for overlaps in (True, False)]
            print(f"| {times * milliseconds:.0f} | {shares[0]:.1%} | {shares[1]:.1%} |")
        print("\n| inference without the network | a second of one core |\n|---|---:|")
        for mix in ("passages", "articles"):
            print(f"| re-ranking, {mix} | {rerank_rate(work, mix):,.0f} pairs |")
        print(f"| weights of passages | {weigh_rate(work):,.0f} word pieces |")


if __name__ == "__main__":
    main()
