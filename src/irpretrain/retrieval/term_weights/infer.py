"""Weights of every word of passages or queries by a trained token regression.

Sequences of a block are batched by length (`irpretrain.models.length_batches`) and filled up with empty rows, so
that on one CPU thread the weights of a sequence do not depend on its block (tests/term_weights/test_infer.py).
"""

import math
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
    pad_sequences,
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
    scoring_tokens,
    use_fast_paths,
    versions,
)
from irpretrain.training.read_ahead import READER_PROCESSES, Parcel, helping

# Texts that are sorted by length together: larger blocks have less padding and take more memory.
TEXTS_IN_BLOCK = 8192

# What of a weighting decides the weights that its model gives.
INFERENCE_KEYS = {"max_length", "window_overlap", "inference"}


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
            "options": deciding(options, options.model_dump(include=INFERENCE_KEYS)),
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


class ReadText(NamedTuple):
    """What becomes the row of a text, once the weights of its word pieces are there."""

    key: dict[str, Any]  # its place in the corpus
    words: list[str]
    first_pieces: np.ndarray  # the first piece of each word
    piece_count: int
    windows: list[tuple[int, int]]


class ReadTexts(NamedTuple):
    """The texts of a block, and where the weights of their word pieces are."""

    texts: list[ReadText]
    # Of each batch: its windows, and where each one's word pieces begin among all positions.
    batch_places: list[tuple[list[Window], list[int]]]
    positions: int  # that are computed


