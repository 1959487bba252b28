"""A Lucene index of integer term weights in place of term frequencies (DeepCT, section 3.2).

Words become the terms of the tf index, and the weights of words with one stem add up, as repeated words do in a text. A
document's length is the sum of its weights. So BM25 and query likelihood over this index are their formulas with
weights for frequencies; frequencies as weights give the tf index's own scores.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from irpretrain.config.retrieval import QueryWords, RetrievalConfig
from irpretrain.foundation.atomic import working_directory, write_text
from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.progress import Counter, progress
from irpretrain.foundation.tables import ROWS_AS_OBJECTS
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.expansion import check_expansion
from irpretrain.retrieval.lucene import run_indexing, write_input

# Largest sum of a document's weights. Lucene's own limit is 2^31 - 1, but Anserini writes every term out as often as
# its weight says, in one string: ten million words of six letters are 70 MB of Java's heap for each thread.
LONGEST_DOCUMENT = 10_000_000


def index_weights(
    vectors: Sequence[str | Path], query_words: QueryWords, options: RetrievalConfig, output: str | Path
) -> dict[str, Any]:
    """Index a corpus by weights (TERM_VECTORS, all shards) into a directory.

    Args:
        query_words: how the texts behind the weights were cut into words; queries are cut the same way.

    Returns:
        Counts: documents; those without terms, which Lucene leaves out (judged queries of theirs count 0); terms and
        words; words that are stop words; the sum of all weights.

    Raises:
        InputError: an expansion names no document, no document has a term, or a document's weights are too large.
        IntegrityError, SetupError, JavaError: as in `lucene.index`.
    """
    check_expansion(vectors)
    names = ("documents", "documents_without_terms", "words", "words_without_terms", "terms", "weight")
    counts = dict.fromkeys(names, 0)
    analyser = Analyser.of(options, query_words)

    def with_terms() -> Iterator[dict[str, Any]]:
        counter = Counter("write weights for Lucene", "documents", sum(map(TERM_VECTORS.count, vectors)))
        for path in vectors:
            batches = TERM_VECTORS.stream(path, ["document_id", "terms"], ROWS_AS_OBJECTS)
            for document, terms in analysed_weights(batches, analyser, counts):
                _check_length(path, document, terms)
                counts["documents"] += 1
                counts["documents_without_terms"] += not terms
                counts["terms"] += len(terms)
                counts["weight"] += sum(terms.values())
                counter.add(1)
                if terms:
                    yield {"id": document, "vector": terms}

    with working_directory(output, "input") as source:
        write_input(source, with_terms())
        if counts["documents"] == counts["documents_without_terms"]:
            raise InputError(vectors[0], "no document has a term to index")
        arguments = ["-collection", "JsonVectorCollection", "-pretokenized"]
        indexed_count = counts["documents"] - counts["documents_without_terms"]
        record = {**counts, "query_words": query_words}
        run_indexing(source, output, arguments, options, expected=indexed_count, further_facts=record)
    return counts


def analysed_weights(
    batches: Iterable[pa.RecordBatch], analyser: Analyser, counts: dict[str, int]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each document of TERM_VECTORS rows with its index weights: analysed term → sum of its words, sorted by
    term.

    `counts` gains `words` and `words_without_terms` (stop words).
    """
    for batch in batches:
        terms = batch.column("terms")
        entries = terms.flatten()
        words, weights = entries.field("term"), entries.field("weight")
        analyser.learn(words.unique().to_pylist())
        word_weights = iter(zip(words.to_pylist(), weights.to_pylist(), strict=True))
        lengths = terms.value_lengths().to_pylist()
        for document, length in zip(batch.column("document_id").to_pylist(), lengths, strict=True):
            sums: dict[str, int] = {}
            for _ in range(length):
                word, weight = next(word_weights)
                word_terms = analyser.terms_of_word(word)
                counts["words_without_terms"] += not word_terms
                for term in word_terms:
                    sums[term] = sums.get(term, 0) + weight
            counts["words"] += length
            yield document, dict(sorted(sums.items()))


