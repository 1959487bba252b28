"""Weighted queries in Indri's query likelihood: bags of words and sequential dependence.

    a bag of words:         #weight(w₁ q₁ … wₙ qₙ)        (DeepCT, section 3.3)
    sequential dependence:  #weight(0.8 #weight(…) 0.1 #combine(#od1(q₁ q₂) …) 0.1 #combine(#uw8(q₁ q₂) …))

The belief in a node q (a term or a window) is log((c(q, D) + μ·cf(q)/|C|) / (|D| + μ)) with its count in the
document, its count in the collection, and lengths in terms; #weight is the mean of beliefs under its weights,
#combine the mean (Strohman et al., 2005; Metzler and Croft, 2005). cf of what the collection lacks is 1/2. Every
document with at least one node is scored by all nodes; terms of dropped weight are no nodes. Queries are cut by
`text.words`, with and without weights, so that rows of one table differ by weights alone.

Lucene's query likelihood differs: it leaves out terms that a document lacks, whose share depends on the document's
length; adds 1 to cf; never goes below 0; and stores lengths in a byte.
"""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from irpretrain.config.retrieval import IndriOptions
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Ranking, Run, rank, without_query_document, write_run
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.contracts import DOCUMENTS, TERM_WEIGHTS
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.out_of_core import GrowingArray
from irpretrain.foundation.progress import Counter, progress
from irpretrain.retrieval.analysis import Analyser, one_line_each
from irpretrain.retrieval.opened_index import log_lost_queries
from irpretrain.text.texts import read_queries, stream_texts
from irpretrain.text.words import WordKind, word_finder

# Postings with positions of a corpus, for windows and exact document lengths.
#
# Lucene stores lengths in one byte and scores a window by its width, so its index cannot serve Indri's formulas.
# Documents are cut into words by `text.words`, as term weights are, and each word becomes the terms of `Analyser`.
# A stop word has no postings but keeps its position, so that words on its two sides are no neighbours.


# Occurrences of terms that are written at a time, once they are sorted.
OCCURRENCES_AT_ONCE = 1 << 20

# Memory in which they are sorted; what needs more goes to disk.
SORTING_MEMORY = "4GB"


def build_positions(
    documents: Sequence[str | Path], options: IndriOptions, text: TextConfig, output: str | Path
) -> dict[str, int]:
    """Write the postings of a corpus (DOCUMENTS, all shards) into a directory; return counts of documents, terms,
    occurrences.

    InputError without a term.
    """
    # Memory grows with the distinct words alone. Disk: 24 bytes per occurrence, of which 8 stay.
    term_ids: dict[str, int] = {}
    document_ids: list[str] = []
    starts, lengths = array("q", [0]), array("i")  # a document is 12 bytes here, not 80
    with atomic_directory(output) as folder:
        with GrowingArray(folder / "terms.npy", np.dtype(np.int32)) as terms:
            with GrowingArray(folder / "places.npy", np.dtype(np.int64)) as positions:
                for document_id, terms_by_position in _terms_by_position(documents, options, text):
                    term_positions = [position for position, term in enumerate(terms_by_position) if term]
                    document_terms = [term for term in terms_by_position if term]
                    ids = [term_ids.setdefault(term, len(term_ids)) for term in document_terms]
                    terms.add(np.array(ids, np.int32))
                    positions.add(np.array(term_positions, np.int64) + starts[-1])
                    document_ids.append(document_id)
                    lengths.append(len(ids))
                    starts.append(starts[-1] + len(terms_by_position))
        if not term_ids:
            raise InputError(documents[0], "these documents have no terms")
        _sort(folder, len(term_ids))
        np.save(folder / "starts.npy", np.array(starts, np.int64))
        np.save(folder / "lengths.npy", np.array(lengths, np.int32))
        record = {
            "stemmer": options.stemmer,
            "stop_list": options.stop_list,
            "words": text.word_kind,
            "documents": document_ids,
            "terms": list(term_ids),
        }
        (folder / "names.json").write_text(json.dumps(record), encoding="utf-8")
    return {"documents": len(document_ids), "terms": len(term_ids), "occurrences": sum(lengths)}


