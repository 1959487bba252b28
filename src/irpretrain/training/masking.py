"""Masked language modelling: which positions are predicted, and what stands there instead.

Replacement is BERT's: 80 % [MASK], 10 % a random word piece, 10 % unchanged (PROP, section 4.4.2). The draws of a
sequence depend on (seed, step, its position in the batch) only: neither on other sequences nor on padding or
accumulation. So a resumed run masks as an uninterrupted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irpretrain.config.training import MaskingConfig
from irpretrain.errors import InputError
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


class Units(NamedTuple):
    """What can be chosen: word pieces or whole words, sequence after sequence.

    Attributes:
        rows: int64 [units]; the sequence of each.
        anchors: bool [units]; whether a piece of it belongs to the anchor.
        pieces: int64 [units]; its number of word pieces.
        draws: float [units]; a uniform draw, which makes the order of choice.
    """

    rows: np.ndarray
    anchors: np.ndarray
    pieces: np.ndarray
    draws: np.ndarray


def _first(units: Units, parts: np.ndarray, quotas: np.ndarray) -> np.ndarray:
    """Choose the first `quotas` units of each part, in the order of their draws."""
    order = np.lexsort((units.draws, parts))
    sizes = np.bincount(parts, minlength=len(quotas))
    rank = np.arange(len(parts)) - (np.cumsum(sizes) - sizes)[parts[order]]
    chosen = np.zeros(len(parts), dtype=bool)
    chosen[order] = rank < quotas[parts[order]]
    return chosen


def _under_cap(units: Units, chosen: np.ndarray, most: int) -> np.ndarray:
    """Return the units up to which the chosen pieces of a sequence, in the order of the draws, are at most `most`."""
    order = np.lexsort((units.draws, units.rows))
    rows = units.rows[order]
    sums = np.cumsum(np.where(chosen, units.pieces, 0)[order])
    before = np.concatenate([[0], sums])[np.searchsorted(rows, rows)]
    kept = np.zeros(len(rows), dtype=bool)
    kept[order] = sums - before <= most
    return kept


def _skip(stream: np.random.Generator, draws: int) -> None:
    """Leave out so many of the stream's draws. Philox makes four at a time, and any four without those before."""
    stream.bit_generator.advance(draws // 4)  # type: ignore[attr-defined]
    stream.random(draws % 4)


class Masker:
    """Chooses positions to predict, and replaces what stands there.

    A share of the units, tokens or whole words, of the document or of query and document is chosen; never anything
    else. Of n units of a sequence max(1, round(ratio · n)) are chosen without replacement, as in BERT. With an anchor
    ratio the units of the anchor are counted by themselves (PHP, section 3.2.3): of m, anchor_ratio · m are chosen,
    and where that is no whole number the one above or below it at random, so that it is kept on average: an anchor is
    often a single word. With a cap, units are taken in random order until the next would exceed it.

    Args:
        options: scope, ratios, unit, cap and replacement.
        tokenizer: gives [MASK] and the word pieces that a random one is drawn from: all but special tokens and
            unused entries.
        seed: of all draws.
        width: longest sequence; fixes how many draws a sequence takes.
        name: of the random stream; two tasks in one training differ in it.
    """

    def __init__(
        self,
        options: MaskingConfig,
        tokenizer: WordPieceTokenizer,
        seed: int,
        width: int,
        name: str = "",
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
        """Return the masked batch of optimiser step `step`, counted from 0. `batch` itself is not changed.

        Args:
            batch: the step's sequences, or neighbouring ones of them.
            step: names the draws.
            before: sequences of the step before the first of `batch`.
        """
        sequences, positions = batch.input_ids.shape
        stream = generator(self._seed, "masking", f"{self._name}/{step}")
        _skip(stream, before * DRAWS * self._width)
        draws = stream.random((sequences, DRAWS, self._width))[:, :, :positions]
        chosen = self._choose_positions(batch, draws[:, 0])
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

    def _choose_positions(self, batch: Batch, draws: np.ndarray) -> np.ndarray:
        """Return which positions to predict, bool [sequences, positions], given one uniform draw a position."""
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
        """Return which units are chosen, given a draw for each sequence."""
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
