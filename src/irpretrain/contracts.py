"""The tables that stages hand to each other: declared once, checked when written and when read.

A table is Parquet. Its schema names every column with type, unit and meaning; `docs/contracts.md` is
generated from here. TREC files (runs, qrels), Hugging Face model directories and Lucene indexes keep their
own formats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from irpretrain.atomic import atomic_file
from irpretrain.errors import IntegrityError, one_line

ROWS_PER_GROUP = 16_384
"""Rows in a Parquet row group at most."""
BYTES_PER_GROUP = 64 << 20
"""Bytes of values after which a row group ends: its last row reaches them. Where groups end depends on the rows alone,
so that equal rows give equal bytes however they arrive."""
ROWS_AS_OBJECTS = 1024
"""Rows that are held as Python objects at a time, which cost several times their Arrow form."""
CHARACTERS_AS_OBJECTS = 8 << 20
"""Characters of texts in such rows, after which they are turned into Arrow's form."""


@dataclass(frozen=True)
class Column:
    """One column: name, Arrow type, meaning, unit where it has one, and what a row of a writer means that lacks it."""

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    default: Any = None


@dataclass(frozen=True)
class Contract:
    """A table's name, purpose and columns."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with the contract's name as metadata."""
        fields = [pa.field(c.name, c.type, nullable=False) for c in self.columns]
        return pa.schema(fields, metadata={"contract": self.name})

    def write(self, path: str | Path, rows: Iterable[dict[str, Any]] | pa.Table) -> int:
        """Write `rows` (dicts in any number, or an Arrow table) atomically; return how many there were."""
        return self.write_tables(path, [rows] if isinstance(rows, pa.Table) else self._tables(rows))

    def write_tables(self, path: str | Path, tables: Iterable[pa.Table]) -> int:
        """Write Arrow tables one after the other, atomically; return the number of rows."""
        with atomic_file(path) as temporary, ContractWriter(self, temporary) as writer:
            for table in tables:
                writer.add(table)
            return writer.rows

    def _tables(self, rows: Iterable[dict[str, Any]]) -> Iterator[pa.Table]:
        defaults = {c.name: c.default for c in self.columns if c.default is not None}
        batch: list[dict[str, Any]] = []
        characters = 0
        for row in rows:
            batch.append(defaults | row if defaults else row)
            characters += _characters(row)
            if len(batch) == ROWS_AS_OBJECTS or characters >= CHARACTERS_AS_OBJECTS:
                yield pa.Table.from_pylist(batch, schema=self.schema)
                batch, characters = [], 0
        if batch:
            yield pa.Table.from_pylist(batch, schema=self.schema)

    def read(self, path: str | Path, columns: list[str] | None = None) -> pa.Table:
        """Read the whole table after checking its schema."""
        self.check(path)
        with _read(path):
            return pq.read_table(path, columns=columns, partitioning=None)

    def stream(
        self, path: str | Path, columns: list[str] | None = None, rows: int = ROWS_PER_GROUP
    ) -> Iterator[pa.RecordBatch]:
        """Yield record batches of at most `rows` rows, each of one row group, so that memory stays flat."""
        self.check(path)
        with _read(path), parquet_file(path) as file:
            for group in range(file.num_row_groups):
                yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=columns)

    def stream_chosen(
        self,
        path: str | Path,
        wanted: Collection[str],
        columns: list[str] | None = None,
        key: str = "document_id",
        rows: int = ROWS_AS_OBJECTS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows whose `key` is among `wanted`, at most `rows` at a time; of row groups without any only the
        key is read."""
        self.check(path)
        names = pa.array(sorted(wanted), pa.string())
        with _read(path), parquet_file(path) as file:
            for group in range(file.num_row_groups):
                found = pc.is_in(file.read_row_group(group, [key]).column(0), value_set=names)
                if pc.any(found).as_py():
                    yield from file.read_row_group(group, columns).filter(found).to_batches(rows)

    def count(self, path: str | Path) -> int:
        """Return the number of rows without reading them."""
        self.check(path)
        return pq.read_metadata(path).num_rows

    def check(self, path: str | Path) -> None:
        """Raise IntegrityError unless the file at `path` keeps this contract."""
        try:
            with _read(path):
                found = pq.read_schema(path)
        except FileNotFoundError:
            raise IntegrityError(path, f"there is no table of {self.name}") from None
        if not found.equals(self.schema, check_metadata=False):
            raise IntegrityError(
                path,
                f"this is not a table of {self.name}: expected {_brief(self.schema)}, found {_brief(found)}",
                remedy="Delete it and run the workflow again; it was written by another version.",
            )


def parquet_file(path: str | Path) -> pq.ParquetFile:
    """Open a Parquet file to be read piece by piece.

    By itself pyarrow asks for all row groups at the first one and keeps their bytes to the end: the whole file.
    """
    return pq.ParquetFile(path, pre_buffer=False)


@contextmanager
def _read(path: str | Path) -> Iterator[None]:
    """Refuse a damaged file; its end, which holds the schema, may be whole where a page before it is not."""
    try:
        yield
    except (FileNotFoundError, MemoryError):
        raise
    except (pa.ArrowException, OSError) as error:
        reason = f"this is not a whole Parquet file ({one_line(error).rstrip('.')})"
        raise IntegrityError(path, reason, remedy="Delete it and run the workflow again.") from None


class ContractWriter:
    """Writes a contract's table in row groups that depend on its rows alone, whatever sizes the pieces arrive in."""

    def __init__(self, contract: Contract, path: Path) -> None:
        self.contract, self.rows = contract, 0
        self._writer = pq.ParquetWriter(path, contract.schema, compression="zstd", version="2.6")
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        self._waiting: list[pa.Table] = []
        self._sizes: list[np.ndarray] = []
        self._waiting_rows = self._waiting_bytes = 0

    def __enter__(self) -> ContractWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is None:
            self._add_rows()
            self._flush(everything=True)
        self._writer.close()

    def add(self, table: pa.Table) -> None:
        """Append `table`, whose columns must be the contract's."""
        table = table.select(self.contract.schema.names).cast(self.contract.schema)
        self._keep(table, _bytes_of_rows(table))
        self.rows += table.num_rows
        if self._waiting_rows >= ROWS_PER_GROUP or self._waiting_bytes >= BYTES_PER_GROUP:
            self._flush()

    def add_row(self, row: dict[str, Any]) -> None:
        """Append one row."""
        self._rows.append(row)
        self._characters += _characters(row)
        if len(self._rows) == ROWS_AS_OBJECTS or self._characters >= CHARACTERS_AS_OBJECTS:
            self._add_rows()

    def _add_rows(self) -> None:
        rows, self._rows, self._characters = self._rows, [], 0
        if rows:
            self.add(pa.Table.from_pylist(rows, schema=self.contract.schema))

    def note(self, facts: dict[str, str]) -> None:
        """Keep `facts` about the whole table in the file's key-value metadata."""
        self._writer.add_key_value_metadata(facts)

    def _flush(self, everything: bool = False) -> None:
        if not self._waiting:
            return
        table, sizes = pa.concat_tables(self._waiting), np.concatenate(self._sizes)
        start = 0
        while start < table.num_rows:
            within = np.cumsum(sizes[start : start + ROWS_PER_GROUP])
            rows = min(int(np.searchsorted(within, BYTES_PER_GROUP)) + 1, len(within))
            if not everything and rows < ROWS_PER_GROUP and within[rows - 1] < BYTES_PER_GROUP:
                break
            # In one chunk each, as the borders of chunks show in the bytes.
            self._writer.write_table(table.slice(start, rows).combine_chunks())
            start += rows
        self._waiting, self._sizes, self._waiting_rows, self._waiting_bytes = [], [], 0, 0
        if start < table.num_rows:
            self._keep(table.slice(start), sizes[start:])

    def _keep(self, table: pa.Table, sizes: np.ndarray) -> None:
        self._waiting.append(table)
        self._sizes.append(sizes)
        self._waiting_rows += table.num_rows
        self._waiting_bytes += int(sizes.sum())


def _characters(row: dict[str, Any]) -> int:
    return sum(len(value) for value in row.values() if type(value) is str)


def _bytes_of_rows(table: pa.Table) -> np.ndarray:
    """Bytes of each row's values, [rows]: the same however the table is cut."""
    sizes = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        place = 0
        for chunk in column.chunks:
            sizes[place : place + len(chunk)] += _bytes_of_values(chunk)
            place += len(chunk)
    return sizes


def _bytes_of_values(values: pa.Array) -> np.ndarray | int:
    """Bytes of each value of an array, or of any where all have the same."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return np.asarray(pc.binary_length(values).fill_null(0), np.int64)
    if pa.types.is_list(kind):
        lengths = np.asarray(pc.list_value_length(values).fill_null(0), np.int64)
        inner = _bytes_of_values(values.flatten())
        if isinstance(inner, int):
            return lengths * inner
        ends = np.cumsum(lengths)
        total = np.concatenate([[0], np.cumsum(inner)])
        return np.asarray(total[ends] - total[ends - lengths], np.int64)
    if pa.types.is_struct(kind):
        parts = [_bytes_of_values(values.field(n)) for n in range(kind.num_fields)]
        return sum(parts[1:], parts[0])
    return (kind.bit_width + 7) // 8


def _brief(schema: pa.Schema) -> str:
    return ", ".join(f"{f.name}: {f.type}{'' if not f.nullable else '?'}" for f in schema)


_PLACE = (
    Column("part", pa.int32(), "file of the corpus, in sorted order; first key of the order"),
    Column(
        "position",
        pa.int64(),
        "record in that file (pages of a dump: see corpora.md); for a passage, record × 65,536 + "
        "passage; second key of the order",
    ),
)


def _record(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([pa.field(name, kind, nullable=False) for name, kind in fields.items()])


def _list(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("item", kind, nullable=False))


SECTION = _record(level=pa.int16(), heading=pa.string(), start=pa.int32(), end=pa.int32(), role=pa.string())
LINK = _record(target=pa.string(), fragment=pa.string(), start=pa.int32(), end=pa.int32(), section=pa.int16())

DOCUMENTS = Contract(
    "documents",
    "A corpus shard: one row per document, in corpus order (part, position).",
    (
        Column("document_id", pa.string(), "unique in its collection; used in runs and qrels"),
        *_PLACE,
        Column("title", pa.string(), "title, or empty"),
        Column("url", pa.string(), "address, or empty"),
        Column("body", pa.string(), "plain text with a newline between paragraphs"),
        Column(
            "sections",
            _list(SECTION),
            "in order: level (0: lead section, 2: ==x==, …), heading, start and end of its text in the body, "
            "role (see-also, boilerplate, or empty). An empty list means one lead section",
            "characters",
            default=[],
        ),
        Column(
            "links",
            _list(LINK),
            "in order: linked title as written, fragment without #, start and end of the anchor in the body, "
            "number of its section",
            "characters",
            default=[],
        ),
        Column(
            "disambiguation",
            pa.bool_(),
            "the page only lists articles with similar names",
            default=False,
        ),
    ),
)

REDIRECTS = Contract(
    "redirects",
    "Redirects of a corpus shard, in corpus order; no rows for formats without redirects. The file's metadata "
    "`title_case` is the dump's rule for the case of titles.",
    (
        *_PLACE,
        Column("title", pa.string(), "title of the redirect page"),
        Column("target", pa.string(), "target title as written"),
        Column("fragment", pa.string(), "section of the target without #, or empty"),
    ),
)

_SIZES = (
    Column("words", pa.int32(), "words of the body, split at white space", "words"),
    Column("segments", pa.int32(), "number of segments, at least 1", "segments"),
    Column("disambiguation", pa.bool_(), "the page only lists meanings of its title"),
)

LINK_SOURCES = Contract(
    "link_sources",
    "Documents of a corpus shard as link sources, in corpus order.",
    (
        *_PLACE,
        Column("document_id", pa.string(), "document"),
        Column("title", pa.string(), "its title"),
        Column("key", pa.string(), "normalised title; links match it"),
        *_SIZES,
    ),
)

LINKS = Contract(
    "links",
    "Links of a corpus shard in document order.",
    (
        *_PLACE,
        Column("segment", pa.int16(), "segment of the anchor's first character in the source"),
        Column("section", pa.int16(), "section of the anchor in the source"),
        Column("start", pa.int32(), "first character of the anchor in the source's body", "characters"),
        Column("end", pa.int32(), "end of the anchor in the source's body", "characters"),
        Column("target", pa.string(), "normalised title of the target, before redirects"),
        Column("see_also", pa.bool_(), "the anchor is in a See Also section"),
        Column("mention", pa.bool_(), "a mention of a title, made a link by option"),
    ),
)

NODES = Contract(
    "nodes",
    "Documents of a collection as graph nodes, numbered from 0: by corpus in the order of the configuration, then by "
    "(part, position).",
    (
        Column("node", pa.int32(), "document number, equal to the row number"),
        Column("document_id", pa.string(), "document"),
        Column("title", pa.string(), "its title"),
        Column("corpus", pa.int16(), "corpus of the collection, from 0"),
        *_PLACE,
        *_SIZES,
    ),
)

HYPERLINKS = Contract(
    "hyperlinks",
    "Links from segments to documents: one row per (source, segment, target), sorted by these. "
    "docs/methods/wikipedia-graph.md defines the groups D1 to D5 by these columns.",
    (
        Column("source", pa.int32(), "node that links"),
        Column("segment", pa.int16(), "segment of the source"),
        Column("target", pa.int32(), "linked node, never the source"),
        Column("start", pa.int32(), "start of the target's first anchor in that segment", "characters"),
        Column("end", pa.int32(), "its end", "characters"),
        Column("symmetric", pa.bool_(), "the target links the source from any segment"),
        Column("back_segment", pa.int16(), "first segment of the target that links the source, or -1"),
        Column(
            "strong",
            pa.bool_(),
            "the target's first anchor of the source is in its first segment (graph.first_segment)",
        ),
        Column("section", pa.int16(), "section of the first anchor in the source"),
    ),
)

SEE_ALSO = Contract(
    "see_also",
    "Edges of the See Also graph, distinct, sorted by (source, target).",
    (
        Column("source", pa.int32(), "node with the link in See Also"),
        Column("target", pa.int32(), "linked node, never the source"),
    ),
)

ANCHOR_TEXTS = Contract(
    "anchor_texts",
    "Targets of each anchor text in a collection, distinct, sorted by (anchor, target).",
    (
        Column("anchor", pa.string(), "anchor text, case folded, with single spaces"),
        Column("target", pa.int32(), "linked node"),
        Column("links", pa.int32(), "number of rows in HYPERLINKS", "links"),
    ),
)

QUERIES = Contract(
    "queries",
    "Queries of a data set, in the order of their source.",
    (
        Column("query_id", pa.string(), "used in runs and qrels"),
        Column("text", pa.string(), "query text"),
    ),
)

WORD_COUNTS = Contract(
    "word_counts",
    "Collection statistics: one row per word, sorted by word (code points).",
    (
        Column("word", pa.string(), "lower-cased word"),
        Column("count", pa.int64(), "occurrences in the collection", "words"),
        Column("documents", pa.int64(), "documents with the word", "documents"),
        Column(
            "stem_documents",
            pa.int64(),
            "documents in which it is the first word of its Porter stem; the sum over a stem's words is the "
            "stem's document frequency",
            "documents",
        ),
    ),
)

VOCABULARY = Contract(
    "vocabulary",
    "Vocabulary of a ranker over words, in the order of its vectors, from 1.",
    (
        Column("word", pa.string(), "lower-cased word"),
        Column("number", pa.int64(), "row in WORD_COUNTS of the ranker's collection"),
    ),
)

SPAN = _record(
    document_id=pa.string(), start=pa.int32(), end=pa.int32(), gap_start=pa.int32(), gap_end=pa.int32()
)
QUERY_PART = _record(text=pa.string(), document_id=pa.string(), start=pa.int32(), end=pa.int32())
ANCHOR = _record(start=pa.int32(), end=pa.int32())
NO_ANCHOR = (-1, -1)
"""Start and end of the anchor of a sequence whose query does not link its document."""

GROUPS = Contract(
    "groups",
    "Ranking groups: lists of (query, document) sequences; the first sequence is preferred. Queries "
    "or documents hold one entry that all sequences share; the other list has one entry per "
    "sequence.",
    (
        *_PLACE,
        Column("sample", pa.int32(), "group of that document; third key of the order"),
        Column(
            "queries",
            _list(QUERY_PART),
            "a literal text, or (if document_id is not empty) the tokens start to end of a document",
        ),
        Column(
            "documents",
            _list(SPAN),
            "tokens start to end of a document in the token store (end -1: to its end), without the tokens "
            "gap_start to gap_end (both 0: no gap)",
            "word pieces",
        ),
        Column(
            "scores",
            _list(pa.float32()),
            "score behind the preference, one per sequence (ROP: log-likelihood of the word set)",
        ),
        Column(
            "anchors",
            _list(ANCHOR),
            "empty, or one per sequence: tokens start to end, in the query's document, of the anchor that links this "
            "sequence's document; -1 and -1 without a link",
            "word pieces",
        ),
    ),
)

_DOCUMENT_QUERY = (
    *_PLACE,
    Column("sample", pa.int32(), "query of that document, from 0; third key of the order"),
    Column("document_id", pa.string(), "document"),
    Column("query_id", pa.string(), "id in the data set; empty for a pseudo-query"),
    Column("query", pa.string(), "query text, or the words of a pseudo-query"),
)

DOCUMENT_QUERIES = Contract(
    "document_queries",
    "Pseudo-queries of a corpus shard, or a data set's queries with their relevant documents, in corpus order.",
    _DOCUMENT_QUERY,
)

AXIOM_VALUES = Contract(
    "axiom_values",
    "DOCUMENT_QUERIES with one value per axiom; docs/methods/axioms.md defines them. stm_2 is the share that decides "
    "if stm_1 is close.",
    (
        *_DOCUMENT_QUERY,
        Column("terms", pa.int32(), "distinct query terms", "terms"),
        Column("rank", pa.int32(), "RANK, smaller is better; 0 stands for +∞", "documents"),
        Column("rep_ql", pa.float64(), "REP-QL: mean log-likelihood of a term, natural logarithm"),
        Column("rep_tfidf", pa.float64(), "REP-TFIDF: mean tf·idf"),
        Column("prox_1", pa.float64(), "PROX-1: mean words between two terms, smaller is better", "words"),
        Column("prox_2", pa.float64(), "PROX-2: mean place of first occurrences, smaller is better", "words"),
        Column("reg", pa.float64(), "REG: occurrences of the most diverse term", "words"),
        Column("stm_1", pa.float64(), "STM-1: cosine of query and document"),
        Column("stm_2", pa.float64(), "STM-2: share of terms in the document"),
        Column("stm_3", pa.float64(), "STM-3: share of terms similar to the document"),
    ),
)

AXIOM_PAIRS = Contract(
    "axiom_pairs",
    "Pairs of pseudo-queries for an axiom diagnosis, in random order.",
    (
        Column("pair", pa.int32(), "pair number from 0, equal to the row number"),
        Column("document_id", pa.string(), "document"),
        Column("first", pa.string(), "words of one pseudo-query"),
        Column("second", pa.string(), "words of another, of equal length"),
        Column(
            "preferences",
            _list(pa.int8()),
            "one per axiom, in the order of ARES's table 1: 1 prefers the first, -1 the second, 0 neither",
        ),
    ),
)

PAIR_SCORES = Contract(
    "pair_scores",
    "A re-ranker's scores of both pseudo-queries of each row of AXIOM_PAIRS.",
    (
        Column("pair", pa.int32(), "pair number, equal to the row number"),
        Column("first", pa.float32(), "score of the first pseudo-query"),
        Column("second", pa.float32(), "score of the second"),
    ),
)

TERM_TARGETS = Contract(
    "term_targets",
    "Targets of term weighting: one row per text (passage or query) or per (query, passage) pair, in text order; "
    "definitions in docs/methods/deepct.md.",
    (
        *_PLACE,
        Column("document_id", pa.string(), "id of the text: a document, or a query if queries are weighted"),
        Column("sample", pa.int32(), "row of that text, from 0; third key of the order"),
        Column("text", pa.string(), "text"),
        Column("judged", pa.int32(), "number of relevant queries (of a passage) or documents (of a query)"),
        Column("targets", _list(pa.float32()), "target of each word, from 0 to 1"),
    ),
)

TERM_WEIGHT = _record(term=pa.string(), weight=pa.float32())
TERM_WEIGHTS = Contract(
    "term_weights",
    "Predicted weights for a corpus shard or a data set's queries: one row per text in order, also for texts without "
    "words.",
    (
        *_PLACE,
        Column("document_id", pa.string(), "id of the text: a document, or a query if queries are weighted"),
        Column(
            "terms",
            _list(TERM_WEIGHT),
            "distinct lower-cased words, sorted by code points; a repeated word has its largest weight",
        ),
    ),
)

TERM_COUNT = _record(term=pa.string(), weight=pa.int32())
TERM_VECTORS = Contract(
    "term_vectors",
    "Integer weights in place of term frequencies in an index: one row per text in order, also for texts without "
    "terms.",
    (
        *_PLACE,
        Column("document_id", pa.string(), "id of the text: a document, or a query if queries are weighted"),
        Column(
            "terms",
            _list(TERM_COUNT),
            "distinct lower-cased words with weight 1 or more, not stemmed, sorted by code points",
        ),
    ),
)

EXPANSIONS = Contract(
    "expansions",
    "Queries that a model wrote: one row per document in order, also for documents without queries.",
    (
        *_PLACE,
        Column("document_id", pa.string(), "document"),
        Column(
            "queries",
            _list(pa.string()),
            "queries in the order of their draws; from a beam search, best first",
        ),
    ),
)

SPAN_QUESTIONS = Contract(
    "span_questions",
    "One row per question of extractive question answering.",
    (
        Column("role", pa.string(), "train, choose (epoch and learning rate) or test"),
        Column("question_id", pa.string(), "question"),
        Column("question", pa.string(), "its text"),
        Column("context", pa.string(), "text with the answer"),
        Column("answers", _list(pa.string()), "every accepted answer"),
        Column("starts", _list(pa.int32()), "start of each answer that occurs in the text"),
        Column("ends", _list(pa.int32()), "end of each, exclusive"),
    ),
)

LABELLED_SENTENCES = Contract(
    "labelled_sentences",
    "One row per example of a GLUE task.",
    (
        Column("role", pa.string(), "train, choose (epoch and learning rate), test or mismatched"),
        Column(
            "example_id", pa.string(), "<file>-<line>: file train, development or mismatched, line from 1"
        ),
        Column("texts", _list(pa.string()), "one or two sentences"),
        Column("label", pa.string(), "class, or a number as written"),
    ),
)

PER_QUERY = Contract(
    "per_query",
    "One row per query, measure and run.",
    (
        Column("dataset", pa.string(), "data set"),
        Column("candidates", pa.string(), "first-stage run that is re-ranked"),
        Column("model", pa.string(), "model, or the first stage itself"),
        Column(
            "regime", pa.string(), "zero-shot, few-shot-<n> or full; first-stage for the candidates' own run"
        ),
        Column("seed", pa.int32(), "seed of pre-training and fine-tuning; 0 without training"),
        Column("fold", pa.int32(), "test fold of the query, from 1; 0 without folds"),
        Column("query_id", pa.string(), "query"),
        Column("measure", pa.string(), "measure, in ir_measures' notation"),
        Column("value", pa.float64(), "its value"),
    ),
)

CONTRACTS = (
    DOCUMENTS,
    REDIRECTS,
    QUERIES,
    WORD_COUNTS,
    VOCABULARY,
    GROUPS,
    LINK_SOURCES,
    LINKS,
    NODES,
    HYPERLINKS,
    SEE_ALSO,
    ANCHOR_TEXTS,
    DOCUMENT_QUERIES,
    AXIOM_VALUES,
    AXIOM_PAIRS,
    PAIR_SCORES,
    TERM_TARGETS,
    TERM_WEIGHTS,
    TERM_VECTORS,
    EXPANSIONS,
    SPAN_QUESTIONS,
    LABELLED_SENTENCES,
    PER_QUERY,
)
