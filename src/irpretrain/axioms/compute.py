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
COUNTED = (
    "queries", "without_terms", "document_lacks_a_term", "collection_lacks_a_term", "rank_1", "rank_beyond_depth",
)  # fmt: skip
"""All queries; those without terms, with a term that the document or the collection lacks, and by their RANK."""


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
        Counts: queries, by what is special about them; see `COUNTED`.

    Raises:
        InputError: the stores or the postings lack a document.
        IntegrityError: the inputs are damaged, or not of the same collection.
    """
    directories = [words] if isinstance(words, str | Path) else list(words)
    stores = WordDocuments.open(directories, len(collection.terms.numbers))
    maker = BatchMaker(collection, stores, text.word_kind, held_alone)
    document_ids = DOCUMENT_QUERIES.read(queries, ["document_id"])["document_id"]
    rows, numbers = stores.rows(document_ids), collection.postings.rows(document_ids)
    counts, done = Counter(dict.fromkeys(COUNTED, 0)), 0
    batches = DOCUMENT_QUERIES.stream(queries, rows=QUERIES_AT_ONCE)
    title = f"axioms {Path(output).stem}"
    with atomic_file(output) as temporary, ContractWriter(AXIOM_VALUES, temporary) as writer:
        for chunk in progress(batches, title, "queries", DOCUMENT_QUERIES.count(queries), size=len):
            places = slice(done, done + chunk.num_rows)
            batch = maker.make(chunk["query"].to_pylist(), rows[places], numbers[places])
            values = axiom_values(batch)
            writer.add(_table(chunk, batch, values))
            counts.update(_count_special(batch, values))
            done += chunk.num_rows
    return dict(counts)


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


def _count_special(batch: Batch, values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return how many queries a batch has, and how many of each kind in `COUNTED`."""
    unknown = np.concatenate([[0], np.cumsum(batch.queries.terms == UNKNOWN)])[batch.queries.offsets]
    special = {
        "without_terms": batch.sizes == 0,
        "document_lacks_a_term": (values["stm_2"] < 1) & (batch.sizes > 0),
        "collection_lacks_a_term": np.diff(unknown),
        "rank_1": values["rank"] == 1,
        "rank_beyond_depth": values["rank"] == 0,
    }
    return {"queries": len(batch)} | {name: int(np.count_nonzero(rows)) for name, rows in special.items()}
