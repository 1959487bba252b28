"""From a word store to a table of pseudo-queries (ARES, section 4.1): runs the compiled draw, writes words as text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.contrastive import NO_WORD, read_contrastive_model, weight_classes
from irpretrain.axioms.contrastive_draws import ContrastRules, ContrastTables, DrawnQueries, draw_queries
from irpretrain.foundation.contracts import DOCUMENT_QUERIES
from irpretrain.foundation.errors import MAKE_AGAIN, ConfigError, IntegrityError, refusing_damage
from irpretrain.foundation.progress import print_line, progress
from irpretrain.foundation.randomness import stream_keys
from irpretrain.text.set_sizes import cumulative, set_size_probabilities
from irpretrain.text.word_store import WordStore

if TYPE_CHECKING:
    from irpretrain.config.axioms import PseudoQueriesConfig

# Name of the random streams: (seed, "pseudo-queries", document id).
STAGE = "pseudo-queries"

# Room for drawn words, which decides how many documents are drawn for at a time.
WORDS_AT_ONCE = 4_000_000
DOCUMENTS_AT_ONCE = 4096
COUNT_NAMES = (
    "documents", "documents_without_words", "queries", "words", "words_outside_document", "lengths_cut",
)  # fmt: skip


def read_temperature(path: str | Path) -> float:
    """Return the temperature in a file of `irpretrain.axioms.calibration`; IntegrityError unless it is above 0."""
    with refusing_damage(path, "this is not a calibrated temperature", MAKE_AGAIN):
        temperature = float(json.loads(Path(path).read_text(encoding="utf-8"))["temperature"])
        if not temperature > 0:
            raise ValueError(f"{temperature} is not above 0")
        return temperature


def at_temperature(options: PseudoQueriesConfig, path: str | Path | None) -> PseudoQueriesConfig:
    """Return the options with the temperature in the file, if a calibrated one is configured."""
    if options.temperature == "calibrated" and path is not None:
        return options.at(read_temperature(path))
    return options


def sample_pseudo_queries(
    word_store: str | Path,  # the shard's word store
    # Merged WORD_COUNTS of the collection, the ones that the word store was made with.
    statistics: str | Path,
    options: PseudoQueriesConfig,  # see `PseudoQueriesConfig`
    seed: int,  # seed of the random streams, which are named by (seed, "pseudo-queries", document id)
    # A DOCUMENT_QUERIES table in corpus order. A query is its words in the order drawn, joined by spaces;
    # query_id is empty. Documents without a word of the vocabulary have no queries, all others
    # `per_document`.
    output: str | Path,
    # Output of `irpretrain.axioms.calibration` for the collection, if the options configure it.
    temperature: str | Path | None = None,
) -> dict[str, Any]:
    """Draw the pseudo-queries of the documents of one corpus shard.

    Returns:
        Counts: documents, documents without words, queries, words, words outside their document, queries cut as the
        document has too few words, lengths observed and (before cutting) expected, size of the vocabulary, mu,
        temperature.

    Raises:
        ConfigError: the temperature is to be calibrated, and none is configured.
        InputError: the vocabulary is empty.
        IntegrityError: the word store has other statistics, or the file of the temperature is damaged.
    """
    origin = "a number in the configuration, for every collection"
    if options.temperature == "calibrated":
        origin = "calibrated on the collection"
    store = WordStore(word_store)
    sampler = PseudoQuerySampler(statistics, at_temperature(options, temperature), seed)
    if store.vocabulary_size != len(sampler.tables.position_of):
        expected = f"{statistics} has {len(sampler.tables.position_of):,}"
        fault = f"this word store numbers {store.vocabulary_size:,} words, but {expected}"
        raise IntegrityError(word_store, fault, remedy="Delete both and run the workflow again.")
    print_line(f"[pseudo-queries] temperature {sampler.rules.temperature:g}: {origin}")
    counts = Counter(dict.fromkeys(COUNT_NAMES, 0))
    length_counts = np.zeros(len(sampler.tables.length_sums) + 1, np.int64)
    with DOCUMENT_QUERIES.writing(output) as writer:
        for documents, queries in sampler.sample(store):
            parents = documents.append_column("sample", pa.repeat(np.int32(0), documents.num_rows))
            parents = parents.append_column("query_id", pa.repeat("", documents.num_rows))
            writer.add(sampler.table(parents, queries))
            counts.update(
                documents=documents.num_rows,
                documents_without_words=documents.num_rows - len(np.unique(queries.document_of_query)),
                queries=len(queries.document_of_query),
                words=len(queries.words),
                words_outside_document=int(queries.outside_count),
                lengths_cut=int(queries.cut_count),
            )
            length_counts += np.bincount(queries.sizes, minlength=len(length_counts))
    counts_of_length = {
        str(length): {
            "queries": int(length_counts[length]),
            "expected": round(float(counts["queries"] * probability), 3),
        }
        for length, probability in enumerate(sampler.length_probabilities, 1)
    }
    return {
        **counts,
        "lengths": counts_of_length,
        "vocabulary": len(sampler.names),
        "mu": sampler.rules.mu,
        "temperature": sampler.rules.temperature,
    }


class PseudoQuerySampler:
    """Draws the pseudo-queries of documents of one collection.

    Attributes:
        names: the vocabulary.
        rows: int64 [V], the row of WORD_COUNTS of each word of the vocabulary.
        tables, rules: arguments of the compiled draw.
        length_probabilities: float64, P(length) for lengths from 1.
    """

    def __init__(self, statistics: str | Path, options: PseudoQueriesConfig, seed: int) -> None:
        """ConfigError if the temperature is no number, InputError if the vocabulary is empty."""
        temperature = options.temperature
        if temperature == "calibrated":
            raise ConfigError(
                "pseudo_queries.temperature: calibrated names no number; calibrate the collection first "
                "(irpretrain.axioms.calibration), or give a number"
            )
        model = read_contrastive_model(statistics, options)
        self._seed = seed
        information = -np.log(model.background)
        # Where only a document's own words are drawn, there are no classes of others.
        self._heights = model.background * information if options.support == "collection" else np.empty(0)
        self.names = model.words
        self.rows = np.flatnonzero(model.position_of != NO_WORD)
        self.length_probabilities = set_size_probabilities()
        self.tables = ContrastTables(
            position_of=model.position_of,
            background=model.background,
            information=information,
            length_sums=cumulative(self.length_probabilities),
            classes=weight_classes(self._heights, temperature),
        )
        self.rules = ContrastRules(model.mu, temperature, options.per_document)

    def set_temperature(self, temperature: float) -> None:
        self.tables = self.tables._replace(classes=weight_classes(self._heights, temperature))
        self.rules = self.rules._replace(temperature=temperature)

    def sample(self, store: WordStore) -> Iterator[tuple[pa.Table, DrawnQueries]]:
        """Yield, batch by batch, documents (document_id, part, position) and their queries."""
        max_words_per_document = self.rules.per_document * len(self.tables.length_sums)
        step = max(1, min(DOCUMENTS_AT_ONCE, WORDS_AT_ONCE // max_words_per_document))
        starts, count = range(0, len(store), step), len(store)
        title, size = "sample pseudo-queries", lambda start: min(step, count - start)
        for start in progress(starts, title, "documents", count, size=size):
            documents = store.documents.slice(start, step)
            offsets = store.offsets[start : start + step + 1]
            words = np.array(store.words[offsets[0] : offsets[-1]])
            yield documents, self.draw(words, offsets - offsets[0], documents.column("document_id"))

    def draw(self, words: np.ndarray, offsets: np.ndarray, document_ids: pa.ChunkedArray) -> DrawnQueries:
        """Return the queries of documents, given by their words (int32, end to end) and offsets (int64).

        All queries of a document have one length: ARES samples "queries with equal length (so that some axioms can be
        directly applied without modification)" (section 4.1).
        """
        return draw_queries(
            words,
            offsets,
            stream_keys(self._seed, STAGE, document_ids.to_pylist()),
            np.empty(0, np.int64),
            np.arange(len(self.names), dtype=np.int32),  # each word is a term of its own
            self.tables,
            self.rules,
        )

    def table(self, parents: pa.Table, queries: DrawnQueries) -> pa.Table:
        """Return a DOCUMENT_QUERIES table of queries drawn for `parents`, rows of such a table; `sample` counts on."""
        rows, per_parent = parents.take(pa.array(queries.document_of_query)), self.rules.per_document
        numbers = np.tile(np.arange(per_parent, dtype=np.int32), len(rows) // per_parent)
        offsets = np.concatenate(([0], np.cumsum(queries.sizes))).astype(np.int32)
        words = pa.ListArray.from_arrays(offsets, self.names.take(pa.array(queries.words)))
        columns = {name: rows[name] for name in ("part", "position", "document_id", "query_id")}
        columns["sample"] = pa.array(rows["sample"].to_numpy() * per_parent + numbers)
        columns["query"] = pc.binary_join(words, " ")
        return pa.table(columns, schema=DOCUMENT_QUERIES.schema)
