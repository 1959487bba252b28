"""Weights of every word of passages or queries by a trained token regression.

Sequences of a block are batched by length (`irpretrain.models.length_batches`) and filled up with empty rows, so that
on one CPU thread the weights of a sequence do not depend on its block (tests/term_weights/test_infer.py).
"""

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
from irpretrain.contracts import DOCUMENTS, TERM_WEIGHTS
from irpretrain.foundation.provenance import sha256
from irpretrain.models.length_batches import (
    LengthBatch,
    length_batches,
    packed_batches,
    padded,
    to_device,
    to_host,
)
from irpretrain.models.parameters import check_embeddings
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.folds import models_of_folds
from irpretrain.retrieval.term_weights.integers import weighted_terms
from irpretrain.retrieval.term_weights.sequences import WordWeights, first_pieces, windows, word_weights
from irpretrain.text.pair_tokenizer import EncoderPieces, Pieces
from irpretrain.text.texts import Text, document_texts, query_texts
from irpretrain.text.words import WordSpans, word_spans
from irpretrain.training.blocks import KeptBatches, Unfinished, write_in_blocks
from irpretrain.training.compute import (
    autocast,
    packs,
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
) -> dict[str, Any]:
    """Write the weights of the words of every document of a shard; resumes after the last finished block.

    Returns:
        Counts: texts, texts without a word, words, words that no window reads or that have no piece, sequences, word
        pieces, positions computed.
    """
    with reproducible(options.inference.compute) as device:
        predictor = WeightPredictor.open(model, options, text, device)
        job = {
            "stage": "weight terms",
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
        blocks = document_texts(documents, text, BLOCK)
        texts, minutes = DOCUMENTS.count(documents), options.inference.compute.checkpoint_minutes
        unfinished = Unfinished(job, checkpoints, title, texts, minutes)
        return dict(write_in_blocks(TERM_WEIGHTS, output, blocks, predictor.rows, unfinished))


def infer_queries(
    models: Sequence[str | Path],  # one, for all queries; or one per fold, in their order
    queries: str | Path,  # QUERIES table
    folds: str | Path | None,  # what `make_folds` wrote; None with one model
    # options, text, output: as in `infer_documents`.
    options: TermWeightsConfig,
    text: TextConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write the weights of the words of every query, each by a model that has not seen the query.

    Raises:
        InputError: the folds do not fit the queries or the models.
    """
    with reproducible(options.inference.compute) as device:
        opened = [partial(WeightPredictor.open, model, options, text, device) for model in models]
        return models_of_folds(opened, query_texts(queries), folds, output)


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
        use_fast_paths(model, compute, device, training=False)
        pieces = EncoderPieces(directory)
        check_embeddings(model.network, pieces.size, directory)
        return cls(model, pieces, options, text, device)

    def rows(
        self, texts: Sequence[Text], retained: KeptBatches | None = None
    ) -> tuple[pa.Table, dict[str, int]]:
        """Return the TERM_WEIGHTS rows of texts, in order, and counts; `retained` has results of earlier batches."""
        words = [word_spans(text.text, self.text.word_kind) for text in texts]
        pieces = self.encoder.encode([text.text for text in texts])
        weights, counts = self.weights(words, pieces, retained or KeptBatches())
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

    def weights(
        self, words: Sequence[WordSpans], pieces: Sequence[Pieces], retained: KeptBatches
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
        positions = 0
        with torch.inference_mode(), autocast(self.device, self.options.inference.compute):
            batches = self._batches(sequences)
            results = retained.results(batches, partial(self._begin, pieces), len(sequences), self.device)
            for batch, weights in results:
                positions += batch.positions
                predicted |= {
                    window: np.asarray(values, np.float32)
                    for window, values in zip(batch.items, weights, strict=True)
                }
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
        if packs(self.model):
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
        weights = self.model(to_device(torch.from_numpy(ids), self.device), torch.from_numpy(attention))
        copied = to_host(weights.float())

        def wait() -> list[np.ndarray]:
            rows = copied().numpy()
            return [
                rows[row, len(before) : len(before) + window.end - window.start]
                for row, window in enumerate(batch.items)
            ]

        return wait
