"""Queries that a sequence-to-sequence model writes for documents, to expand them (Nogueira et al., 2019).

Batches hold documents of one length (`irpretrain.models.length_batches`), filled up with copies of the first. The
numbers that draw the pieces depend on the seed and the document alone. So on one CPU thread a document's queries do not
depend on its block, shard or corpus (tests/retrieval/test_query_generation.py).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from irpretrain.config.base import deciding
from irpretrain.config.retrieval import Doc2QueryConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, EXPANSIONS
from irpretrain.models.length_batches import LengthBatch, length_batches, padded
from irpretrain.models.query_generator import QueryGenerator
from irpretrain.provenance import sha256
from irpretrain.randomness import generator
from irpretrain.text.texts import Text, document_texts
from irpretrain.training.blocks import KeptBatches, Unfinished, write_in_blocks
from irpretrain.training.compute import autocast, reproducible, versions

# Options that change no query and nothing that is kept of a job that is broken off; the model counts by its files.
WITHOUT_EFFECT = {"model"}
TOP_K = 10  # docTTTTTquery draws among the 10 likeliest pieces (Nogueira and Lin, 2019)

BATCH_QUERIES = 64  # queries that are written at once
BLOCK = 512  # documents that are sorted by length together


def generate_queries(
    model: str | Path,  # Hugging Face directory of the model
    documents: str | Path,  # DOCUMENTS table
    options: Doc2QueryConfig,
    text: TextConfig,
    output: str | Path,  # EXPANSIONS table
    checkpoints: str | Path,  # folder of all jobs' unfinished work
    title: str = "generate queries",  # name of the job in status lines
) -> dict[str, Any]:
    """Write queries for every document of a shard; resumes after the last finished block.

    Returns:
        Counts: documents, those without text (no queries) and those that were cut, queries, empty queries (left out).

    Raises:
        InputError: there is no such model.
        ConfigError: sequences may exceed the model's positions.
    """
    with reproducible(options.compute) as device:
        writer = QueryWriter(model, options, device)
        job = {
            "stage": "generate queries",
            "model": sha256(model),
            "documents": sha256(documents),
            "options": deciding(options, options.model_dump(exclude=WITHOUT_EFFECT)),
            "text": text.model_dump(),
            "device": device.type,
            "versions": versions(),
            "output": str(output),
        }
        blocks = document_texts(documents, text, BLOCK)
        texts, minutes = DOCUMENTS.count(documents), options.compute.checkpoint_minutes
        unfinished = Unfinished(job, checkpoints, title, texts, minutes)
        return dict(write_in_blocks(EXPANSIONS, output, blocks, writer.rows, unfinished))


class QueryWriter:
    def __init__(self, model: str | Path, options: Doc2QueryConfig, device: torch.device) -> None:
        self._model = QueryGenerator(model, device)
        self._model.check_lengths({"max_length": options.max_length, "query_length": options.query_length})
        self._options, self._device = options, device

    def rows(self, texts: Sequence[Text], retained: KeptBatches) -> tuple[pa.Table, dict[str, int]]:
        """Return the EXPANSIONS rows of some texts, in their order, and counts; `retained`: earlier ones."""
        pieces, cut = self._pieces(texts)
        written: dict[int, list[str]] = {}
        counts = {
            "documents": len(texts),
            "documents_without_text": len(texts) - len(pieces),
            "documents_cut": cut,
            "queries": 0,
            "empty_queries": 0,
        }
        with autocast(self._device, self._options.compute):
            batches = self._batches(pieces)
            # Every piece of a query is drawn on the host: there is nothing to begin ahead.
            write = partial(partial, self._write, texts, pieces)
            results = retained.results(batches, write, len(pieces), self._device)
            for batch, written_queries in results:
                for position, queries in zip(batch.items, written_queries, strict=False):
                    written[position] = [query for query in queries if query]
                    counts["queries"] += len(written[position])
                    counts["empty_queries"] += len(queries) - len(written[position])
        rows = [text.key | {"queries": written.get(position, [])} for position, text in enumerate(texts)]
        return pa.Table.from_pylist(rows, schema=EXPANSIONS.schema), counts

    def _pieces(self, texts: Sequence[Text]) -> tuple[dict[int, np.ndarray], int]:
        """The pieces of each text that is not empty, cut to their longest, and how many were cut."""
        room = self._model.tokenizer.room(self._options.max_length)
        texts_by_position = {position: text.text for position, text in enumerate(texts) if text.text.strip()}
        encoded = self._model.tokenizer.encode(
            [self._options.prefix + text for text in texts_by_position.values()]
        )
        retained = {
            position: encoding.ids[:room]
            for position, encoding in zip(texts_by_position, encoded, strict=True)
        }
        return retained, sum(len(encoding.ids) > room for encoding in encoded)

    def _batches(self, pieces: dict[int, np.ndarray]) -> Iterator[LengthBatch[int]]:
        options, tokenizer = self._options, self._model.tokenizer
        special = len(tokenizer.prefix) + len(tokenizer.suffix)
        lengths = ((position, len(ids) + special) for position, ids in pieces.items())
        at_once = max(BATCH_QUERIES // options.queries, 1)
        return length_batches(lengths, options.max_length, lambda _: at_once, self._device)

    def _write(
        self, texts: Sequence[Text], pieces: dict[int, np.ndarray], batch: LengthBatch[int]
    ) -> list[list[str]]:
        """The queries of each document of a batch, and of the copies that fill it up."""
        tokenizer = self._model.tokenizer
        filled = [*batch.items, *[batch.items[0]] * (batch.rows - len(batch.items))]
        wholes = [[*tokenizer.prefix, *pieces[position], *tokenizer.suffix] for position in filled]
        ids, attention = padded(wholes, batch.rows, batch.length, tokenizer.pad)
        draws = np.stack([self._draws(texts[position].document_id) for position in filled])
        generated = self._model.sample(ids, attention, draws, TOP_K)
        return [[self._model.text(query) for query in queries] for queries in generated]

    def _draws(self, document: str) -> np.ndarray:
        """The numbers that draw a document's queries, [queries, pieces]; a query's do not depend on how many follow."""
        shape = (self._options.queries, self._options.query_length)
        return generator(self._options.seed, "doc2query", document).random(shape)
