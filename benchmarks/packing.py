"""Sequences laid end to end against padded ones, on batches of real lengths, on one CPU thread.

    python benchmarks/packing.py [--results results] [--layers 4] [--hidden 384] [--precision bf16] [--dropout 0.1]

The lengths are those of a finished run of the default: groups of ROP and of ARES, SQuAD's paragraphs with their
questions, each cut as `config.yaml` cuts them and at 256 and 512; in random order, as in training, and sorted, as in
re-ranking. A random encoder of the given size computes 32 sequences at a time: scores alone; or scores and a seventh of
the positions for MLM, with gradients. Padded and packed take turns on the same batches. Prints the share of positions
that are padding, word pieces a second of processor time (median of the batches), and the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

from irpretrain.config.training import ComputeConfig, Packing
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.mlm_heads import BertMlmHead
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.compute import autocast, reproducible
from irpretrain.training.group_table import GroupTable

ROWS = 32
MANIFEST = Path(__file__).resolve().parents[1] / "resources/embedded.yaml"
TOKENIZER = installed_path(read_manifest(MANIFEST).asset("minilm")) or Path()


def lengths_of_groups(results: Path, objective: str, steps: int, cut: int) -> list[np.ndarray]:
    """The lengths of the sequences of some steps of 16 pairs."""
    stores = sorted(path for path in (results / "tokens").glob("*/*") if path.is_dir())
    store = TokenStore.open(stores)
    tokenizer = load_tokenizer(results / "inputs" / "minilm")
    table = GroupTable(results / "groups" / "pretraining" / f"{objective}.parquet", store, ROWS // 2, 1, "b")
    builder = BatchBuilder(store, tokenizer, cut, 16)
    return [builder.build(table.groups(step)).attention_mask.sum(1) for step in range(steps)]


def lengths_of_paragraphs(results: Path, batches: int, cut: int) -> list[np.ndarray]:
    """The lengths of questions of 13 word pieces with SQuAD's paragraphs."""
    store = TokenStore.open([results / "tokens" / "squad-train" / "0"])
    draw = np.random.default_rng(1)
    drawn = draw.choice(store.lengths, (batches, ROWS)) + 13 + 3  # [CLS] and two [SEP]
    return list(np.minimum(drawn, cut))


def make_model(layers: int, hidden: int, dropout: float) -> CrossEncoderModel:
    options: dict[str, Any] = {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // 32,
        "intermediate_size": 4 * hidden,
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout,
        "num_labels": 1,
    }
    config = BertConfig(**options)
    network = BertForSequenceClassification._from_config(config, attn_implementation="sdpa")
    return CrossEncoderModel(network, BertMlmHead(config), TOKENIZER)


def inputs(lengths: np.ndarray) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    mask = (np.arange(lengths.max())[None] < lengths[:, None]).astype(np.int64)
    ids = torch.randint(1000, 30000, mask.shape)
    masked = (torch.rand(ids.shape) < 1 / 7) & torch.from_numpy(mask).bool()
    return ids, torch.zeros_like(ids), torch.from_numpy(mask), masked


def score(model: CrossEncoderModel, batch: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    model.eval()
    with torch.inference_mode():
        model(*batch[:3])


def train(model: CrossEncoderModel, batch: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    model.train().zero_grad(set_to_none=True)
    scores, logits = model(*batch)
    assert logits is not None
    (scores.square().sum() + logits.float().logsumexp(1).mean()).backward()


def cases(results: Path, batches: int, cuts: list[int]) -> Iterator[tuple[str, list[np.ndarray]]]:
    for objective in ("rop", "ares-simple"):
        if (results / "groups" / "pretraining" / f"{objective}.parquet").exists():
            yield f"groups of {objective}, cut at 64", lengths_of_groups(results, objective, batches, 64)
    for cut in cuts:
        found = lengths_of_paragraphs(results, batches, cut)
        yield f"SQuAD, cut at {cut}", found
        yield f"SQuAD, cut at {cut}, sorted", np.split(np.sort(np.concatenate(found)), batches)


def compare(
    model: CrossEncoderModel, work: Callable[..., None], lengths: list[np.ndarray], options: ComputeConfig
) -> dict[Packing, float]:
    """Word pieces a second of processor time, padded and packed, which take turns; medians of the batches."""
    rates: dict[Packing, list[float]] = {"off": [], "on": []}
    for number, some in enumerate([lengths[0], *lengths]):
        batch = inputs(some)
        for packing, found in rates.items():
            model.packing = packing
            with autocast(torch.device("cpu"), options):
                began = time.process_time()
                work(model, batch)
                if number:  # the first is a warm-up
                    found.append(some.sum() / (time.process_time() - began))
    return {packing: statistics.median(found) for packing, found in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="of a run of the default")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--dropout", type=float, default=0.0, help="of all layers and of attention")
    parser.add_argument("--cuts", type=int, nargs="*", default=[96, 256, 512], help="of SQuAD's sequences")
    parser.add_argument("--batches", type=int, default=6, help="of each kind (default 6)")
    given = parser.parse_args()
    options = ComputeConfig(precision=given.precision, device="cpu")
    torch.manual_seed(0)
    model = make_model(given.layers, given.hidden, given.dropout)
    print(
        "| work | lengths | padding | padded, pieces/s | packed, pieces/s | ratio |\n|---|---|---:|---:|---:|---:|"
    )
    with reproducible(options):
        for name, lengths in cases(given.results, given.batches, given.cuts):
            padding = 1 - sum(int(one.sum()) for one in lengths) / sum(
                one.max() * len(one) for one in lengths
            )
            for title, work in (("scoring", score), ("training, with MLM", train)):
                if name.endswith("sorted") and work is train:
                    continue
                found = compare(model, work, lengths, options)
                row = f"| {title} | {name} | {padding:.0%} | {found['off']:,.0f} | {found['on']:,.0f} "
                print(f"{row}| {found['on'] / found['off']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