class Block(NamedTuple):
    """Texts that are sorted by length together; see `WeightPredictor.read`."""

    texts: int
    batches: list[EncoderBatch]
    texts_read: Parcel[ReadTexts]


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
        tokens = scoring_tokens(options.inference.batch_tokens, device)
        return cls(model, pieces, options, text, device, layout, tokens)

    def helper_count(self, texts: int) -> int:
        """Return how many processes read and collect so many texts beside the device."""
        if self.device.type == "cpu":
            return 0
        return min(
            max(self.options.inference.compute.threads, READER_PROCESSES), math.ceil(texts / TEXTS_IN_BLOCK)
        )

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of texts, in order, and counts."""
        block = self.read(texts)
        with self.computing():
            weights = [values for _, values in self.computed([block]) if values is not None]
        return self.collect(block.texts_read, weights)

    def read(self, texts: Sequence[Text]) -> Block:
        """Return the batches of texts, and what is needed to collect their weights."""
        pieces = self.encoder.pieces([text.text for text in texts])
        read_texts = list(map(self._read_text, texts, pieces))
        sequences = [
            Window(text_number, start, end)
            for text_number, text in enumerate(read_texts)
            for start, end in text.windows
            if end > start
        ]
        batches, window_places, positions = list[EncoderBatch](), list[tuple[list[Window], list[int]]](), 0
        for batch in self._batches(sequences):
            inputs, first_positions = self._inputs(pieces, batch)
            batches.append(inputs)
            window_places.append((batch.items, first_positions))
            positions += batch.position_count
        return Block(len(texts), batches, Parcel(ReadTexts(read_texts, window_places, positions)))

    def _read_text(self, text: Text, pieces: Pieces) -> ReadText:
        spans, piece_count = word_spans(text.text, self.text.word_kind), len(pieces.ids)
        max_pieces = self.encoder.room(self.options.max_length)
        bounds = windows(piece_count, max_pieces, self.options.window_overlap)
        return ReadText(text.key, spans.words, first_pieces(spans, pieces), piece_count, bounds)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Inside, `computed` may be iterated over."""
        with torch.inference_mode(), autocast(self.device, self.options.inference.compute):
            yield

    def computed(
        self,
        blocks: Iterable[Block],
        earlier_weights: Sequence[np.ndarray] = (),  # computed before, of the first block's first batches
    ) -> Iterator[tuple[Block, np.ndarray | None]]:
        """Yield each block with the weights of all positions of each of its batches, float32; None: it has none."""

        def batches() -> Iterator[tuple[Block, EncoderBatch | None, np.ndarray | None]]:
            remaining_weights = list(earlier_weights)
            for block in blocks:
                if not block.batches:
                    yield block, None, None
                for index, batch in enumerate(block.batches):
                    yield block, batch, remaining_weights[index] if index < len(remaining_weights) else None
                remaining_weights = []

        def begin(entry: tuple[Block, EncoderBatch | None, np.ndarray | None]) -> Callable[[], Any]:
            _, batch, values = entry
            if batch is None or values is not None:
                return lambda: values
            wait_for_copy = to_host(self.model.weights(batch).float())
            return lambda: wait_for_copy().numpy().ravel()

        # All blocks in one row: a GPU is given the first batch of the next before the last of one is waited for.
        for (block, *_), wait in prefetch(batches(), begin, self.device):
            yield block, wait()

    def collect(
        self, parcel: Parcel[ReadTexts], weights: Sequence[np.ndarray]
    ) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of a block's texts, in order, and counts, from the weights of each batch."""
        texts, batch_places, positions = parcel.open()
        weights_of_window = dict[Window, np.ndarray]()
        for (windows_of_batch, first_positions), values in zip(batch_places, weights, strict=True):
            for window, window_start in zip(windows_of_batch, first_positions, strict=True):
                weights_of_window[window] = values[window_start : window_start + window.end - window.start]
        no_weights = np.zeros(0, np.float32)
        rows, words_without_weight = [], 0
        for index, text in enumerate(texts):
            window_weights = [
                weights_of_window.get(Window(index, *span), no_weights) for span in text.windows
            ]
            text_weights = word_weights(text.first_pieces, text.piece_count, text.windows, window_weights)
            terms, text_without_weight = weighted_terms(text.words, *text_weights)
            words_without_weight += text_without_weight
            rows.append(text.key | {"terms": terms})
        counts = {
            "sequences": len(weights_of_window),
            "word_pieces": sum(end - start for _, start, end in weights_of_window),
            "positions": positions,
            "texts": len(texts),
            "texts_without_words": sum(not text.words for text in texts),
            "words": sum(len(text.words) for text in texts),
            "words_without_weight": words_without_weight,
        }
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts

    def write(
        self, parcel: Parcel[ReadTexts], weights: Sequence[np.ndarray], path: Path
    ) -> tuple[str, dict[str, int]]:
        """Write the TERM_WEIGHTS table of a block; return its hash, and counts."""
        rows, counts = self.collect(parcel, weights)
        TERM_WEIGHTS.write(path, rows)
        return sha256(path), counts

    def _batches(self, sequences: Iterable[Window]) -> Iterator[LengthBatch[Window]]:
        special_count = len(self.encoder.prefix) + len(self.encoder.suffix)
        lengths = ((window, window.end - window.start + special_count) for window in sequences)
        if self.layout.packs:
            return packed_batches(lengths, self.batch_tokens)
        return length_batches(
            lengths, self.options.max_length, lambda length: max(self.batch_tokens // length, 1), self.device
        )

    def _inputs(self, pieces: Sequence[Pieces], batch: LengthBatch[Window]) -> tuple[EncoderBatch, list[int]]:
        """Return a batch on the host, and where the word pieces of each window begin among its positions."""
        prefix, suffix = self.encoder.prefix, self.encoder.suffix
        whole_sequences = [
            [*prefix, *pieces[window.text].ids[window.start : window.end], *suffix] for window in batch.items
        ]
        ids, attention = pad_sequences(whole_sequences, batch.row_count, batch.length, self.encoder.pad_id)
        inputs = text_batch(self.layout, ids, attention, self.options.max_length)
        if isinstance(inputs, PackedBatch):
            starts = inputs.sequence_ends[: len(whole_sequences)]
        else:
            starts = np.arange(len(whole_sequences)) * inputs.input_ids.shape[1]
        return inputs, (starts + len(prefix)).tolist()


# A shard is computed block by block, each written to a file of its own; a checkpoint has the hashes of the whole blocks
# and the results of the next one. An interrupted job resumes after the last batch that was saved.


class _PendingBlock(NamedTuple):
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
    step, blocks_written = state["step"], len(state["hashes"])
    whole_blocks = next((block for block in range(blocks_written) if not is_whole(block)), blocks_written)
    hashes, counts = state["hashes"][:whole_blocks], state["counts"][:whole_blocks]
    # Of the block after the last that was written.
    saved_weights = [tensor.numpy() for tensor in state["weights"]]
    if whole_blocks < blocks_written:
        print_line(f"[{title}] {file_of(whole_blocks)} is damaged; it and what follows it are computed again")
        saved_weights = []
    total = DOCUMENTS.count(documents)
    counter, pending = Counter(title, "texts", total), deque[_PendingBlock]()

    def save() -> None:
        nonlocal step
        step += 1
        # Checkpoints hold plain values and tensors alone.
        weights = [torch.from_numpy(values) for values in (pending[0].weights if pending else [])]
        folder.save(step, {"hashes": hashes, "counts": counts, "weights": weights})

    def finish() -> None:
        for records, value in zip((hashes, counts), pending.popleft().written[0].result(), strict=True):
            records.append(value)
        save()

    if not step:
        save()  # so that the folder says from its beginning whose it is
    texts, texts_done = document_texts(documents, predictor.text, TEXTS_IN_BLOCK), 0
    for skipped_texts in islice(texts, whole_blocks):
        texts_done += len(skipped_texts)
        counter.skip(len(skipped_texts))
    texts_resumed, files = texts_done, map(file_of, count(whole_blocks))
    with helping(predictor, predictor.helper_count(total - texts_done)) as helpers, predictor.computing():
        for block, values in predictor.computed(helpers.each(WeightPredictor.read, texts), saved_weights):
            if not pending or pending[-1].written:
                pending.append(_PendingBlock([], []))
            weights, futures = pending[-1]
            weights += [] if values is None else [values]
            counter.reach(texts_done + block.texts * len(weights) // max(len(block.batches), 1))
            if len(weights) == len(block.batches):
                futures.append(helpers.begin(WeightPredictor.write, block.texts_read, weights, next(files)))
                texts_done += block.texts
            while pending and pending[0].written and pending[0].written[0].done():
                finish()
            if folder.clock.due():
                save()
        while pending:
            finish()
    if texts_resumed:
        print_line(f"[{title}] {texts_resumed:,} of {texts_done:,} texts were done before")
    batches = (batch for number in range(len(hashes)) for batch in TERM_WEIGHTS.stream(file_of(number)))
    TERM_WEIGHTS.write(output, (pa.Table.from_batches([batch]) for batch in batches))
    folder.discard()
    return {name: sum(block[name] for block in counts) for name in counts[0]} if counts else {}
