"""Masked language modelling: which positions are predicted, and what replaces their word pieces.

Replacement is BERT's: 80 % [MASK], 10 % a random word piece, 10 % unchanged (PROP, section 4.4.2). The draws of a
sequence depend on (seed, step, its position in the batch) only: neither on other sequences nor on padding or
accumulation. So a resumed run masks as an uninterrupted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.randomness import generator
from irpretrain.text.word_pieces import WordPieceTokenizer
from irpretrain.training.batches import Batch

# Shares of the chosen pieces that become [MASK], or a random piece; the others stay (Devlin et al., 2019, section 3.1).
BY_MASK, BY_RANDOM = 0.8, 0.1

# Uniform draws a position: order of choice, kind of replacement, random word piece.
DRAWS = 3


@dataclass
class Masked:
    input_ids: np.ndarray  # int64 [sequences, positions], with replacements
    chosen: np.ndarray  # bool [sequences, positions]; the positions to predict
    labels: np.ndarray  # int64 [chosen positions], the original word pieces in row-major order


class Units(NamedTuple):
    """What can be chosen: word pieces or whole words, sequence after sequence."""

    rows: np.ndarray  # int64 [units]; the sequence of each
    anchors: np.ndarray  # bool [units]; whether a piece of it belongs to the anchor
    pieces: np.ndarray  # int64 [units]; its number of word pieces
    draws: np.ndarray  # float [units]; a uniform draw, which makes the order of choice


def _first(units: Units, parts: np.ndarray, quotas: np.ndarray) -> np.ndarray:
    order = np.lexsort((units.draws, parts))
    sizes = np.bincount(parts, minlength=len(quotas))
    rank = np.arange(len(parts)) - (np.cumsum(sizes) - sizes)[parts[order]]
    chosen = np.zeros(len(parts), dtype=bool)
    chosen[order] = rank < quotas[parts[order]]
    return chosen


def _under_cap(units: Units, chosen: np.ndarray, most: int) -> np.ndarray:
    order = np.lexsort((units.draws, units.rows))
    rows = units.rows[order]
    sums = np.cumsum(np.where(chosen, units.pieces, 0)[order])
    before = np.concatenate([[0], sums])[np.searchsorted(rows, rows)]
    retained = np.zeros(len(rows), dtype=bool)
    retained[order] = sums - before <= most
    return retained


def _skip(stream: np.random.Generator, draws: int) -> None:
    # Philox makes four draws at a time, and any four without those before.
    stream.bit_generator.advance(draws // 4)  # type: ignore[attr-defined]
    stream.random(draws % 4)


class Masker:
    """Chooses positions of the document, or of query and document, and replaces their word pieces.

    Of n units of a sequence, tokens or whole words, max(1, round(ratio · n)) are chosen without replacement, as in
    BERT. With an anchor ratio the m units of the anchor are counted by themselves (PHP, section 3.2.3): anchor_ratio ·
    m are chosen, rounded up or down at random so that the mean is exact: an anchor is often a single word. With a cap,
    units are taken in random order until the next would exceed it.
    """

    def __init__(
        self,
        options: MaskingConfig,  # scope, ratios, unit, cap and replacement
        # Gives [MASK] and the word pieces that a random one is drawn from: all but special tokens and unused
        # entries.
        tokenizer: WordPieceTokenizer,
        seed: int,  # of all draws
        width: int,  # longest sequence; fixes how many draws a sequence takes
        name: str = "",  # of the random stream; two tasks in one training differ in it
    ) -> None:
        self._options, self._seed, self._width, self._name = options, seed, width, name
        if tokenizer.mask_token_id is None:
            raise InputError(
                tokenizer.directory,
                "the vocabulary has no mask token, so no word piece can be masked",
                remedy="Set mlm_weight of all tasks to 0, or give another encoder.",
            )
        self._mask = tokenizer.mask_token_id
        self._words = np.flatnonzero(~tokenizer.special())

    def apply(self, batch: Batch, step: int, before: int = 0) -> Masked:
        """Return the masked copy of the batch of optimiser step `step`, counted from 0.

        Args:
            before: sequences of the step before the first of `batch`.
        """
        sequences, positions = batch.input_ids.shape
        stream = generator(self._seed, "masking", f"{self._name}/{step}")
        _skip(stream, before * DRAWS * self._width)
        draws = stream.random((sequences, DRAWS, self._width))[:, :, :positions]
        chosen = self._choose_positions(batch, draws[:, 0])
        kind, word = draws[:, 1][chosen], draws[:, 2][chosen]
        labels = batch.input_ids[chosen]
        replaced = labels.copy()
        replaced[kind < BY_MASK] = self._mask
        at_random = (kind >= BY_MASK) & (kind < BY_MASK + BY_RANDOM)
        replaced[at_random] = self._words[(word[at_random] * len(self._words)).astype(np.int64)]
        input_ids = batch.input_ids.copy()
        input_ids[chosen] = replaced
        return Masked(input_ids, chosen, labels)

    def _choose_positions(self, batch: Batch, draws: np.ndarray) -> np.ndarray:
        options = self._options
        inside = batch.document if options.scope == "document" else batch.document | batch.query
        rows, columns = np.nonzero(inside)
        begins = np.ones(len(rows), dtype=bool)
        if options.unit == "word":
            # A query or document that begins inside a word begins with a unit of its own.
            side = 2 * rows + batch.document[rows, columns]
            begins = batch.word_starts[rows, columns] | (np.diff(side, prepend=-1) != 0)
        unit_of = np.cumsum(begins) - 1
        anchors = np.zeros(int(begins.sum()), dtype=bool)
        if options.anchor_ratio is not None:
            anchors[unit_of[batch.anchors[rows, columns]]] = True
        units = Units(rows[begins], anchors, np.bincount(unit_of), draws[rows[begins], columns[begins]])
        # [CLS] is never chosen, so its draw is free for the sequence as a whole.
        chosen = np.zeros_like(inside)
        chosen[rows, columns] = self._choose_units(units, draws[:, 0])[unit_of]
        return chosen

    def _choose_units(self, units: Units, rounding: np.ndarray) -> np.ndarray:
        options, sequences = self._options, len(rounding)
        others = np.bincount(units.rows[~units.anchors], minlength=sequences)
        quotas = np.zeros((sequences, 2))  # of the others, of the anchor
        if options.ratio > 0:
            quotas[:, 0] = np.maximum(1, np.floor(others * options.ratio + 0.5))
        if options.anchor_ratio is not None:
            linking = np.bincount(units.rows[units.anchors], minlength=sequences)
            quotas[:, 1] = np.floor(linking * options.anchor_ratio + rounding)
        chosen = _first(units, 2 * units.rows + units.anchors, quotas.ravel())
        return chosen if options.most is None else chosen & _under_cap(units, chosen, options.most)
