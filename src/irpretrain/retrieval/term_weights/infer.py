"""Weights of every word of passages or queries by a trained token regression.

Sequences of a block are batched by length (`irpretrain.models.length_batches`) and filled up with empty rows, so
that on one CPU thread the weights of a sequence do not depend on its block (tests/term_weights/test_infer.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
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
from irpretrain.models.encoder_batches import EncoderBatch, Layout, PackedBatch
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
from irpretrain.retrieval.term_weights.sequences import first_pieces, windows, word_weights
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.texts import Text, document_texts
from irpretrain.text.word_pieces import Pieces
from irpretrain.text.words import word_spans
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import (
    autocast,
    reproducible,
    scored_at_once,
    use_fast_paths,
    versions,
)
from irpretrain.training.read_ahead import PROCESSES, Parcel, helping

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


class ReadTexts(NamedTuple):
    """What becomes rows of a block's texts, once the weights of their word pieces are there."""

    keys: list[dict[str, Any]]  # of each text, its place in the corpus
    words: list[list[str]]  # of each text
    first: list[np.ndarray]  # of each text: the first piece of each word
    pieces: list[int]  # of each text: how many
    windows: list[list[tuple[int, int]]]  # of each text
    # Of each batch: its windows, and where each one's word pieces begin among all positions.
    places: list[tuple[list[Window], list[int]]]
    positions: int  # that are computed


class Block(NamedTuple):
    """Texts that are sorted by length together; see `WeightPredictor.read`."""

    texts: int
    batches: list[EncoderBatch]
    rest: Parcel[ReadTexts]


