"""Words and word pieces: their alignment, and texts as sequences with a target per word.

How word pieces, windows and words correspond: a word's weight is that of its first word piece (DeepCT, section 3.1).

Words are those of `irpretrain.text.words`, pieces the encoder's, matched by characters: the first piece of a word is
the first one that ends after the word begins and begins before the word ends. Words of one piece share it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import TERM_TARGETS
from irpretrain.foundation.errors import IntegrityError
from irpretrain.foundation.randomness import generator
from irpretrain.models.length_batches import pad_sequences
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.word_pieces import Pieces
from irpretrain.text.words import WordSpans, word_spans

# First piece of a word that has none: the tokenizer drops its characters.
NO_PIECE = -1

# Target of a piece that is not part of the loss.
MASKED_OUT = np.float32(np.nan)


class WordWeights(NamedTuple):
    values: np.ndarray  # float32 [words], the model's output, infinities too; 0 if nothing was read
    read: np.ndarray  # bool [words], whether the model has read the word


def first_pieces(words: WordSpans, pieces: Pieces) -> np.ndarray:
    """Return the first piece of each word (int32 [words]), NO_PIECE if there is none."""
    first_piece = np.searchsorted(pieces.ends, words.starts, "right").astype(np.int32)
    has_piece = first_piece < len(pieces.ids)
    has_piece[has_piece] = pieces.starts[first_piece[has_piece]] < words.ends[has_piece]
    first_piece[~has_piece] = NO_PIECE
    return first_piece


def piece_targets(words: WordSpans, pieces: Pieces, targets: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the target of each piece (float32 [pieces]) from those of words (float32 [words]), and words without
    piece.

    The first piece of a word has its target, or the largest of the words that share it. Other pieces of a word, and
    those that continue something else, are MASKED_OUT. A piece outside words (punctuation) has target 0, as in the
    released code.
    """
    first_piece = first_pieces(words, pieces)
    piece_values = np.where(pieces.word_starts & ~_inside(words, pieces), np.float32(0), MASKED_OUT)
    has_piece = first_piece != NO_PIECE
    piece_values[first_piece[has_piece]] = MASKED_OUT
    np.fmax.at(piece_values, first_piece[has_piece], targets[has_piece])
    return piece_values, int((~has_piece).sum())


def _inside(words: WordSpans, pieces: Pieces) -> np.ndarray:
    word_index = np.searchsorted(words.ends, pieces.starts, "right")
    is_inside = word_index < len(words.words)
    is_inside[is_inside] = words.starts[word_index[is_inside]] < pieces.ends[is_inside]
    return is_inside


def windows(piece_count: int, window_pieces: int, overlap: int | None) -> list[tuple[int, int]]:
    """Return (first, end) of windows of `window_pieces` pieces over `piece_count`; neighbours share `overlap` pieces.

    `overlap` None: one window at the beginning. The last window ends with the text and may share more.
    """
    if piece_count <= window_pieces or overlap is None:
        return [(0, min(piece_count, window_pieces))]
    starts = list(range(0, piece_count - window_pieces, window_pieces - overlap))
    return [*((start, start + window_pieces) for start in starts), (piece_count - window_pieces, piece_count)]


def word_weights(
    first_piece: np.ndarray,  # first piece of each word
    piece_count: int,
    windows: Sequence[tuple[int, int]],  # windows of the text; of equally far ones the first counts
    weights: Sequence[np.ndarray],  # of each window's pieces, float32
) -> WordWeights:
    """Return the weights of the words of a text, each from the window where the word is farthest from an edge."""
    word_indices = np.arange(len(first_piece))
    weight_table = np.zeros((len(windows), len(first_piece)), np.float32)
    margins = np.full((len(windows), len(first_piece)), -1, np.int32)
    for row, ((start, end), values) in enumerate(zip(windows, weights, strict=True)):
        in_window = (first_piece >= start) & (first_piece < end)
        piece = first_piece[in_window]
        weight_table[row, in_window] = values[piece - start]
        left_margin = piece - start if start > 0 else np.full(len(piece), piece_count)
        right_margin = end - 1 - piece if end < piece_count else np.full(len(piece), piece_count)
        margins[row, in_window] = np.minimum(left_margin, right_margin)
    has_weight: np.ndarray = margins.max(0) >= 0
    return WordWeights(weight_table[margins.argmax(0), word_indices], has_weight)


# Texts as sequences of word pieces with targets, and batches of them, for the training of a token regression.
#
# Held as flat arrays, 8 bytes per word piece, so that MS MARCO's 0.5 million training passages take 0.3 GB.


ROWS_AT_ONCE = 256


