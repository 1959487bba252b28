"""Values of the axioms for the queries of a table, in one pass (ARES, section 3.2 and table 1)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.atomic import atomic_file
from irpretrain.axioms.batch import UNKNOWN, Batch, BatchMaker
from irpretrain.axioms.collection import Collection
from irpretrain.axioms.registry import DEFINITIONS
from irpretrain.config.text import TextConfig
from irpretrain.contracts import AXIOM_VALUES, DOCUMENT_QUERIES, ContractWriter
from irpretrain.progress import progress
from irpretrain.text.word_documents import WordDocuments

QUERIES_AT_ONCE = 8192
"""Queries of a batch. With a document of its own each, their documents' vectors take 800 bytes × dimensions / 100."""


def compute_axiom_values(
    queries: str | Path,
    words: str | Path | Sequence[str | Path],
    collection: Collection,
    text: TextConfig,
    output: str | Path,
    held_alone: bool = False,
) -> dict[str, Any]:
    """Compute what the axioms compare, for queries and their documents.

    Args:
        queries: a DOCUMENT_QUERIES table. Queries of one document should follow each other.
        words: word store, or stores, that hold the documents.
        collection: the documents' collection, with the choices and thresholds of docs/methods/axioms.md.
        text: how a text becomes words; as the statistics were made with.
        output: an AXIOM_VALUES table, its rows in the order of `queries`.
        held_alone: leave out the terms of a query that its document lacks.

    Returns:
        Counts: queries, by what is special about them; see `_Report`.

    Raises:
        InputError: the stores or the postings lack a document.
        IntegrityError: the inputs are damaged, or not of the same collection.
    """
    directories = [words] if isinstance(words, str | Path) else list(words)
    stores = WordDocuments.open(directories, len(collection.terms.numbers))
    maker = BatchMaker(collection, stores, text.word_kind, held_alone)
    document_ids = DOCUMENT_QUERIES.read(queries, ["document_id"])["document_id"]
    rows, numbers = stores.rows(document_ids), collection.postings.rows(document_ids)
    report, done = _Report(), 0
    batches = DOCUMENT_QUERIES.stream(queries, rows=QUERIES_AT_ONCE)
    title = f"axioms {Path(output).stem}"
    with atomic_file(output) as temporary, ContractWriter(AXIOM_VALUES, temporary) as writer:
        for chunk in progress(batches, title, "queries", DOCUMENT_QUERIES.count(queries), size=len):
            places = slice(done, done + chunk.num_rows)
            batch = maker.make(chunk["query"].to_pylist(), rows[places], numbers[places])
            values = axiom_values(batch)
            writer.add(_table(chunk, batch, values))
            report.add(batch, values)
            done += chunk.num_rows
    return report.counts()


def axiom_values(batch: Batch) -> dict[str, np.ndarray]:
    """Return every axiom's values by its column of AXIOM_VALUES."""
    return {definition.column: definition.values(batch) for definition in DEFINITIONS.values()}


def _table(table: pa.RecordBatch, batch: Batch, values: dict[str, np.ndarray]) -> pa.Table:
    columns = {"terms": batch.sizes, **values}
    for name, column in columns.items():
        table = table.append_column(
            AXIOM_VALUES.schema.field(name), pa.array(column, AXIOM_VALUES.schema.field(name).type)
        )
    return pa.Table.from_batches([table])


class _Report:
    """Adds up what is special about queries: without terms; with a term that the document, or the collection, lacks;
    with a document beyond the depth of RANK, or of rank 1."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()

    def add(self, batch: Batch, values: dict[str, np.ndarray]) -> None:
        self._sums["queries"] += len(batch)
        self._sums["without_terms"] += int(np.count_nonzero(batch.sizes == 0))
        self._sums["document_lacks_a_term"] += int(
            np.count_nonzero((values["stm_2"] < 1) & (batch.sizes > 0))
        )
        unknown = np.concatenate([[0], np.cumsum(batch.queries.terms == UNKNOWN)])[batch.queries.offsets]
        self._sums["collection_lacks_a_term"] += int(np.count_nonzero(np.diff(unknown)))
        self._sums["rank_1"] += int(np.count_nonzero(values["rank"] == 1))
        self._sums["rank_beyond_depth"] += int(np.count_nonzero(values["rank"] == 0))

    def counts(self) -> dict[str, Any]:
        names = ("queries", "without_terms", "document_lacks_a_term", "collection_lacks_a_term")
        return {name: self._sums[name] for name in (*names, "rank_1", "rank_beyond_depth")}
