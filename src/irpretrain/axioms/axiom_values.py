"""Values of the axioms for the queries of a table, in one pass (ARES, section 3.2 and table 1)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.batch import UNKNOWN, AxiomBatch, AxiomCollection, BatchMaker, sums_between
from irpretrain.axioms.preferences import DEFINITIONS, larger_is_better
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENT_QUERIES
from irpretrain.foundation.progress import progress
from irpretrain.foundation.tables import ROWS_PER_GROUP
from irpretrain.text.word_store import WordDocuments

# Queries of a batch. With a document of its own each, their documents' vectors take 800 bytes × dimensions / 100.
QUERIES_AT_ONCE = 8192

# All queries; those without terms, with a term that the document or the collection lacks, and by their RANK.
COUNT_NAMES = (
    "queries", "without_terms", "document_lacks_a_term", "collection_lacks_a_term", "rank_1", "rank_beyond_depth",
)  # fmt: skip


def compute_axiom_values(
    queries: str | Path,  # a DOCUMENT_QUERIES table. Queries of one document should follow each other.
    word_stores: Sequence[str | Path],  # word stores that hold the documents
    # The documents' collection, with the choices and thresholds of docs/methods/axioms.md.
    collection: AxiomCollection,
    text: TextConfig,  # how a text becomes words; as the statistics were made with
    output: str | Path,  # an AXIOM_VALUES table, its rows in the order of `queries`
) -> dict[str, Any]:
    """Compute the values that axioms compare, for queries and their documents.

    Returns:
        Counts: queries, by special cases; see `COUNT_NAMES`.

    Raises:
        InputError: the stores or the postings lack a document.
        IntegrityError: the inputs are damaged, or not of the same collection.
    """
    stores = WordDocuments.open(word_stores, len(collection.terms.word_numbers))
    maker = BatchMaker(collection, stores, text.word_kind)
    document_ids = DOCUMENT_QUERIES.read(queries, ["document_id"])["document_id"]
    rows, document_numbers = stores.rows(document_ids), collection.postings.rows(document_ids)
    counts, queries_done = Counter(dict.fromkeys(COUNT_NAMES, 0)), 0
    chunks = DOCUMENT_QUERIES.stream(queries, rows=QUERIES_AT_ONCE)
    title = f"axioms {Path(output).stem}"
    with AXIOM_VALUES.writing(output) as writer:
        for chunk in progress(chunks, title, "queries", DOCUMENT_QUERIES.count(queries), size=len):
            chunk_slice = slice(queries_done, queries_done + chunk.num_rows)
            batch = maker.make(chunk["query"].to_pylist(), rows[chunk_slice], document_numbers[chunk_slice])
            values = axiom_values(batch)
            columns = dict(zip(chunk.schema.names, chunk.columns, strict=True))
            writer.add(
                pa.table({**columns, "terms": batch.term_counts, **values}, schema=AXIOM_VALUES.schema)
            )
            counts.update(_count_special(batch, values))
            queries_done += chunk.num_rows
    return dict(counts)


def axiom_values(batch: AxiomBatch) -> dict[str, np.ndarray]:
    """Return every axiom's values by its column of AXIOM_VALUES."""
    return {definition.column: definition.values(batch) for definition in DEFINITIONS.values()}


def _count_special(batch: AxiomBatch, values: dict[str, np.ndarray]) -> dict[str, int]:
    is_special = {
        "without_terms": batch.term_counts == 0,
        "document_lacks_a_term": (values["stm_2"] < 1) & (batch.term_counts > 0),
        "collection_lacks_a_term": sums_between(batch.queries.terms == UNKNOWN, batch.queries.offsets),
        "rank_1": values["rank"] == 1,
        "rank_beyond_depth": values["rank"] == 0,
    }
    return {"queries": len(batch)} | {name: int(np.count_nonzero(rows)) for name, rows in is_special.items()}


# AXIOM_VALUES as whole documents: batches in which no document is cut in two.


COLUMNS = ["part", "position", "document_id", "query", *(d.column for d in DEFINITIONS.values())]


@dataclass(frozen=True)
class ValueBatch:
    # Part, position, document_id, query and values, one row per query; those of a document are consecutive.
    rows: pa.Table
    values: np.ndarray  # float64 [queries, 9], larger is better
    word_counts: np.ndarray  # int64 [queries], words of each query, a repeated one as often as it occurs
    document_starts: np.ndarray  # int64 [documents + 1], the first query of each document

    @property
    def document_ids(self) -> list[str]:
        ids: list[str] = self.rows["document_id"].take(pa.array(self.document_starts[:-1])).to_pylist()
        return ids


def whole_documents(path: str | Path, batch_size: int = ROWS_PER_GROUP) -> Iterator[ValueBatch]:
    """Yield whole documents of an AXIOM_VALUES table in batches of about `batch_size` rows; IntegrityError on a NaN."""
    pending_rows = AXIOM_VALUES.schema.empty_table().select(COLUMNS)
    for batch in AXIOM_VALUES.stream(path, COLUMNS, batch_size):
        table = pa.concat_tables([pending_rows, pa.Table.from_batches([batch])]).combine_chunks()
        last_start = int(_starts(table)[-2])
        if last_start:
            yield _value_batch(table.slice(0, last_start), path)
        pending_rows = table.slice(last_start)
    if pending_rows.num_rows:
        yield _value_batch(pending_rows, path)


def _value_batch(rows: pa.Table, source: str | Path) -> ValueBatch:
    spaces = pc.count_substring(rows["query"], " ").to_numpy().astype(np.int64)
    return ValueBatch(rows, larger_is_better(rows, source), spaces + 1, _starts(rows))


def _starts(rows: pa.Table) -> np.ndarray:
    """Return int64 [documents + 1]: the first row of each document, and the number of rows."""
    part, position = rows["part"].to_numpy(), rows["position"].to_numpy()
    boundaries = 1 + np.flatnonzero((np.diff(part) != 0) | (np.diff(position) != 0))
    return np.concatenate([np.zeros(1, np.int64), boundaries, np.array([len(part)])]).astype(np.int64)
