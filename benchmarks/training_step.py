"""Training steps and scoring on one CPU thread: whose matrix products, and the last layer whole or in part.

    python benchmarks/training_step.py

The default's encoder (4 layers of 384, random weights) on 32 sequences of 64 word pieces, a seventh of them masked:
forward, backward, clipping and AdamW; and without masks, forward only, 32 of 96. The variants take turns; prints the
medians of word pieces a second of processor time, and ratios to what torch and Hugging Face's model do by themselves.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.nn import functional
from transformers import BertConfig, BertForSequenceClassification

from irpretrain.config.training import OptimiserConfig, Packing
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.mlm_heads import BertMlmHead
from irpretrain.training.compute import give_back_freed_memory
from irpretrain.training.ranking_tasks import ranking_loss
from irpretrain.training.trainer import clip_gradients, make_optimiser

LIBRARIES = {"MKL": True, "oneDNN": False}
LAYERS: dict[str, Packing] = {"whole": "off", "chosen positions": "on"}
MANIFEST = Path(__file__).resolve().parents[1] / "resources/embedded.yaml"
TOKENIZER = installed_path(read_manifest(MANIFEST).asset("minilm")) or Path()


def small_model() -> CrossEncoderModel:
    options: dict[str, Any] = {
        "hidden_size": 384,
        "num_hidden_layers": 4,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "num_labels": 1,
    }
    config = BertConfig(**options)
    return CrossEncoderModel(BertForSequenceClassification(config), BertMlmHead(config), TOKENIZER)


def training_step(model: CrossEncoderModel) -> Callable[[], None]:
    """A step of ranking loss and MLM over 16 pairs."""
    options = OptimiserConfig()
    optimiser, parameters = make_optimiser(model, options), list(model.parameters())
    shape = (32, 64)
    ids, masked = torch.randint(1000, 30000, shape), torch.rand(shape) < 1 / 7
    masked[:, 0] = False
    labels = torch.randint(1000, 30000, (int(masked.sum()),))

    def step() -> None:
        model.train()
        optimiser.zero_grad(set_to_none=True)
        scores, logits = model(ids, torch.zeros_like(ids), torch.ones_like(ids), masked)
        loss = ranking_loss("hinge", scores, torch.full((16,), 2)).mean()
        (loss + functional.cross_entropy(logits, labels)).backward()
        clip_gradients(parameters, options)
        optimiser.step()

    return step


def scoring(model: CrossEncoderModel) -> Callable[[], None]:
    """Scores of 32 pairs."""
    ids = torch.randint(1000, 30000, (32, 96))

    def score() -> None:
        model.eval()
        with torch.inference_mode():
            model(ids, torch.zeros_like(ids), torch.ones_like(ids))

    return score


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=8, help="timed calls of each variant (default 8)")
    repeats = parser.parse_args().repeats
    give_back_freed_memory()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = small_model()
    print("| work | matrix products | last layer | word pieces/s | ratio |\n|---|---|---|---:|---:|")
    for work, call, pieces in (
        ("training, with MLM", training_step(model), 32 * 64),
        ("scoring", scoring(model), 32 * 96),
    ):
        variants = [(library, layer) for library in LIBRARIES for layer in LAYERS]
        seconds: dict[tuple[str, str], list[float]] = {variant: [] for variant in variants}
        for _ in range(repeats + 1):  # the first is a warm-up
            for library, layer in variants:
                model.packing = LAYERS[layer]
                with mock.patch("irpretrain.models.linear.made_by_intel", return_value=LIBRARIES[library]):
                    began = time.process_time()
                    call()
                    seconds[library, layer].append(time.process_time() - began)
        medians = {variant: statistics.median(found[1:]) for variant, found in seconds.items()}
        for (library, layer), median in medians.items():
            ratio = medians["MKL", "whole"] / median
            print(f"| {work} | {library} | {layer} | {pieces / median:,.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