@dataclass
class WeightPredictor:
    """Weights of texts, in three parts: `read` and `collect` run in any process, `computed` where the model is."""

    model: TermWeightRegressor  # on its device, not in training
    encoder: EncoderPieces
    options: TermWeightsConfig
    text: TextConfig
    device: torch.device
    layout: Layout  # of the batches
    batch_tokens: int  # positions of a batch

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
        with autocast(device, compute):
            layout = layout_of(model)
        tokens = scored_at_once(options.inference.batch_tokens, device)
        return cls(model, pieces, options, text, device, layout, tokens)

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of texts, in order, and counts."""
        block = self.read(texts)
        with self.computing():
            weights = [values for _, values in self.computed([block]) if values is not None]
        return self.collect(block.rest, weights)

    def read(self, texts: Sequence[Text]) -> Block:
        """Return the batches of texts, and what is needed to collect their weights."""
        words = [word_spans(text.text, self.text.word_kind) for text in texts]
        pieces = self.encoder.pieces([text.text for text in texts])
        room, overlap = self.encoder.room(self.options.max_length), self.options.window_overlap
        read = [windows(len(text_pieces.ids), room, overlap) for text_pieces in pieces]
        sequences = [
            Window(number, start, end)
            for number, spans in enumerate(read)
            for start, end in spans
            if end > start
        ]
        batches, places, positions = list[EncoderBatch](), list[tuple[list[Window], list[int]]](), 0
        for batch in self._batches(sequences):
            inputs, firsts = self._inputs(pieces, batch)
            batches.append(inputs)
            places.append((batch.items, firsts))
            positions += batch.positions
        keys, spans_words = [text.key for text in texts], [spans.words for spans in words]
        first = [first_pieces(spans, of_text) for spans, of_text in zip(words, pieces, strict=True)]
        lengths = [len(of_text.ids) for of_text in pieces]
        rest = ReadTexts(keys, spans_words, first, lengths, read, places, positions)
        return Block(len(texts), batches, Parcel(rest))

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Inside, `computed` may be iterated over."""
        with torch.inference_mode(), autocast(self.device, self.options.inference.compute):
            yield

    def computed(
        self,
        blocks: Iterable[Block],
        retained: Sequence[
            np.ndarray
        ] = (),  # what was computed before, of the first batches of the first block
    ) -> Iterator[tuple[Block, np.ndarray | None]]:
        """Yield each block with the weights of all positions of each of its batches, float32; None: it has none."""

        def batches() -> Iterator[tuple[Block, EncoderBatch | None, np.ndarray | None]]:
            before = list(retained)
            for block in blocks:
                if not block.batches:
                    yield block, None, None
                for number, batch in enumerate(block.batches):
                    yield block, batch, before[number] if number < len(before) else None
                before = []

        def begin(part: tuple[Block, EncoderBatch | None, np.ndarray | None]) -> Callable[[], Any]:
            _, batch, values = part
            if batch is None or values is not None:
                return lambda: values
            copied = to_host(self.model.weights(batch).float())
            return lambda: copied().numpy().ravel()

        # All blocks in one row: a GPU is given the first batch of the next before the last of one is waited for.
        for (block, *_), wait in prefetch(batches(), begin, self.device):
            yield block, wait()

    def collect(
        self,
        rest: Parcel[ReadTexts],
        weights: Sequence[np.ndarray],  # of each batch
    ) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of a block's texts, in order, and counts."""
        read, predicted = rest.open(), dict[Window, np.ndarray]()
        for (of_batch, firsts), values in zip(read.places, weights, strict=True):
            for window, first in zip(of_batch, firsts, strict=True):
                predicted[window] = values[first : first + window.end - window.start]
        nothing = np.zeros(0, np.float32)
        rows, unread = [], 0
        for number, (key, words, bounds) in enumerate(zip(read.keys, read.words, read.windows, strict=True)):
            of_windows = [predicted.get(Window(number, *span), nothing) for span in bounds]
            merged = word_weights(read.first[number], read.pieces[number], bounds, of_windows)
            terms, left_out = weighted_terms(words, merged.values, merged.read)
            unread += left_out
            rows.append(key | {"terms": terms})
        counts = {
            "sequences": len(predicted),
            "word_pieces": sum(end - start for _, start, end in predicted),
            "positions": read.positions,
            "texts": len(read.keys),
            "texts_without_words": sum(not words for words in read.words),
            "words": sum(map(len, read.words)),
            "words_without_weight": unread,
        }
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts

    def write(
        self, rest: Parcel[ReadTexts], weights: Sequence[np.ndarray], path: Path
    ) -> tuple[str, dict[str, int]]:
        """Write the TERM_WEIGHTS table of a block; return its hash, and counts."""
        rows, counts = self.collect(rest, weights)
        TERM_WEIGHTS.write(path, rows)
        return sha256(path), counts

    def _batches(self, sequences: Iterable[Window]) -> Iterator[LengthBatch[Window]]:
        special = len(self.encoder.prefix) + len(self.encoder.suffix)
        lengths = ((window, window.end - window.start + special) for window in sequences)
        if self.layout.packs:
            return packed_batches(lengths, self.batch_tokens)
        return length_batches(
            lengths, self.options.max_length, lambda length: max(self.batch_tokens // length, 1), self.device
        )

    def _inputs(self, pieces: Sequence[Pieces], batch: LengthBatch[Window]) -> tuple[EncoderBatch, list[int]]:
        """Return a batch on the host, and where the word pieces of each window begin among its positions."""
        before, after = self.encoder.prefix, self.encoder.suffix
        wholes = [
            [*before, *pieces[window.text].ids[window.start : window.end], *after] for window in batch.items
        ]
        ids, attention = padded(wholes, batch.rows, batch.length, self.encoder.pad)
        inputs = text_batch(self.layout, ids, attention, self.options.max_length)
        if isinstance(inputs, PackedBatch):
            starts = inputs.ends[: len(wholes)]
        else:
            starts = np.arange(len(wholes)) * inputs.input_ids.shape[1]
        return inputs, (starts + len(before)).tolist()


# A shard is computed block by block, each written to a file of its own; a checkpoint has the hashes of the whole blocks
# and the results of the next one. An interrupted job resumes after the last batch that was saved.


class _Begun(NamedTuple):
    """A block that is not in the checkpoint yet."""

    weights: list[np.ndarray]  # of the batches that are computed
    written: list[Future[tuple[str, dict[str, int]]]]  # once all are: hash of the file, and counts


def _write_in_blocks(
    predictor: WeightPredictor, documents: str | Path, folder: Checkpoints, title: str, output: str | Path
) -> dict[str, int]:
    """Write the TERM_WEIGHTS of documents, and remove the checkpoints; return the sums of the blocks' counts."""

    def file_of(block: int) -> Path:
        return folder.directory / f"block-{block:06d}.parquet"

    def is_whole(block: int) -> bool:
        return file_of(block).is_file() and sha256(file_of(block)) == state["hashes"][block]

    state: dict[str, Any] = {"step": 0, "hashes": [], "counts": [], "weights": []}
    state |= folder.load() or {}
    step, written = state["step"], len(state["hashes"])
    finished = next((block for block in range(written) if not is_whole(block)), written)
    hashes, counts = state["hashes"][:finished], state["counts"][:finished]
    retained = [tensor.numpy() for tensor in state["weights"]]  # of the block after the last that was written
    if finished < written:
        print_line(f"[{title}] {file_of(finished)} is damaged; it and what follows it are computed again")
        retained = []
    total = DOCUMENTS.count(documents)
    counter, begun = Counter(title, "texts", total), deque[_Begun]()

    def save() -> None:
        nonlocal step
        step += 1
        # Checkpoints hold plain values and tensors alone.
        weights = [torch.from_numpy(values) for values in (begun[0].weights if begun else [])]
        folder.save(step, {"hashes": hashes, "counts": counts, "weights": weights})

    def finish() -> None:
        for known, value in zip((hashes, counts), begun.popleft().written[0].result(), strict=True):
            known.append(value)
        save()

    if not step:
        save()  # so that the folder says from its beginning whose it is
    texts, done = document_texts(documents, predictor.text, BLOCK), 0
    for skipped in islice(texts, finished):
        done += len(skipped)
        counter.skip(len(skipped))
    resumed, files = done, map(file_of, count(finished))
    with helping(predictor, _processes(predictor, total - done)) as helpers, predictor.computing():
        for block, values in predictor.computed(helpers.each(WeightPredictor.read, texts), retained):
            if not begun or begun[-1].written:
                begun.append(_Begun([], []))
            weights, writing = begun[-1]
            weights += [] if values is None else [values]
            counter.reach(done + block.texts * len(weights) // max(len(block.batches), 1))
            if len(weights) == len(block.batches):
                writing.append(helpers.begin(WeightPredictor.write, block.rest, weights, next(files)))
                done += block.texts
            while begun and begun[0].written and begun[0].written[0].done():
                finish()
            if folder.clock.due():
                save()
        while begun:
            finish()
    if resumed:
        print_line(f"[{title}] {resumed:,} of {done:,} texts were done before")
    parts = (part for number in range(len(hashes)) for part in TERM_WEIGHTS.stream(file_of(number)))
    TERM_WEIGHTS.write(output, (pa.Table.from_batches([part]) for part in parts))
    folder.discard()
    return {name: sum(block[name] for block in counts) for name in counts[0]} if counts else {}


def _processes(predictor: WeightPredictor, texts: int) -> int:
    """Return how many processes read and collect texts beside the device."""
    if predictor.device.type == "cpu":
        return 0
    return min(max(predictor.options.inference.compute.threads, PROCESSES), -(-texts // BLOCK))
