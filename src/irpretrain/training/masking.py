"""Masked language modelling: which positions are predicted, and what replaces their word pieces.

Replacement is BERT's: 80 % [MASK], 10 % a random word piece, 10 % unchanged (PROP, section 4.4.2). The draws of a
sequence depend on (seed, step, its position in the batch) only: neither on other sequences nor on padding or
accumulation. So a resumed run masks as an uninterrupted one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.randomness import stream_key
from irpretrain.text.draws import uniform_at, write_uniforms
from irpretrain.text.word_pieces import WordPieceTokenizer
from irpretrain.training.batches import Batch

# Shares of the selected pieces that become [MASK], or a random piece; the others stay (Devlin et al., 2019,
# section 3.1).
MASK_SHARE, RANDOM_SHARE = 0.8, 0.1

# Uniform draws a position: order of choice, kind of replacement, random word piece.
DRAWS_PER_POSITION = 3


@dataclass
class MaskedBatch:
    input_ids: np.ndarray  # int64 [sequences, positions], with replacements
    is_selected: np.ndarray  # bool [sequences, positions]; the positions to predict
    labels: np.ndarray  # int64 [selected positions], the original word pieces in row-major order


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
        max_length: int,  # longest sequence; fixes how many draws a sequence takes
        stream: str = "",  # of the random stream; two tasks in one training differ in it
    ) -> None:
        self._options, self._seed, self._max_length, self._stream = options, seed, max_length, stream
        if tokenizer.mask_token_id is None:
            raise InputError(
                tokenizer.directory,
                "the vocabulary has no mask token, so no word piece can be masked",
                remedy="Set mlm_weight of all tasks to 0, or give another encoder.",
            )
        self._mask_id = tokenizer.mask_token_id
        self._random_pieces = np.flatnonzero(~tokenizer.special())

    def apply(self, batch: Batch, step: int, first_sequence: int = 0) -> MaskedBatch:
        """Return the masked copy of the batch of optimiser step `step`, counted from 0.

        Args:
            first_sequence: sequences of the step before the first of `batch`.
        """
        options = self._options
        key_0, key_1 = stream_key(self._seed, "masking", f"{self._stream}/{step}")
        draws = _Draws(np.uint64(key_0), np.uint64(key_1), first_sequence, self._max_length)
        choice = _Choice(
            options.scope == "sequence",
            options.unit == "word",
            options.ratio,
            -1.0 if options.anchor_ratio is None else options.anchor_ratio,
            -1 if options.most is None else options.most,
        )
        is_selected = np.zeros(batch.input_ids.shape, bool)
        masks = batch.query_mask, batch.document_mask, batch.anchor_mask, batch.word_starts
        _select_positions(*masks, choice, draws, is_selected)
        input_ids = batch.input_ids.copy()
        replacement = self._mask_id, self._random_pieces, MASK_SHARE, MASK_SHARE + RANDOM_SHARE
        labels = _replace_pieces(input_ids, is_selected, *replacement, draws)
        return MaskedBatch(input_ids, is_selected, labels)


class _Choice(NamedTuple):
    """What is chosen, of MaskingConfig, in types for compiled code."""

    includes_query: bool  # of the query too
    whole_words: bool  # whole words
    ratio: float
    anchor_ratio: float  # negative if there is none
    max_pieces: int  # negative if there is no cap


class _Draws(NamedTuple):
    """The uniform draws of a step: of each sequence, for each of DRAWS kinds, one a position."""

    # Key of the stream.
    key_0: np.uint64
    key_1: np.uint64
    first_sequence: int  # sequences of the step before the batch
    max_length: int  # positions that a sequence has draws for


@compiled
def _first_draw(draws: _Draws, row: int, kind: int) -> int:
    return ((draws.first_sequence + row) * DRAWS_PER_POSITION + kind) * draws.max_length


@compiled
def _select_positions(
    query_mask: np.ndarray,
    document_mask: np.ndarray,
    anchor_mask: np.ndarray,
    word_starts: np.ndarray,
    choice: _Choice,
    draws: _Draws,
    is_selected: np.ndarray,
) -> None:
    sequence_count, position_count = is_selected.shape
    # Of a sequence: its positions that can be selected, and among them where each unit begins and the last ends.
    piece_positions, unit_bounds = np.empty(position_count, np.int64), np.empty(position_count + 1, np.int64)
    is_anchor_unit, uniforms = np.empty(position_count, np.bool_), np.empty(position_count)
    order, scratch = np.empty(position_count, np.int64), np.empty(position_count + 1, np.int64)
    for row in range(sequence_count):
        piece_count = unit_count = 0
        in_document = False
        for position in range(position_count):
            if not (document_mask[row, position] or (choice.includes_query and query_mask[row, position])):
                continue
            # A query or document that begins inside a word begins with a unit of its own.
            if (
                not choice.whole_words
                or word_starts[row, position]
                or piece_count == 0
                or document_mask[row, position] != in_document
            ):
                unit_bounds[unit_count], is_anchor_unit[unit_count] = piece_count, False
                unit_count += 1
            in_document = document_mask[row, position]
            if choice.anchor_ratio >= 0 and anchor_mask[row, position]:
                is_anchor_unit[unit_count - 1] = True
            piece_positions[piece_count] = position
            piece_count += 1
        unit_bounds[unit_count] = piece_count
        # The draw of a unit is that of its first piece.
        last_position = piece_positions[unit_bounds[unit_count - 1]] if unit_count else 0
        write_uniforms(draws.key_0, draws.key_1, _first_draw(draws, row, 0), uniforms[: last_position + 1])
        # [CLS] is never selected, so its draw is free for the sequence as a whole.
        rounding_draw = uniforms[0]
        anchor_count = 0
        for unit in range(unit_count):
            anchor_count += is_anchor_unit[unit]
            uniforms[unit] = uniforms[piece_positions[unit_bounds[unit]]]
        other_quota = (
            max(1.0, np.floor((unit_count - anchor_count) * choice.ratio + 0.5)) if choice.ratio > 0 else 0.0
        )
        anchor_quota = 0.0
        if choice.anchor_ratio >= 0:
            anchor_quota = np.floor(anchor_count * choice.anchor_ratio + rounding_draw)
        _sort_draws(uniforms[:unit_count], order, scratch)
        others_taken = anchors_taken = pieces_taken = 0
        for rank in range(unit_count):
            unit = order[rank]
            if is_anchor_unit[unit]:
                if anchors_taken >= anchor_quota:
                    continue
                anchors_taken += 1
            else:
                if others_taken >= other_quota:
                    continue
                others_taken += 1
            pieces_taken += unit_bounds[unit + 1] - unit_bounds[unit]
            if choice.max_pieces >= 0 and pieces_taken > choice.max_pieces:
                break
            for piece in range(unit_bounds[unit], unit_bounds[unit + 1]):
                is_selected[row, piece_positions[piece]] = True


@compiled
def _sort_draws(draws: np.ndarray, order: np.ndarray, bucket_ends: np.ndarray) -> None:
    """Write the indices of uniform draws in [0, 1) in ascending order, equal draws in their own order."""
    # They fall evenly into as many buckets as there are draws, so that sorting within buckets takes linear time.
    size = len(draws)
    bucket_ends[: size + 1] = 0
    for index in range(size):
        bucket_ends[int(draws[index] * size) + 1] += 1
    for bucket in range(size):
        bucket_ends[bucket + 1] += bucket_ends[bucket]
    for index in range(size):
        bucket = int(draws[index] * size)
        order[bucket_ends[bucket]] = index
        bucket_ends[bucket] += 1
    for place in range(1, size):
        index, slot = order[place], place
        while slot > 0 and draws[order[slot - 1]] > draws[index]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = index


@compiled
def _replace_pieces(
    input_ids: np.ndarray,
    is_selected: np.ndarray,
    mask_id: int,
    random_pieces: np.ndarray,  # word pieces that a random one is drawn from
    mask_share: float,
    changed_share: float,
    draws: _Draws,
) -> np.ndarray:
    """Replace the selected word pieces in place; return them as they were, in row-major order."""
    labels = np.empty(is_selected.sum(), np.int64)
    labels_written = 0
    for row in range(len(is_selected)):
        for position in range(is_selected.shape[1]):
            if not is_selected[row, position]:
                continue
            labels[labels_written] = input_ids[row, position]
            labels_written += 1
            action_draw = uniform_at(draws.key_0, draws.key_1, _first_draw(draws, row, 1) + position)
            if action_draw < mask_share:
                input_ids[row, position] = mask_id
            elif action_draw < changed_share:
                piece_draw = uniform_at(draws.key_0, draws.key_1, _first_draw(draws, row, 2) + position)
                input_ids[row, position] = random_pieces[int(piece_draw * len(random_pieces))]
    return labels
