"""Queries that a sequence-to-sequence model writes for documents, to expand them by (Nogueira et al., 2019).

Documents of a block are batched by length (`irpretrain.models.length_batches`), and batches are filled up with copies
of their first document. Which piece comes next is drawn by numbers that depend on the seed and the document alone, and
the arithmetic of a document has a shape that its own length gives. So on one CPU thread its queries are the same
whatever else is in the block, the shard or the corpus (tests/retrieval/test_query_generation.py).
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
from irpretrain.text.keyed_texts import Text, document_texts
from irpretrain.training.blocks import Unfinished, write_in_blocks
from irpretrain.training.compute import autocast, reproducible, versions
from irpretrain.training.kept_batches import KeptBatches

WITHOUT_EFFECT = {"model", "times"}
"""Options that change no query and nothing that is kept of a job that is broken off; the model counts by its files."""


def generate_queries(
    model: str | Path,
    documents: str | Path,
    options: Doc2QueryConfig,
    text: TextConfig,
    output: str | Path,
    checkpoints: str | Path,
    title: str = "generate queries",
) -> dict[str, Any]:
    """Write queries for every document of a shard; goes on after the last finished block.

    Args:
        model: Hugging Face directory of the model.
        documents: DOCUMENTS table.
        output: EXPANSIONS table.
        checkpoints: folder of all jobs' unfinished work.
        title: what status lines call this job.

    Returns:
        Counts: documents, those without text (for which nothing is generated) and those that were cut, queries, empty
        queries (left out).

    Raises:
        InputError: the directory holds no such model.
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
        blocks = document_texts(documents, text, options.block)
        texts, minutes = DOCUMENTS.count(documents), options.compute.checkpoint_minutes
        unfinished = Unfinished(job, checkpoints, title, texts, minutes)
        return dict(write_in_blocks(EXPANSIONS, output, blocks, writer.rows, unfinished))


class QueryWriter:
    """A model that is ready to write queries for texts."""

    def __init__(self, model: str | Path, options: Doc2QueryConfig, device: torch.device) -> None:
        self._model = QueryGenerator(model, device)
        self._model.check_lengths({"max_length": options.max_length, "query_length": options.query_length})
        self._options, self._device = options, device

    def rows(self, texts: Sequence[Text], kept: KeptBatches) -> tuple[pa.Table, dict[str, int]]:
        """Return the EXPANSIONS rows of some texts, in their order, and counts; `kept` has what batches gave before."""
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
            results = kept.results(batches, write, len(pieces), self._device)
            for batch, written_queries in results:
                for place, queries in zip(batch.items, written_queries, strict=False):
                    written[place] = [query for query in queries if query]
                    counts["queries"] += len(written[place])
                    counts["empty_queries"] += len(queries) - len(written[place])
        rows = [text.key | {"queries": written.get(place, [])} for place, text in enumerate(texts)]
        return pa.Table.from_pylist(rows, schema=EXPANSIONS.schema), counts

    def _pieces(self, texts: Sequence[Text]) -> tuple[dict[int, np.ndarray], int]:
        """The pieces of each text that is not empty, cut to their longest, and how many were cut."""
        room = self._model.tokenizer.room(self._options.max_length)
        texts_by_place = {place: text.text for place, text in enumerate(texts) if text.text.strip()}
        encoded = self._model.tokenizer.encode(
            [self._options.prefix + text for text in texts_by_place.values()]
        )
        kept = {place: encoding.ids[:room] for place, encoding in zip(texts_by_place, encoded, strict=True)}
        return kept, sum(len(encoding.ids) > room for encoding in encoded)

    def _batches(self, pieces: dict[int, np.ndarray]) -> Iterator[LengthBatch[int]]:
        options, tokenizer = self._options, self._model.tokenizer
        special = len(tokenizer.prefix) + len(tokenizer.suffix)
        lengths = ((place, len(ids) + special) for place, ids in pieces.items())
        at_once = max(options.batch_queries // options.queries, 1)
        return length_batches(lengths, options.max_length, lambda _: at_once, self._device)

    def _write(
        self, texts: Sequence[Text], pieces: dict[int, np.ndarray], batch: LengthBatch[int]
    ) -> list[list[str]]:
        """The queries of each document of a batch, and of the copies that fill it up."""
        options, tokenizer = self._options, self._model.tokenizer
        filled = [*batch.items, *[batch.items[0]] * (batch.rows - len(batch.items))]
        wholes = [[*tokenizer.prefix, *pieces[place], *tokenizer.suffix] for place in filled]
        ids, attention = padded(wholes, batch.rows, batch.length, tokenizer.pad)
        if options.decoding == "beam":
            generated = self._model.beams(ids, attention, options.queries, options.query_length)
        else:
            draws = np.stack([self._draws(texts[place].document_id) for place in filled])
            generated = self._model.sample(ids, attention, draws, options.top_k)
        return [[self._model.text(query) for query in queries] for queries in generated]

    def _draws(self, document: str) -> np.ndarray:
        """The numbers that choose each piece of each query of a document, [queries, pieces]: those of the first queries
        are the same for any number of them."""
        shape = (self._options.queries, self._options.query_length)
        return generator(self._options.seed, "doc2query", document).random(shape)
