"""Weights of every word of passages or queries by a trained token regression.

Sequences of a block are batched by length (`irpretrain.models.length_batches`) and filled up with empty rows, so
that on one CPU thread the weights of a sequence do not depend on its block (tests/term_weights/test_infer.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch

from irpretrain.config.base import deciding
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, TERM_WEIGHTS
from irpretrain.foundation.progress import Counter, print_line
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_batches import PackedBatch
from irpretrain.models.length_batches import (
    LengthBatch,
    length_batches,
    packed_batches,
    padded,
    prefetch,
    to_host,
)
from irpretrain.models.packed import layout_of
from irpretrain.models.parameters import check_embeddings
from irpretrain.models.term_weight_regressor import TermWeightRegressor, text_batch
from irpretrain.retrieval.term_weights.integers import weighted_terms
from irpretrain.retrieval.term_weights.sequences import WordWeights, first_pieces, windows, word_weights
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.texts import Text, document_texts
from irpretrain.text.word_pieces import Pieces
from irpretrain.text.words import WordSpans, word_spans
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import (
    autocast,
    reproducible,
    scored_at_once,
    use_fast_paths,
    versions,
)

# Texts that are sorted by length together: larger blocks have less padding and take more memory.
BLOCK = 8192


def infer_documents(
    model: str | Path,  # directory of a token regression
    documents: str | Path,  # DOCUMENTS table
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,  # TERM_WEIGHTS table
    checkpoints: str | Path,  # folder of all jobs' unfinished work
    title: str = "weight terms",  # name of the job in status lines
) -> dict[str, int]:
    """Write the weights of the words of every document of a shard; resumes after the last saved batch.

    Returns:
        Counts: texts, texts without a word, words, words that no window reads or that have no piece, sequences, word
        pieces, positions computed.
    """
    compute = options.inference.compute
    with reproducible(compute) as device:
        predictor = WeightPredictor.open(model, options, text, device)
        job = {
            "stage": "weights of words",
            "kind": options.model,
            "model": sha256(model),
            "documents": sha256(documents),
            "options": deciding(
                options, options.model_dump(include={"max_length", "window_overlap", "inference"})
            ),
            "text": text.model_dump(),
            "device": device.type,
            "versions": versions(),
            "output": str(output),
        }
        with Checkpoints(checkpoints, job, title, compute.checkpoint_minutes) as folder:
            return _write_in_blocks(predictor, documents, folder, title, output)


class Window(NamedTuple):
    """A window of a text: number of the text in its block, first piece and end."""

    text: int
    start: int
    end: int


@dataclass
class WeightPredictor:
    model: TermWeightRegressor  # on its device, not in training
    encoder: EncoderPieces
    options: TermWeightsConfig
    text: TextConfig
    device: torch.device

    @classmethod
    def open(
        cls, directory: str | Path, options: TermWeightsConfig, text: TextConfig, device: torch.device
    ) -> Self:
        model = TermWeightRegressor.load(directory)
        model.check_length(options.max_length, "max_length")
        model.to(device).eval()
        compute = options.inference.compute
        if device.type == "cpu" and compute.packing == "auto":
            # Packed, the last bits of a text's weights would depend on which others share its batch.
            compute = compute.model_copy(update={"packing": "off"})
        use_fast_paths(model, compute, device)
        pieces = EncoderPieces(directory)
        check_embeddings(model.classifier, pieces.size, directory)
        return cls(model, pieces, options, text, device)

    def rows(
        self,
        texts: Sequence[Text],
        retained: list[Any] | None = None,  # results of earlier batches, to which new ones are added
        # Called after each batch with the share of all windows that is done.
        keep: Callable[[float], None] = lambda share: None,
    ) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of texts, in order, and counts."""
        words = [word_spans(text.text, self.text.word_kind) for text in texts]
        pieces = self.encoder.pieces([text.text for text in texts])
        weights, counts = self._weights(words, pieces, [] if retained is None else retained, keep)
        rows, unread = [], 0
        for text, spans, text_weights in zip(texts, words, weights, strict=True):
            terms, left_out = weighted_terms(spans.words, text_weights.values, text_weights.read)
            unread += left_out
            rows.append(text.key | {"terms": terms})
        counts |= {
            "texts": len(texts),
            "texts_without_words": sum(not spans.words for spans in words),
            "words": sum(len(spans.words) for spans in words),
            "words_without_weight": unread,
        }
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts

    def _weights(
        self,
        words: Sequence[WordSpans],
        pieces: Sequence[Pieces],
        retained: list[Any],
        keep: Callable[[float], None],
    ) -> tuple[list[WordWeights], dict[str, int]]:
        """Return the weight of every word of each text, in its order, and counts."""
        room, overlap = self.encoder.room(self.options.max_length), self.options.window_overlap
        read = [windows(len(text_pieces.ids), room, overlap) for text_pieces in pieces]
        sequences = [
            Window(number, start, end)
            for number, spans in enumerate(read)
            for start, end in spans
            if end > start
        ]
        predicted: dict[Window, np.ndarray] = {}
        positions = done = 0

        def begin_missing(numbered: tuple[int, LengthBatch[Window]]) -> Callable[[], list[Any]] | None:
            number, batch = numbered
            return None if number < len(retained) else self._begin(pieces, batch)

        with torch.inference_mode(), autocast(self.device, self.options.inference.compute):
            batches = enumerate(self._batches(sequences))
            for (number, batch), wait in prefetch(batches, begin_missing, self.device):
                if wait is not None:
                    retained.append(wait())
                done += len(batch)
                keep(done / len(sequences))
                positions += batch.positions
                # Those of a checkpoint are lists.
                for window, values in zip(batch.items, retained[number], strict=True):
                    predicted[window] = np.asarray(values, np.float32)
        merged = [
            word_weights(
                first_pieces(spans, text_pieces),
                len(text_pieces.ids),
                bounds,
                [predicted.get(Window(number, *span), np.zeros(0, np.float32)) for span in bounds],
            )
            for number, (spans, text_pieces, bounds) in enumerate(zip(words, pieces, read, strict=True))
        ]
        counts = {
            "sequences": len(sequences),
            "word_pieces": sum(end - start for _, start, end in sequences),
            "positions": positions,
        }
        return merged, counts

    def _batches(self, sequences: Iterable[Window]) -> Iterator[LengthBatch[Window]]:
        special = len(self.encoder.prefix) + len(self.encoder.suffix)
        lengths = ((window, window.end - window.start + special) for window in sequences)
        tokens = scored_at_once(self.options.inference.batch_tokens, self.device)
        if layout_of(self.model).packs:
            return packed_batches(lengths, tokens)
        return length_batches(
            lengths, self.options.max_length, lambda length: max(tokens // length, 1), self.device
        )

    def _begin(self, pieces: Sequence[Pieces], batch: LengthBatch[Window]) -> Callable[[], list[np.ndarray]]:
        """Give the device a batch; return what waits for the weights of the pieces of each window."""
        before, after = self.encoder.prefix, self.encoder.suffix
        wholes = [
            [*before, *pieces[window.text].ids[window.start : window.end], *after] for window in batch.items
        ]
        ids, attention = padded(wholes, batch.rows, batch.length, self.encoder.pad)
        inputs = text_batch(layout_of(self.model), ids, attention, self.options.max_length)
        weights = self.model.weights(inputs)
        starts = inputs.ends if isinstance(inputs, PackedBatch) else np.arange(batch.rows) * weights.shape[1]
        copied = to_host(weights.float())

        def wait() -> list[np.ndarray]:
            values = copied().numpy().ravel()
            firsts = (starts[: len(batch.items)] + len(before)).tolist()
            return [
                values[first : first + window.end - window.start]
                for first, window in zip(firsts, batch.items, strict=True)
            ]

        return wait


# A shard is computed block by block, each written to a file of its own; a checkpoint has the hashes of the whole blocks
# and the results of the next one. An interrupted job resumes after the last batch that was saved.


def _write_in_blocks(
    predictor: WeightPredictor, documents: str | Path, folder: Checkpoints, title: str, output: str | Path
) -> dict[str, int]:
    """Write the TERM_WEIGHTS of documents, and remove the checkpoints; return the sums of the blocks' counts."""

    def file_of(block: int) -> Path:
        return folder.directory / f"block-{block:06d}.parquet"

    def is_whole(block: int) -> bool:
        return file_of(block).is_file() and sha256(file_of(block)) == state["hashes"][block]

    state = folder.load() or {"step": 0, "hashes": [], "counts": [], "results": []}
    step, written = state["step"], len(state["hashes"])
    finished = next((block for block in range(written) if not is_whole(block)), written)
    hashes, counts = state["hashes"][:finished], state["counts"][:finished]
    results = state["results"]  # of the block after the last that was written
    if finished < written:
        print_line(f"[{title}] {file_of(finished)} is damaged; it and what follows it are computed again")
        results = []
    counter = Counter(title, "texts", DOCUMENTS.count(documents))
    done = resumed = 0

    def save() -> None:
        nonlocal step
        step += 1
        # Checkpoints hold plain values and tensors alone.
        plain = [
            [value.tolist() if isinstance(value, np.ndarray) else value for value in batch]
            for batch in results
        ]
        folder.save(step, {"hashes": hashes, "counts": counts, "results": plain})

    def keep(block: Sequence[Text], share: float) -> None:
        counter.reach(done + int(len(block) * share))
        if folder.clock.due():
            save()

    if not step:
        save()  # so that the folder says from its beginning whose it is
    for number, block in enumerate(document_texts(documents, predictor.text, BLOCK)):
        if number < finished:
            resumed += len(block)
            counter.skip(len(block))
        else:
            rows, counted = predictor.rows(block, results, partial(keep, block))
            TERM_WEIGHTS.write(file_of(number), rows)
            hashes.append(sha256(file_of(number)))
            counts.append(counted)
            results = []
            save()
        done += len(block)
    if resumed:
        print_line(f"[{title}] {resumed:,} of {done:,} texts were done before")
    parts = (part for number in range(len(hashes)) for part in TERM_WEIGHTS.stream(file_of(number)))
    TERM_WEIGHTS.write(output, (pa.Table.from_batches([part]) for part in parts))
    folder.discard()
    return {name: sum(block[name] for block in counts) for name in counts[0]} if counts else {}