def _terms_by_position(
    documents: Sequence[str | Path], options: IndriOptions, text: TextConfig
) -> Iterator[tuple[str, list[str]]]:
    split_words, analyser = word_finder(text.word_kind), Analyser.of(options, text.word_kind)
    counter = Counter("find positions", "documents", sum(map(DOCUMENTS.count, documents)))
    for path in documents:
        for identifiers, texts in stream_texts(path, text):
            words_of_texts = [split_words(document_text) for document_text in texts]
            analyser.learn(word for words in words_of_texts for word in words)
            for document_id, words in zip(identifiers, words_of_texts, strict=True):
                # Lucene cuts some words further, such as runs of ideographs: each piece has a place.
                yield document_id, [term for word in words for term in analyser.terms_of_word(word) or ("",)]
            counter.add(len(identifiers))


def _sort(folder: Path, term_count: int) -> None:
    """Sort the places of all occurrences by term, and store where those of each term begin."""
    import duckdb

    counter = Counter("sort positions", "occurrences", len(np.load(folder / "places.npy", mmap_mode="r")))
    bounds = np.zeros(term_count + 1, np.int64)
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{SORTING_MEMORY}'; SET threads = 1")
        connection.execute("SET temp_directory = $1", [str(folder / "spilled")])
        # DuckDB reads both arrays from the disk, by their names here.
        occurrences = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("terms", "places")}
        connection.register("occurrences", occurrences)
        sorted_places = connection.query("SELECT terms, places FROM occurrences ORDER BY terms, places")
        with GrowingArray(folder / "sorted.npy", np.dtype(np.int64)) as places:
            for batch in sorted_places.to_arrow_reader(OCCURRENCES_AT_ONCE):
                bounds[1:] += np.bincount(batch["terms"], minlength=term_count)
                places.add(batch["places"])
                counter.add(len(batch))
    np.save(folder / "bounds.npy", np.cumsum(bounds))
    (folder / "sorted.npy").replace(folder / "places.npy")
    (folder / "terms.npy").unlink()


