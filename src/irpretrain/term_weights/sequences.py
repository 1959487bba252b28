"""Texts as sequences of word pieces with targets, and batches of them, for the training of a token regression.

Held as flat arrays, 8 bytes a word piece, so that MS MARCO's 0.5 million training passages take 0.3 GB.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import TERM_TARGETS
from irpretrain.errors import IntegrityError
from irpretrain.randomness import generator
from irpretrain.term_weights.alignment import MASKED_OUT, piece_targets, windows
from irpretrain.text.encoder_pieces import EncoderPieces, Pieces
from irpretrain.text.word_spans import word_spans

ROWS_AT_ONCE = 256


def _texts(
    path: str | Path, encoder: EncoderPieces, text: TextConfig, chosen: Collection[str] | None
) -> Iterator[tuple[Pieces, np.ndarray, int]]:
    """Yield the pieces of each chosen text of a TERM_TARGETS table, their targets, and how many words have no piece."""
    for batch in TERM_TARGETS.stream(path, rows=ROWS_AT_ONCE):
        names = batch.column("document_id").to_pylist()
        rows = [row for row, name in enumerate(names) if chosen is None or name in chosen]
        written = [batch.column("text")[row].as_py() for row in rows]
        for row, content, pieces in zip(rows, written, encoder.encode(written), strict=True):
            words, word_targets = (
                word_spans(content, text.word_kind),
                batch.column("targets")[row].values.to_numpy(),
            )
            if len(word_targets) != len(words.words):
                raise IntegrityError(
                    path,
                    f"{names[row]} has {len(words.words)} words and {len(word_targets)} targets",
                    remedy="Delete it and run the workflow again; it was made with other words.",
                )
            yield pieces, *piece_targets(words, pieces, word_targets)


@dataclass(frozen=True)
class TokenBatch:
    """Sequences padded to the longest.

    Attributes:
        input_ids, attention_mask: int64 [sequences, positions].
        targets: float32 [sequences, positions], MASKED_OUT where there is none.
    """

    input_ids: np.ndarray
    attention_mask: np.ndarray
    targets: np.ndarray


@dataclass
class TrainingSequences:
    """The training sequences of a table of targets, in the order of a fresh permutation every epoch.

    Attributes:
        ids, targets: int32 and float32 [word pieces of all texts], end to end.
        spans: int64 [sequences, 2]; first piece and end of each sequence.
        counts: texts, sequences, words without a piece, and pieces beyond the first window where only that is read.
    """

    encoder: EncoderPieces
    ids: np.ndarray
    targets: np.ndarray
    spans: np.ndarray
    counts: dict[str, int]
    _epoch: int = field(default=-1, init=False)
    _order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @classmethod
    def read(
        cls,
        path: str | Path,
        encoder: EncoderPieces,
        options: TermWeightsConfig,
        text: TextConfig,
        chosen: Collection[str] | None = None,
    ) -> Self:
        """Read a TERM_TARGETS table and cut its texts into windows.

        Args:
            path: the table.
            text: what a word is; as the table was made with.
            chosen: identifiers of the texts to take; None for all.

        Raises:
            IntegrityError: a row has more or fewer targets than words.
        """
        ids, targets, spans = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], list[tuple[int, int]]()
        counts = dict.fromkeys(("texts", "sequences", "words_without_piece", "pieces_not_read"), 0)
        total, room = 0, encoder.room(options.max_length)
        for pieces, text_targets, missed in _texts(path, encoder, text, chosen):
            read = windows(len(text_targets), room, options.window_overlap)
            spans += [(total + start, total + end) for start, end in read if end > start]
            ids.append(pieces.ids)
            targets.append(text_targets)
            total += len(text_targets)
            counts["texts"] += 1
            counts["words_without_piece"] += missed
            counts["pieces_not_read"] += len(text_targets) - read[-1][1]
        counts["sequences"] = len(spans)
        flat = np.array(spans, np.int64).reshape(-1, 2)
        return cls(encoder, np.concatenate(ids), np.concatenate(targets), flat, counts)

    def __len__(self) -> int:
        return len(self.spans)

    def batch(self, number: int, size: int, seed: int) -> TokenBatch:
        """Return the batch of the given number, counted from 0 over all epochs: the next `size` sequences of an endless
        series of permutations."""
        places = range(number * size, (number + 1) * size)
        return self._pad([self.spans[self._place(place, seed)] for place in places])

    def _place(self, place: int, seed: int) -> int:
        epoch, rest = divmod(place, len(self))
        if epoch != self._epoch:
            self._order = generator(seed, "data order", f"term weights/{epoch}").permutation(len(self))
            self._epoch = epoch
        return int(self._order[rest])

    def _pad(self, spans: list[np.ndarray]) -> TokenBatch:
        before, after = self.encoder.prefix, self.encoder.suffix
        longest = max(int(end - start) for start, end in spans) + len(before) + len(after)
        ids = np.full((len(spans), longest), self.encoder.pad, np.int64)
        attention = np.zeros_like(ids)
        targets = np.full(ids.shape, MASKED_OUT, np.float32)
        for row, (start, end) in enumerate(spans):
            first, last = len(before), len(before) + int(end - start)
            ids[row, : last + len(after)] = [*before, *self.ids[start:end], *after]
            attention[row, : last + len(after)] = 1
            targets[row, first:last] = self.targets[start:end]
        return TokenBatch(ids, attention, targets)
