"""Masked language modelling: which positions are predicted, and what stands there instead.

A policy chooses positions; how they are replaced is common to all policies (BERT: 80 % [MASK], 10 % a random
word piece, 10 % unchanged; PROP, section 4.4.2). The draws of a sequence depend on (seed, step, its position in
the batch) only: neither on other sequences nor on padding or accumulation. So a resumed run masks as an
uninterrupted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from irpretrain.config.training import MaskingConfig
from irpretrain.randomness import generator
from irpretrain.text.word_pieces import WordPieceTokenizer
from irpretrain.training.batches import Batch

DRAWS = 3
"""Uniform draws a position: order of choice, kind of replacement, random word piece."""


@dataclass
class Masked:
    """A masked batch.

    Attributes:
        input_ids: int64 [sequences, positions], with replacements.
        chosen: bool [sequences, positions]; the positions to predict.
        labels: int64 [chosen positions], the original word pieces in row-major order.
    """

    input_ids: np.ndarray
    chosen: np.ndarray
    labels: np.ndarray


class MaskingPolicy(Protocol):
    """Chooses the positions to predict."""

    def choose(self, batch: Batch, draws: np.ndarray) -> np.ndarray:
        """Return bool [sequences, positions], given one uniform draw a position."""


class DocumentMasking:
    """A share of the document's units, tokens or whole words, and never anything else.

    In a sequence with n units, max(1, round(ratio · n)) of them are chosen without replacement, as in BERT. With a
    cap, words are taken in random order until the next would exceed it.
    """

    def __init__(self, options: MaskingConfig) -> None:
        self._options = options

    def choose(self, batch: Batch, draws: np.ndarray) -> np.ndarray:
        """See `MaskingPolicy.choose`."""
        rows, columns = np.nonzero(batch.document)
        begins = np.ones(len(rows), dtype=bool)
        if self._options.unit == "word":
            # The first piece of a document begins a unit, even where the document begins inside a word.
            begins = batch.word_starts[rows, columns].copy()
            begins[np.flatnonzero(np.diff(rows, prepend=-1))] = True
        unit_of = np.cumsum(begins) - 1
        unit_rows = rows[begins]
        chosen_units = self._units(unit_rows, np.bincount(unit_of), draws[rows[begins], columns[begins]])
        chosen = np.zeros_like(batch.document)
        chosen[rows, columns] = chosen_units[unit_of]
        return chosen

    def _units(self, rows: np.ndarray, pieces: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Choose units, given the sequence, the number of word pieces and the draw of each."""
        options = self._options
        order = np.lexsort((draws, rows))  # rows ascending already: a shuffle within each sequence
        units = np.bincount(rows)
        firsts = np.cumsum(units) - units
        rank = np.arange(len(rows)) - firsts[rows]
        wanted = (
            np.maximum(1, np.floor(units * options.ratio + 0.5))
            if options.ratio > 0
            else np.zeros(len(units))
        )
        taken = rank < wanted[rows]
        if options.most is not None:
            sums = np.cumsum(pieces[order])
            before = np.concatenate([[0], sums])[firsts]
            taken &= sums - before[rows] <= options.most
        chosen = np.zeros(len(rows), dtype=bool)
        chosen[order] = taken
        return chosen


class Masker:
    """Applies a policy and the common replacement.

    Args:
        options: ratio, unit, cap and replacement.
        tokenizer: gives [MASK] and the word pieces that a random one is drawn from: all but special tokens and
            unused entries.
        seed: of all draws.
        width: longest sequence; fixes how many draws a sequence takes.
        policy: which positions; document masking by default.
        name: of the random stream; two tasks in one training differ in it.
    """

    def __init__(
        self,
        options: MaskingConfig,
        tokenizer: WordPieceTokenizer,
        seed: int,
        width: int,
        policy: MaskingPolicy | None = None,
        name: str = "",
    ) -> None:
        self._options, self._seed, self._width, self._name = options, seed, width, name
        self._mask = tokenizer.mask_token_id
        self._words = np.flatnonzero(~tokenizer.special())
        self._policy = policy or DocumentMasking(options)

    def apply(self, batch: Batch, step: int) -> Masked:
        """Return the masked batch of optimiser step `step`, counted from 0. `batch` itself is not changed."""
        sequences, positions = batch.input_ids.shape
        stream = generator(self._seed, "masking", f"{self._name}/{step}")
        draws = stream.random((sequences, DRAWS, self._width))[:, :, :positions]
        chosen = self._policy.choose(batch, draws[:, 0])
        kind, word = draws[:, 1][chosen], draws[:, 2][chosen]
        labels = batch.input_ids[chosen]
        by_mask = self._options.replace_by_mask
        replaced = labels.copy()
        replaced[kind < by_mask] = self._mask
        at_random = (kind >= by_mask) & (kind < by_mask + self._options.replace_by_random)
        replaced[at_random] = self._words[(word[at_random] * len(self._words)).astype(np.int64)]
        input_ids = batch.input_ids.copy()
        input_ids[chosen] = replaced
        return Masked(input_ids, chosen, labels)