@dataclass(frozen=True)
class Positions:
    documents: list[str]  # identifiers
    starts: np.ndarray  # int64 [documents + 1], the corpus's place at which each document begins
    lengths: np.ndarray  # int32 [documents], terms in each document; stop words are none
    term_ids: dict[str, int]  # term → its number
    bounds: np.ndarray  # int64 [terms + 1], where each term's places begin
    positions: np.ndarray  # int64 [occurrences], places in the corpus by term, rising within each

    @classmethod
    def open(cls, folder: str | Path, options: IndriOptions, words: WordKind) -> Self:
        """Read the output of `build_positions`; IntegrityError if missing, or of other stems, stop words or words."""
        folder = Path(folder)
        expected = {"stemmer": options.stemmer, "stop_list": options.stop_list, "words": words}
        with refusing_damage(folder, "these are not positions", MAKE_AGAIN):
            record: dict[str, Any] = json.loads((folder / "names.json").read_text(encoding="utf-8"))
            for name, value in expected.items():
                if record.get(name) != value:
                    fault = f"made with {name} {record.get(name, 'unknown')}, the configuration has {value}"
                    raise IntegrityError(folder, fault, remedy=MAKE_AGAIN)
            bounds, places = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("bounds", "places"))
            starts, lengths = np.load(folder / "starts.npy"), np.load(folder / "lengths.npy")
            term_ids = {term: term_id for term_id, term in enumerate(record["terms"])}
            return cls(record["documents"], starts, lengths, term_ids, bounds, places)

    def of_term(self, term: str) -> np.ndarray:
        """Return the positions of a term (int64, rising); none for one that the corpus lacks."""
        term_id = self.term_ids.get(term)
        if term_id is None:
            return np.zeros(0, np.int64)
        return np.asarray(self.positions[self.bounds[term_id] : self.bounds[term_id + 1]])

    def ordered(self, first_term: str, second_term: str) -> np.ndarray:
        """Return the positions of the first term that the second one follows at once."""
        first_positions, second_positions = self.of_term(first_term), self.of_term(second_term)
        adjacent = first_positions[np.isin(first_positions + 1, second_positions, assume_unique=True)]
        return adjacent[self.documents_of(adjacent) == self.documents_of(adjacent + 1)]

    def unordered(self, first_term: str, second_term: str, window: int) -> np.ndarray:
        """Return where windows of `window` words with both terms begin."""
        first_positions, second_positions = self.of_term(first_term), self.of_term(second_term)
        if first_term == second_term:
            return self._followed(first_positions, first_positions, window)
        windows_of_first = self._followed(first_positions, second_positions, window)
        windows_of_second = self._followed(second_positions, first_positions, window)
        return np.sort(np.concatenate([windows_of_first, windows_of_second]))

    def documents_of(self, positions: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.starts, positions, side="right") - 1

    def _followed(self, positions: np.ndarray, second_positions: np.ndarray, window: int) -> np.ndarray:
        """Those of `positions` whose next one of `second_positions` lies in the same document and window."""
        next_indices = np.searchsorted(second_positions, positions, side="right")
        has_next = next_indices < len(second_positions)
        positions, next_positions = positions[has_next], second_positions[next_indices[has_next]]
        is_within_window = next_positions - positions < window
        positions, next_positions = positions[is_within_window], next_positions[is_within_window]
        return positions[self.documents_of(positions) == self.documents_of(next_positions)]


# Collection count of a node that does not occur.
UNSEEN_COUNT = 0.5


# Sequential dependence: weights of single terms, of neighbours as a phrase (#od1) and of neighbours within a window
# (#uw8), and the size of that window in words. From Indri's documentation, after Metzler and Croft (2005); DeepCT
# (section 6) names none.
DEPENDENCE_SHARES = (0.8, 0.1, 0.1)
DEPENDENCE_WINDOW = 8


class QueryNode(NamedTuple):
    """What a query believes in: its share of all weights, and its positions in the corpus."""

    weight: float
    occurrences: np.ndarray


class WeightedQuery(NamedTuple):
    """Terms with weights, and the query's terms in order for windows."""

    weights: dict[str, float]
    terms: list[str]


def search_weighted(
    positions: Positions,
    queries: Mapping[str, WeightedQuery],  # what `read_weighted_queries` returned
    options: IndriOptions,
    depth: int,  # documents of each query
    output: str | Path,  # TREC run, gzip
    tag: str,  # last column of the run
    queries_are_documents: bool = False,  # whether to leave out a query's own document, that of its identifier
) -> dict[str, Any]:
    """Retrieve the first `depth` documents of each query.

    Returns:
        Counts: queries, those without candidates, those whose terms all lost their weight, candidates.
    """
    run: Run = {}
    for query_id, query in progress(list(queries.items()), "search", "queries"):
        nodes = list(nodes_of(query, options.dependence, positions))
        ranking = score(nodes, positions, options.mu, depth + queries_are_documents)
        if queries_are_documents:
            ranking = without_query_document(query_id, ranking, depth)
        if ranking:
            run[query_id] = ranking
    return {
        "queries": len(queries),
        "queries_without_candidates": log_lost_queries(output, queries, run),
        "queries_without_weights": sum(not query.weights for query in queries.values()),
        "candidates": write_run(output, run, tag),
    }


