"""Training steps: ours, the Hugging Face Trainer and sentence-transformers' CrossEncoderTrainer, in one run.

    python benchmarks/training.py [--device cuda] [--lengths default long] [--threads 2] [--precision bf16]

The competitors are no dependencies of the project; what is missing is left out, and the script says so. Install them
beside the project and let Python see them:

    pip install --no-deps --target FOLDER sentence-transformers==6.2.0 datasets==5.2.0 \\
        dill==0.4.1 multiprocess==0.70.19 xxhash==4.1.0 scikit-learn==1.9.1 joblib==1.6.0 narwhals==2.28.0 \\
        threadpoolctl==3.8.0
    PYTHONPATH=FOLDER python benchmarks/training.py

Work: the default run's pre-training (pair hinge and masked words on ROP's pairs) and fine-tuning (pair hinge on judged
SQuAD questions and BM25's candidates), with its encoder, batches and optimiser; `--lengths long` are whole paragraphs
with up to 512 word pieces, `full` articles cut at 512. On a GPU the encoder has BERT-base's shape and random weights.
All contestants get the same sequences, step by step, dropout is off and the learning rate constant; the losses of the
first steps must agree, or the script fails. What differs:

- the Trainer gets sequences that are tokenised and masked beforehand, which it is not timed for; ours makes them of
  the token store in every step. It has DataCollatorWithPadding, fused AdamW, and a BertForSequenceClassification whose
  scores (and MLM logits) `compute_loss` turns into the same loss. MLM logits are computed at the masked positions
  alone, which BertForMaskedLM would not do; "all positions" does as BertForMaskedLM.
- "grouped by length" takes the batches that its LengthGroupedSampler makes of 50 batches' groups, those of a turn
  evenly from the longest to the shortest (one step a turn: the middle one). It has other batches than ours then.
- CrossEncoderTrainer gets texts and tokenises them in the loss, as all its losses do; sentence-transformers has no
  hinge on pairs and no MLM for cross-encoders, so the hinge is written like its losses, with one forward pass.

Word pieces are real ones, without padding. "Share of peak" is the arithmetic of the model for these (a multiplication
and an addition are two; backward twice forward; the whole last layer; MLM at masked positions), over what a large
matrix product reached in the same run; by the clock on a GPU, by processor time on a CPU.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from embedded_work import TrainingWork, Workshop, training_work
from irpretrain.config.training import ComputeConfig
from irpretrain.models.cross_encoder import CrossEncoderModel
from side_by_side import (
    Turn,
    head,
    heading,
    installed,
    options,
    play,
    playing,
    quiet,
    rate,
    read_options,
    rows,
)
from training_contestants import (
    AllPositions,
    GroupedByLength,
    HuggingFace,
    Ours,
    SentenceTransformers,
    finish,
    steps_of,
)

TOLERANCES = {"fp32": 1e-5, "bf16": 3e-3}
"""How far losses may be apart. With fresh heads the hinge is close to its margin, 1, at first."""
PACKAGES = {
    "accelerate": "accelerate",
    "datasets": "datasets",
    "sentence_transformers": "sentence-transformers",
}
INSTALL = "the head of benchmarks/training.py says how to install it"


def contestants(kind: str, there: set[str]) -> dict[str, Callable[..., Any]]:
    """Return who takes part, ours first."""
    found: dict[str, Callable[..., Any]] = {"ours": Ours}
    if "accelerate" in there:
        found |= {"Trainer": HuggingFace, "Trainer, grouped by length": GroupedByLength}
        found |= {"Trainer, MLM at all positions": AllPositions} if kind == "pre-training" else {}
    if kind == "fine-tuning" and len(there) == len(PACKAGES):
        found["CrossEncoderTrainer"] = SentenceTransformers
    return found


def compare_losses(turns: dict[str, list[Turn]], precision: str) -> str:
    """Return a line that says how far the losses of the first steps are apart; end the program if too far."""
    ours = np.array(next(iter(turns.values()))[0].facts["losses"])
    furthest = 0.0
    for name, own in turns.items():
        theirs = np.array(own[0].facts["losses"])
        apart = float(np.abs(theirs / ours - 1).max()) if len(theirs) == len(ours) else np.inf
        furthest = max(furthest, apart)
        if not apart <= TOLERANCES[precision]:
            sys.exit(f"{name} does not do the same work: its first losses are {theirs}, ours are {ours}")
    return f"losses of the first {len(ours)} steps: {ours.round(4).tolist()}, others differ by {furthest:.1e} at most"


def peak(device: torch.device, precision: str, threads: int) -> float:
    """Return the operations a second of a large matrix product, the best of several: by the clock on a GPU, of
    processor time on a CPU, which other work of the machine takes some of."""
    torch.set_num_threads(threads)
    size = 8192 if device.type == "cuda" else 2048
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    best = np.inf
    seconds = time.perf_counter if device.type == "cuda" else time.process_time
    products: list[Callable[[], Tensor]] = [lambda: a @ b]
    if device.type == "cpu" and torch.backends.mkldnn.is_available():
        products.append(lambda: torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], ""))
    for product in products:
        for _ in range(8):
            finish(device)
            start = seconds()
            product()
            finish(device)
            best = min(best, seconds() - start)
    return 2 * size**3 / best


def operations(work: TrainingWork) -> float:
    """Operations a real word piece takes in training, over the steps of the first round."""
    source, config = work.source(), CrossEncoderModel.load(work.model).classifier.config
    hidden, inner = config.hidden_size, config.intermediate_size
    total = pieces = 0.0
    for step in steps_of(work, 1):
        batch = source.builder.build(source.groups.groups(step))
        lengths = batch.attention_mask.sum(axis=1).astype(float)
        layer = 2 * (4 * hidden**2 + 2 * hidden * inner) * lengths + 4 * hidden * lengths**2
        total += config.num_hidden_layers * float(layer.sum())
        if source.masker:
            masked = len(source.masker.apply(batch, step).labels)
            total += 2 * masked * (hidden**2 + hidden * config.vocab_size)
        pieces += float(lengths.sum())
    return 3 * total / pieces


def compare(kind: str, mix: Any, shop: Workshop, given: argparse.Namespace, there: set[str]) -> list[str]:
    """Print one work's table rows, and return lines about it."""
    compute = ComputeConfig(threads=given.threads, precision=given.precision, device=given.device)
    with quiet():
        work = training_work(shop, kind, mix, given.batch_groups, given.steps, compute)
    with playing(contestants(kind, there), work, ["torch", "transformers", "embedded_work"]) as players:
        turns = play(players, given.rounds)
    print("\n".join(rows(turns, f"{kind}, {mix}")), flush=True)
    ours = rate(turns["ours"], "wall" if given.device == "cuda" else "cpu")
    best = peak(torch.device(given.device), given.precision, given.threads)
    source = work.source()
    some = [source.builder.build(source.groups.groups(step)) for step in steps_of(work, 1)]
    pieces, positions = sum(one.tokens for one in some), sum(one.input_ids.size for one in some)
    seconds = statistics.median(turn.wall / given.steps for turn in turns["ours"][1:])
    share, unit = ours * operations(work) / best, "" if given.device == "cuda" else " of processor time"
    return [
        f"{kind}, {mix}: {2 * work.batch_groups} sequences a step, {pieces / len(some):,.0f} word pieces, "
        f"{1 - pieces / positions:.0%} of positions are padding; ours {1 / seconds:.2f} steps/s, "
        f"{share:.0%} of the peak of {best / 1e9:,.0f} GFLOP/s{unit}; {compare_losses(turns, given.precision)}"
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, models=True)
    parser.add_argument("--kinds", nargs="+", default=["pre-training", "fine-tuning"])
    parser.add_argument("--lengths", nargs="+", choices=["default", "long", "full"])
    parser.add_argument("--steps", type=int, help="optimiser steps a turn (default 2; on a GPU 30)")
    parser.add_argument(
        "--batch-groups", type=int, help="pairs a step (default: the configuration's; GPU 64)"
    )
    parser.add_argument("--queries", type=int, help="of fine-tuning (default: the configuration's)")
    given = read_options(parser, arguments)
    given.steps = given.steps or (30 if given.gpu else 2)
    given.batch_groups = given.batch_groups or (64 if given.gpu else None)
    lengths = given.lengths or (["long", "full"] if given.gpu else ["default", "long"])
    there = installed(PACKAGES, "compared with less", INSTALL)
    print(heading(given, ["torch", "transformers", *PACKAGES.values()], f" of {given.steps} steps"))
    print(head("work", "word pieces"), flush=True)
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        shop = Workshop(given.folder or Path(temporary), given.encoder, given.articles, given.queries)
        for kind in given.kinds:
            for mix in lengths:
                if kind == "fine-tuning" and mix == "full":
                    continue  # candidates are paragraphs
                lines += compare(kind, mix, shop, given, there)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
