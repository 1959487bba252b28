"""Training pairs of a preference predictor: each judged query of a document, and a pseudo-query drawn by the setting.

A *group* is the pseudo-queries among which one is drawn: those of a document, or those of a judged query, with as many
terms as it has (`irpretrain.axioms.predictor_queries`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.batch import sums_between
from irpretrain.axioms.preferences import DEFINITIONS, larger_is_better, preferences
from irpretrain.config.axioms import PredictorConfig
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.contracts import AXIOM_VALUES
from irpretrain.foundation.errors import IntegrityError
from irpretrain.foundation.randomness import stream_keys
from irpretrain.text.draws import STATE_WORDS, next_uniform, start_stream

# Name of the random streams: (seed, "predictor-negatives", document id U+001F query id).
STAGE = "predictor-negatives"

# In place of a negative query where a document has none that may be drawn.
NO_NEGATIVE = -1
VALUE_COLUMNS = [definition.column for definition in DEFINITIONS.values()]

# Largest RANK in setting IV (table 2).
SETTING_IV_RANK = 5


def negative_weights(ranks: np.ndarray, starts: np.ndarray, setting: str) -> np.ndarray:
    """Return float64 [queries], proportional to the probability of each pseudo-query (ARES, SIGIR 2022, table 2).

        I    any pseudo-query of the group, all with equal probability
        II   any, with p = softmax(1 / RANK) over the group; 1/∞ is 0
        III  equal probability, but groups without a pseudo-query of RANK 1 are left out
        IV   equal probability among the pseudo-queries whose RANK is SETTING_IV_RANK or less

    `ranks`, int [queries], has 0 for +∞; `starts`, int64 [groups + 1], the first pseudo-query of each group. A group
    without candidates has zeros.
    """
    if setting == "II":
        return np.exp(np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0))
    if setting == "IV":
        return ((ranks > 0) & (ranks <= SETTING_IV_RANK)).astype(np.float64)
    if setting == "III":
        return np.repeat(sums_between(ranks == 1, starts) > 0, np.diff(starts)).astype(np.float64)
    return np.ones(len(ranks))


def draw_negatives(
    groups: np.ndarray, starts: np.ndarray, weights: np.ndarray, names: Sequence[str], seed: int
) -> np.ndarray:
    """Return the pseudo-query drawn for each pair of a document and a query, int64 [pairs]; NONE without a candidate.

    Args:
        groups: int64 [pairs], number of the group of each pair.
        starts: int64 [groups + 1], the first pseudo-query of each group.
        weights: float64 [pseudo-queries], see `negative_weights`.
        names: of each pair, document id U+001F query id, which names its random stream.
    """
    keys = stream_keys(seed, STAGE, names)
    return _draw_by_weight(np.asarray(groups, np.int64), np.asarray(starts, np.int64), weights, keys)


@compiled
def _draw_by_weight(
    groups: np.ndarray, starts: np.ndarray, weights: np.ndarray, keys: np.ndarray
) -> np.ndarray:
    state, negatives = np.empty(STATE_WORDS, np.uint64), np.empty(len(groups), np.int64)
    for pair in range(groups.shape[0]):
        start, end = starts[groups[pair]], starts[groups[pair] + 1]
        total = 0.0
        for query in range(start, end):
            total += weights[query]
        start_stream(state, keys[pair, 0], keys[pair, 1])
        remaining_weight = next_uniform(state) * total
        negatives[pair] = NO_NEGATIVE
        for query in range(start, end):
            if weights[query] > 0:
                negatives[pair] = query  # the last candidate where rounding leaves a rest
                remaining_weight -= weights[query]
                if remaining_weight < 0:
                    break
    return negatives


@dataclass(frozen=True)
class CandidateQueries:
    """Judged queries of documents, and the pseudo-queries of these documents."""

    judged_values: np.ndarray  # float64 [pairs, 9], of the judged queries, larger is better, in corpus order
    terms: np.ndarray  # int64 [pairs], terms of the judged queries
    documents: np.ndarray  # int64 [pairs], number of the document of each judged query
    query_names: list[str]  # of each, document id U+001F query id
    groups: np.ndarray  # int64 [pairs], number of the group of each
    pseudo_values: np.ndarray  # float64 [pseudo-queries, 9], a group's together, in the order of `sample`
    pseudo_terms: np.ndarray  # int64 [pseudo-queries], their terms
    ranks: np.ndarray  # int64 [pseudo-queries], RANK, 0 for +∞
    starts: np.ndarray  # int64 [groups + 1], the first pseudo-query of each group
    counts: dict[str, Any]  # what was read and left out


@dataclass(frozen=True)
class QueryPairs:
    features: np.ndarray  # int8 [pairs, 9], with the judged query first
    documents: np.ndarray  # int64 [pairs], number of the document of each pair
    counts: dict[str, Any]  # how many there are, and what was left out

    def __len__(self) -> int:
        return len(self.documents)


def read_candidates(
    judged_path: str | Path, pseudo_paths: Sequence[str | Path], options: PredictorConfig
) -> CandidateQueries:
    """Read the values of judged queries with a term, and those of the pseudo-queries of their documents.

    Args:
        judged_path: AXIOM_VALUES of judged queries.
        pseudo_paths: AXIOM_VALUES of pseudo-queries, shards in any order: of judged queries if `negative_terms` is
            equal, else of the collection.

    Raises:
        IntegrityError: a value is NaN, or a group's pseudo-queries occur twice.
    """
    table = AXIOM_VALUES.read(judged_path, ["document_id", "query_id", "terms", *VALUE_COLUMNS])
    queries_with_terms = table.filter(pc.greater(table["terms"], 0)).combine_chunks()
    document_ids = queries_with_terms["document_id"]
    query_names = pc.binary_join_element_wise(document_ids, queries_with_terms["query_id"], "\x1f")
    per_judged_query = options.negative_terms == "equal"
    keys = query_names if per_judged_query else document_ids
    group_keys = pc.unique(keys)
    groups = _indices_of(keys, group_keys)
    values, pseudo_terms, ranks, starts = _read_pseudo(pseudo_paths, group_keys, per_judged_query)
    return CandidateQueries(
        judged_values=larger_is_better(queries_with_terms, judged_path),
        terms=queries_with_terms["terms"].to_numpy().astype(np.int64),
        documents=_indices_of(document_ids, pc.unique(document_ids)),
        query_names=query_names.to_pylist(),
        groups=groups,
        pseudo_values=values,
        pseudo_terms=pseudo_terms,
        ranks=ranks,
        starts=starts,
        counts={
            "judged_queries": table.num_rows,
            "judged_queries_without_terms": table.num_rows - queries_with_terms.num_rows,
            "judged_documents": pc.count_distinct(document_ids).as_py(),
            "judged_queries_without_pseudo_queries": int(np.count_nonzero(np.diff(starts)[groups] == 0)),
        },
    )


def make_pairs(
    candidates: CandidateQueries, options: PredictorConfig, stm_2_threshold: float, seed: int
) -> QueryPairs:
    """Draw a negative query for each judged one and compare the two.

    Counts have the judged queries left out by setting III or without a candidate in setting IV, those without a
    negative query, and the mean terms of both sides.
    """
    weights = negative_weights(candidates.ranks, candidates.starts, options.setting)
    negatives = draw_negatives(candidates.groups, candidates.starts, weights, candidates.query_names, seed)
    rows = np.flatnonzero(negatives != NO_NEGATIVE)
    is_barred = (np.diff(candidates.starts) > 0) & (sums_between(weights > 0, candidates.starts) == 0)
    terms, negative_terms = candidates.terms[rows], candidates.pseudo_terms[negatives[rows]]
    values = np.concatenate([candidates.judged_values, candidates.pseudo_values])
    return QueryPairs(
        features=preferences(values, rows, len(candidates.judged_values) + negatives[rows], stm_2_threshold),
        documents=candidates.documents[rows],
        counts={
            "judged_queries_ignored_by_setting": int(np.count_nonzero(is_barred[candidates.groups])),
            "judged_queries_without_negative": int(np.count_nonzero(negatives == NO_NEGATIVE)),
            "pairs": len(rows),
            "documents": len(np.unique(candidates.documents[rows])),
            "mean_terms_of_judged": _mean(terms),
            "mean_terms_of_negatives": _mean(negative_terms),
            "pairs_of_equal_terms": int(np.count_nonzero(terms == negative_terms)),
        },
    )


def _mean(numbers: np.ndarray) -> float | None:
    return float(numbers.mean()) if len(numbers) else None


def _indices_of(values: pa.Array, distinct_values: pa.Array) -> np.ndarray:
    return pc.index_in(values, value_set=distinct_values).to_numpy().astype(np.int64)


def _read_pseudo(
    shards: Sequence[str | Path], keys: pa.Array, per_judged_query: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the values, terms and ranks of the pseudo-queries of some groups, and the first of each group.

    Keys are document ids, or document id U+001F query id.
    """
    columns = ["sample", "document_id", "query_id", "terms", *VALUE_COLUMNS]
    values, integer_columns = [np.empty((0, len(VALUE_COLUMNS)))], [np.empty((0, 4), np.int64)]
    for path in shards:
        for batch in AXIOM_VALUES.stream(path, columns):
            row_keys = batch.column("document_id")
            if per_judged_query:
                row_keys = pc.binary_join_element_wise(row_keys, batch.column("query_id"), "\x1f")
            group_numbers = pc.index_in(row_keys, value_set=keys)
            has_group = pc.is_valid(group_numbers)
            rows = batch.filter(has_group)
            row_columns = [rows.column(name).to_numpy() for name in ("sample", "terms", "rank")]
            row_groups = group_numbers.filter(has_group).to_numpy(zero_copy_only=False)
            integer_columns.append(np.stack([row_groups, *row_columns], axis=1).astype(np.int64))
            values.append(larger_is_better(rows, path))
    group, sample, terms, ranks = np.concatenate(integer_columns).T
    order = np.lexsort((sample, group))
    group, sample = group[order], sample[order]
    if np.any((np.diff(group) == 0) & (np.diff(sample) == 0)):
        fault = "the pseudo-queries of a document occur twice in these tables"
        remedy = "Identifiers must be unique in a collection; rename those of one corpus."
        raise IntegrityError(shards[0], fault, remedy=remedy)
    starts = np.searchsorted(group, np.arange(len(keys) + 1))
    return np.concatenate(values)[order], terms[order], ranks[order], starts