def _pieces_with_targets(
    path: str | Path, encoder: EncoderPieces, text: TextConfig, document_ids: Collection[str] | None
) -> Iterator[tuple[Pieces, np.ndarray, int]]:
    """Yield the pieces of each chosen text of a TERM_TARGETS table, their targets, and how many words have no piece."""
    for batch in TERM_TARGETS.stream(path, rows=ROWS_AT_ONCE):
        names = batch.column("document_id").to_pylist()
        rows = [row for row, name in enumerate(names) if document_ids is None or name in document_ids]
        contents = [batch.column("text")[row].as_py() for row in rows]
        for row, content, pieces in zip(rows, contents, encoder.pieces(contents), strict=True):
            words = word_spans(content, text.word_kind)
            word_targets = batch.column("targets")[row].values.to_numpy()
            if len(word_targets) != len(words.words):
                fault = f"{names[row]} has {len(words.words)} words and {len(word_targets)} targets"
                remedy = "Delete it and run the workflow again; it was made with other words."
                raise IntegrityError(path, fault, remedy=remedy)
            yield pieces, *piece_targets(words, pieces, word_targets)


@dataclass(frozen=True)
class TokenBatch:
    # input_ids, attention_mask: int64 [sequences, positions].
    input_ids: np.ndarray
    attention_mask: np.ndarray
    targets: np.ndarray  # float32 [sequences, positions], MASKED_OUT where there is none


@dataclass
class TrainingSequences:
    """The training sequences of a table of targets, in the order of a fresh permutation every epoch."""

    encoder: EncoderPieces
    longest: int  # no sequence is longer, special tokens included
    # ids, targets: int32 and float32 [word pieces of all texts], end to end.
    ids: np.ndarray
    targets: np.ndarray
    spans: np.ndarray  # int64 [sequences, 2]; first piece and end of each sequence
    # Texts, sequences, words without a piece, and pieces beyond the first window where only that is read.
    counts: dict[str, int]
    _epoch: int = field(default=-1, init=False)
    _order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @classmethod
    def read(
        cls,
        path: str | Path,
        encoder: EncoderPieces,
        options: TermWeightsConfig,
        text: TextConfig,  # what a word is; as the table was made with
        document_ids: Collection[str] | None = None,  # identifiers of the texts to take; None for all
    ) -> Self:
        """Read TERM_TARGETS and cut the texts into windows; IntegrityError if targets and words differ in number."""
        ids, targets, spans = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], list[tuple[int, int]]()
        counts = dict.fromkeys(("texts", "sequences", "words_without_piece", "pieces_not_read"), 0)
        piece_count, window_pieces = 0, encoder.room(options.max_length)
        for pieces, text_targets, without_piece in _pieces_with_targets(path, encoder, text, document_ids):
            text_windows = windows(len(text_targets), window_pieces, options.window_overlap)
            spans += [(piece_count + start, piece_count + end) for start, end in text_windows if end > start]
            ids.append(pieces.ids)
            targets.append(text_targets)
            piece_count += len(text_targets)
            counts["texts"] += 1
            counts["words_without_piece"] += without_piece
            counts["pieces_not_read"] += len(text_targets) - text_windows[-1][1]
        counts["sequences"] = len(spans)
        span_array = np.array(spans, np.int64).reshape(-1, 2)
        return cls(
            encoder, options.max_length, np.concatenate(ids), np.concatenate(targets), span_array, counts
        )

    def __len__(self) -> int:
        return len(self.spans)

    def batch(self, index: int, size: int, seed: int) -> TokenBatch:
        """Return batch `index` of `size` sequences, counted from 0 through an endless series of permutations."""
        positions = range(index * size, (index + 1) * size)
        return self._pad([self.spans[self._position(position, seed)] for position in positions])

    def _position(self, position: int, seed: int) -> int:
        epoch, position_in_epoch = divmod(position, len(self))
        if epoch != self._epoch:
            self._order = generator(seed, "data order", f"term weights/{epoch}").permutation(len(self))
            self._epoch = epoch
        return int(self._order[position_in_epoch])

    def _pad(self, spans: list[np.ndarray]) -> TokenBatch:
        prefix, suffix = self.encoder.prefix, self.encoder.suffix
        whole_sequences = [[*prefix, *self.ids[start:end], *suffix] for start, end in spans]
        longest = max(map(len, whole_sequences))
        ids, attention = pad_sequences(whole_sequences, len(spans), longest, self.encoder.pad_id)
        targets = np.full(ids.shape, MASKED_OUT, np.float32)
        for row, (start, end) in enumerate(spans):
            targets[row, len(prefix) : len(prefix) + end - start] = self.targets[start:end]
        return TokenBatch(ids, attention, targets)