def read_weighted_queries(
    queries: str | Path, weights: str | Path | None, query_words: WordKind, analyser: Analyser
) -> dict[str, WeightedQuery]:
    """Return query → its analysed terms and their weights, without those of 0 or less.

    Args:
        weights: TERM_WEIGHTS of the queries' words (InputError if a query is missing); None: term counts. Words of one
            stem add up; a repeated word has one weight, as DeepCT weighs terms, not occurrences.
        query_words: how `weights` cut queries into words (`text.words`).
    """
    query_texts = read_queries(queries)
    lines = one_line_each(list(query_texts.values()), query_words)
    terms = dict(zip(query_texts, analyser.terms(lines), strict=True))
    if weights is None:
        return {
            query_id: WeightedQuery(
                {term: float(query_terms.count(term)) for term in query_terms}, query_terms
            )
            for query_id, query_terms in terms.items()
        }
    rows = TERM_WEIGHTS.read(weights, ["document_id", "terms"]).to_pylist()
    weights_of_query = {
        row["document_id"]: {entry["term"]: entry["weight"] for entry in row["terms"]} for row in rows
    }
    queries_without_weights = [query_id for query_id in query_texts if query_id not in weights_of_query]
    if queries_without_weights:
        raise InputError(weights, f"query {queries_without_weights[0]!r} of {queries} has no weights here")
    analyser.learn(word for query_id in query_texts for word in weights_of_query[query_id])
    return {
        query_id: WeightedQuery(_weights_by_term(weights_of_query[query_id], analyser), terms[query_id])
        for query_id in query_texts
    }


def _weights_by_term(word_weights: Mapping[str, float], analyser: Analyser) -> dict[str, float]:
    sums: dict[str, float] = {}
    for word, weight in word_weights.items():
        for term in analyser.terms_of_word(word) if weight > 0 else ():
            sums[term] = sums.get(term, 0.0) + weight
    return sums


def nodes_of(query: WeightedQuery, dependence: bool, positions: Positions) -> Iterator[QueryNode]:
    """Yield the nodes of a query; their weights add up to 1. Parts without a node leave their weight to the others."""
    pairs = list(zip(query.terms, query.terms[1:], strict=False)) if dependence else []
    shares = DEPENDENCE_SHARES if dependence else (1.0, 0.0, 0.0)
    components: list[list[tuple[float, np.ndarray]]] = [
        [(weight, positions.of_term(term)) for term, weight in query.weights.items()],
        [(1.0, positions.ordered(*pair)) for pair in pairs],
        [(1.0, positions.unordered(*pair, DEPENDENCE_WINDOW)) for pair in pairs],
    ]
    total_share = sum(share for share, component in zip(shares, components, strict=True) if component)
    for share, component in zip(shares, components, strict=True):
        total = sum(weight for weight, _ in component)
        for weight, occurrences in component if share > 0 else ():
            yield QueryNode(share / total_share * weight / total, occurrences)


def score(nodes: list[QueryNode], positions: Positions, mu: float, depth: int) -> Ranking:
    """Return the best documents that hold one node or more, and their beliefs."""
    matches = [np.unique(positions.documents_of(node.occurrences), return_counts=True) for node in nodes]
    documents = np.unique(np.concatenate([np.zeros(0, np.int64), *(matching for matching, _ in matches)]))
    if not len(documents):
        return []
    beliefs = np.zeros(len(documents))
    for node, (matching_documents, counts) in zip(nodes, matches, strict=True):
        prior = mu * (len(node.occurrences) or UNSEEN_COUNT) / len(positions.positions)
        beliefs += node.weight * np.log(prior)
        beliefs[np.searchsorted(documents, matching_documents)] += node.weight * np.log1p(counts / prior)
    weight = sum(node.weight for node in nodes)
    beliefs -= weight * np.log(positions.lengths[documents] + mu)
    best_rows = np.arange(len(beliefs))
    if len(beliefs) > depth:
        best_rows = np.flatnonzero(beliefs >= np.partition(beliefs, -depth)[-depth])
    return rank([(positions.documents[documents[row]], float(beliefs[row])) for row in best_rows])[:depth]
