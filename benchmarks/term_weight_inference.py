"""Weights of passages on one CPU thread: batches of equal lengths against padding without sorting.

    python benchmarks/term_weight_inference.py [--layers 4] [--hidden 384] [--precision bf16] [--every 4]

A random encoder weights a block of passages with as many word pieces as MS MARCO's have on average (75, of 56 words;
log-normal, cut at 128). Three ways take turns on the same passages: sorted by length as the workflow does it; batches
in the order of the passages, padded to their own longest, as a Hugging Face pipeline does; and padded to 128, as the
released code did. All make word pieces and bring them together with words. `--every 4` runs the encoder on every
fourth batch and counts its time by the positions of all. Prints word pieces a second of processor time (median of the
repeats), the share of positions that are padding, the ratio to the sorted way, and what 8.8 million passages cost.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor
from transformers import BertConfig, BertModel

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.models.encoder_batches import EncoderBatch
from irpretrain.models.length_batches import LengthBatch
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.infer import WeightPredictor, Window
from irpretrain.text.texts import Text
from irpretrain.training.compute import reproducible

MSMARCO = 8_841_823
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(5000))]
LENGTH = 128
Weigh = Callable[[TermWeightRegressor, EncoderBatch], Tensor]
"""`TermWeightRegressor.weights`."""


def write_encoder(folder: Path, layers: int, hidden: int) -> None:
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * hidden,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer = Tokenizer(WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def made_passages(number: int) -> list[Text]:
    draw = np.random.default_rng(1)
    lengths = np.clip(draw.lognormal(np.log(70), 0.4, number), 5, 200).astype(int)
    words = draw.integers(0, 5000, (number, 200))
    return [
        Text(0, position, str(position), " ".join(f"w{word}" for word in words[position, :length]))
        for position, length in enumerate(lengths)
    ]


def unsorted_batches(whole: bool) -> object:
    """`WeightPredictor._batches` in the order of the passages, padded to the batch's longest or to LENGTH."""

    def batches(self: WeightPredictor, sequences: Sequence[Window]) -> Iterator[LengthBatch[Window]]:
        rows = self.batch_tokens // LENGTH
        given = list(sequences)
        for first in range(0, len(given), rows):
            batch = given[first : first + rows]
            longest = LENGTH if whole else max(one.end - one.start for one in batch) + 2
            yield LengthBatch(longest, len(batch), batch, longest * len(batch))

    return batches


class Stopwatch:
    """Runs the encoder on every n-th batch, and tells what all would have taken."""

    def __init__(self, every: int) -> None:
        self.every, self.calls = every, 0
        self.seconds, self.measured, self.positions = 0.0, 0, 0

    def wrap(self, weigh: Weigh) -> Weigh:
        """`TermWeightRegressor.weights`, with zeros for the batches that are passed over."""

        def timed(model: TermWeightRegressor, batch: EncoderBatch) -> Tensor:
            self.calls += 1
            self.positions += batch.input_ids.size
            if self.calls % self.every:
                return torch.zeros(batch.input_ids.shape)
            start = time.process_time()
            weights = weigh(model, batch)
            self.seconds += time.process_time() - start
            self.measured += batch.input_ids.size
            return weights

        return timed

    def scaled(self, whole: float) -> float:
        """Seconds of the whole, of which `whole` were taken."""
        return whole - self.seconds + self.seconds * self.positions / self.measured


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--block", type=int, default=8192)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    given = parser.parse_args()
    inference = {"batch_tokens": given.batch_tokens, "compute": {"precision": given.precision}}
    options = TermWeightsConfig(label="b", dataset="b", max_length=LENGTH, inference=inference)
    texts = made_passages(given.block)
    with tempfile.TemporaryDirectory() as name, reproducible(options.inference.compute) as device:
        folder = Path(name)
        write_encoder(folder, given.layers, given.hidden)
        TermWeightRegressor.from_encoder(folder).save(folder / "model")
        predictor = WeightPredictor.open(folder / "model", options, TextConfig(words="alphanumeric"), device)
        ways = {
            "sorted by length": WeightPredictor._batches,
            "unsorted, to the longest": unsorted_batches(whole=False),
            f"unsorted, to {LENGTH}": unsorted_batches(whole=True),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        padding = {}
        for _ in range(given.repeats):
            for way, batches in ways.items():
                watch = Stopwatch(given.every)
                weights = watch.wrap(TermWeightRegressor.weights)
                with (
                    mock.patch.object(WeightPredictor, "_batches", batches),
                    mock.patch.object(TermWeightRegressor, "weights", weights),
                ):
                    start = time.process_time()
                    _, counts = predictor.rows(texts)
                    seconds[way].append(watch.scaled(time.process_time() - start))
                used = counts["word_pieces"] + 2 * counts["sequences"]
                padding[way] = 1 - used / counts["positions"]
    best = statistics.median(seconds["sorted by length"])
    print(
        f"{len(texts)} passages, {counts['word_pieces']:,} word pieces, device {device}, torch {torch.__version__}"
    )
    for way, times in seconds.items():
        median = statistics.median(times)
        hours = median / len(texts) * MSMARCO / 3600
        print(
            f"{way:26} {counts['word_pieces'] / median:8,.0f} word pieces/s  padding {padding[way]:4.0%}  "
            f"time {median / best:4.2f}  8.8M passages: {hours:,.0f} h"
        )


if __name__ == "__main__":
    main()