def _check_length(path: str | Path, document: str, terms: dict[str, int]) -> None:
    total = sum(terms.values())
    if total > LONGEST_DOCUMENT:
        fault = f"the weights of document {document!r} add up to {total:,}, more than {LONGEST_DOCUMENT:,}"
        raise InputError(path, fault, remedy="Scale them to smaller integers.")


# The share of a passage's weight in its heaviest terms, over a collection (DeepCT, section 5.2, Figure 1).
#
# The weights of a passage's index terms are sorted, the heaviest first, and divided by their sum; the shares of each
# rank are averaged over passages with terms. A passage with fewer terms has share 0 at later ranks, so that every
# rank is a mean over the same passages. Weights are added up as integers, per sum of a passage's weights, so means do
# not depend on shards or order.


# Terms of a passage that are looked at (the figure's x axis).
RANK_COUNT = 10


@dataclass
class Shares:
    passages: int = 0  # with and without terms
    without_terms: int = 0  # those whose every word has weight 0 or is a stop word
    terms: int = 0  # of all passages
    # Passages that have a term of each rank.
    reaching: list[int] = field(default_factory=lambda: [0] * RANK_COUNT)
    # By the sum of a passage's weights: the sum of the weights of each rank.
    sums: dict[int, list[int]] = field(default_factory=dict)

    def add(self, weights: Iterable[int]) -> None:
        falling = sorted(weights, reverse=True)
        self.passages += 1
        self.terms += len(falling)
        if not falling:
            self.without_terms += 1
            return
        sums = self.sums.setdefault(sum(falling), [0] * RANK_COUNT)
        for rank, weight in enumerate(falling[:RANK_COUNT]):
            sums[rank] += weight
            self.reaching[rank] += 1

    def means(self) -> list[float | None]:
        """Return the mean share of each rank, correctly rounded sums divided once; None if no passage has terms."""
        passage_count = self.passages - self.without_terms
        if not passage_count:
            return [None] * RANK_COUNT
        return [
            math.fsum(sums[rank] / total for total, sums in self.sums.items()) / passage_count
            for rank in range(RANK_COUNT)
        ]


def measure_distribution(
    # Name → its TERM_VECTORS tables, all shards of the collection.
    weightings: Mapping[str, Sequence[str | Path]],
    options: RetrievalConfig,
    words: QueryWords,  # how the texts behind the weights were cut into words
    # `{"ranks": 10, "weightings": [{"weighting", "passages", "passages_without_terms", "mean_terms",
    # "shares": [one per rank], "passages_reaching": [passages that have a term of each rank]}]}`.
    output: str | Path,
) -> dict[str, Any]:
    """Write the mean share of each rank for several weightings of one collection, as JSON; return counts of passages.

    Raises:
        SetupError: Java or the jar is missing.
    """
    analyser = Analyser.of(options, words)
    rows: list[dict[str, Any]] = []
    for name, paths in weightings.items():
        shares = _shares(name, paths, analyser)
        passages_with_terms = shares.passages - shares.without_terms
        rows.append(
            {
                "weighting": name,
                "passages": shares.passages,
                "passages_without_terms": shares.without_terms,
                "mean_terms": shares.terms / passages_with_terms if passages_with_terms else None,
                "shares": shares.means(),
                "passages_reaching": shares.reaching,
            }
        )
    write_text(output, json.dumps({"ranks": RANK_COUNT, "weightings": rows}, indent=1) + "\n")
    keys = ("passages", "passages_without_terms")
    return {row["weighting"]: {key: row[key] for key in keys} for row in rows}


def _shares(name: str, paths: Sequence[str | Path], analyser: Analyser) -> Shares:
    shares, counts = Shares(), {"words": 0, "words_without_terms": 0}
    for path in paths:
        batches = TERM_VECTORS.stream(path, ["document_id", "terms"], ROWS_AS_OBJECTS)
        passages = analysed_weights(batches, analyser, counts)
        for _, terms in progress(passages, f"distribution of weights {name}", "passages"):
            shares.add(terms.values())
    return shares
