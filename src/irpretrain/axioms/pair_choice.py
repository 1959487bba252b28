"""Random pairs of a document's queries, accepted or refused by the axioms' preferences; compiled.

All pairs of queries of equal length come in a random order from the document's own stream, each with its two queries in
a random order, until enough are accepted. Each pair costs two numbers of the stream: which of the remaining pairs, and
whether its queries are swapped.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.axioms.axiom_values import ValueBatch
from irpretrain.axioms.preferences import VECTOR_COUNT, compare, vector_number
from irpretrain.config.axioms import AXIOMS
from irpretrain.foundation.compiled import compiled
from irpretrain.text.draws import STATE_WORDS, next_uniform, start_stream

# What became of a pair. TIE: probability 0.5; UNSURE: under the threshold; CONFLICT: axioms disagree; SILENT: no
# axiom has a preference.
ACCEPTED, TIE, UNSURE, CONFLICT, SILENT = 0, 1, 2, 3, 4
OUTCOMES = ("accepted", "tie", "below_threshold", "conflict", "no_preference")

# Of the histogram of the larger probability of a pair, from 0.5 to 1.
BINS = 10


class Rule(NamedTuple):
    """Which pairs are accepted."""

    is_strict: bool  # those on which axioms agree, else those that a table decides
    table: np.ndarray  # float64 [3⁹], probability that the first query is preferred, unless strict
    threshold: float  # least probability of the preferred query, unless strict
    keep_ties: bool  # accept pairs with probability 0.5, the first drawn query preferred, unless strict
    must_agree: np.ndarray  # bool [9], axioms that must agree if strict
    stm_2_threshold: float
    pairs_per_document: int  # pairs of each document
    stops_early: bool  # stop after this many pairs, accepted or not


def any_pair(stm_2_threshold: float, pairs_per_document: int) -> Rule:
    """Return the rule that accepts all pairs, in the order drawn: ties, which are kept."""
    table, no_axioms = np.full(VECTOR_COUNT, 0.5), np.zeros(len(AXIOMS), bool)
    return Rule(False, table, 0.5, True, no_axioms, stm_2_threshold, pairs_per_document, False)


class PairChoice(NamedTuple):
    """The accepted pairs of a batch, those of a document together, in the order drawn."""

    document_of_pair: np.ndarray  # int64 [pairs], document of the batch
    # preferred, other: int64 [pairs], queries (rows of the batch).
    preferred: np.ndarray
    other: np.ndarray
    probability: np.ndarray  # float64 [pairs], of the preferred query; 1 if strict
    features: np.ndarray  # int8 [pairs, 9], of (preferred, other)
    equal_length_counts: np.ndarray  # int64 [documents], pairs of queries of equal length that there are
    accepted_counts: np.ndarray  # int64 [documents], pairs that were accepted
    outcome_counts: np.ndarray  # int64 [5], pairs considered, by what became of them
    unanimous_count: int  # pairs considered on which every axiom of a strict rule has the same preference
    # int64 [BINS], pairs considered by a table, by the larger of their two probabilities.
    histogram: np.ndarray


def choose_pairs(batch: ValueBatch, keys: np.ndarray, rule: Rule) -> PairChoice:
    """Choose pairs of queries of each document; `keys` are of the documents' streams (`randomness.stream_keys`)."""
    return _choose_pairs(batch.values, batch.word_counts, batch.document_starts, keys, rule)


@compiled
def _judge_strictly(preferences: np.ndarray, rule: Rule) -> tuple[int, bool, bool]:
    """Return the fate of a pair, whether its first query is preferred, and whether all axioms have a preference."""
    for_first, for_second, has_silent = False, False, False
    for axiom in range(preferences.shape[0]):
        if rule.must_agree[axiom]:
            for_first |= preferences[axiom] > 0
            for_second |= preferences[axiom] < 0
            has_silent |= preferences[axiom] == 0
    if for_first and for_second:
        return CONFLICT, False, False
    if not for_first and not for_second:
        return SILENT, False, False
    return ACCEPTED, for_first, not has_silent


@compiled
def _judge_by_table(probability: float, rule: Rule) -> int:
    if probability == 0.5 and not rule.keep_ties:
        return TIE
    if max(probability, 1.0 - probability) < rule.threshold:
        return UNSURE
    return ACCEPTED


@compiled
def _list_pairs(words: np.ndarray, start: int, end: int, pairs: np.ndarray) -> int:
    """Write the pairs of queries of equal length; return how many there are."""
    count = 0
    for query in range(start, end):
        for other_query in range(query + 1, end):
            if words[query] == words[other_query]:
                pairs[count, 0], pairs[count, 1] = query, other_query
                count += 1
    return count


@compiled
def _next_pair(pairs: np.ndarray, position: int, count: int, state: np.ndarray) -> tuple[int, int]:
    """Draw one of the pairs from `position` on, put it there, and return its queries in a random order."""
    drawn_index = min(position + int(next_uniform(state) * (count - position)), count - 1)
    query, other_query = pairs[drawn_index, 0], pairs[drawn_index, 1]
    pairs[drawn_index, 0], pairs[drawn_index, 1] = pairs[position, 0], pairs[position, 1]
    pairs[position, 0], pairs[position, 1] = query, other_query
    if next_uniform(state) < 0.5:
        return other_query, query
    return query, other_query


@compiled
def _choose_pairs(
    values: np.ndarray, words: np.ndarray, starts: np.ndarray, keys: np.ndarray, rule: Rule
) -> PairChoice:
    document_count, max_queries = len(starts) - 1, 0
    for row in range(document_count):
        max_queries = max(max_queries, starts[row + 1] - starts[row])
    capacity = document_count * rule.pairs_per_document
    document_of_pair = np.empty(capacity, np.int64)
    preferred, other = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    probabilities, features = np.empty(capacity), np.empty((capacity, values.shape[1]), np.int8)
    equal_length_counts = np.zeros(document_count, np.int64)
    accepted_counts = np.zeros(document_count, np.int64)
    outcome_counts, histogram = np.zeros(len(OUTCOMES), np.int64), np.zeros(BINS, np.int64)
    pairs = np.empty((max_queries * (max_queries - 1) // 2, 2), np.int64)
    state, preferences = np.empty(STATE_WORDS, np.uint64), np.empty(values.shape[1], np.int8)
    pairs_written, unanimous_count = 0, 0
    for row in range(document_count):
        count = _list_pairs(words, starts[row], starts[row + 1], pairs)
        equal_length_counts[row] = count
        start_stream(state, keys[row, 0], keys[row, 1])
        considered_count = min(count, rule.pairs_per_document) if rule.stops_early else count
        for position in range(considered_count):
            if accepted_counts[row] == rule.pairs_per_document:
                break
            first, second = _next_pair(pairs, position, count, state)
            compare(values, first, second, rule.stm_2_threshold, preferences)
            if rule.is_strict:
                outcome, is_first, is_unanimous = _judge_strictly(preferences, rule)
                probability = 1.0
                unanimous_count += is_unanimous
            else:
                probability = rule.table[vector_number(preferences)]
                outcome, is_first = _judge_by_table(probability, rule), probability >= 0.5
                probability = max(probability, 1.0 - probability)
                histogram[min(int((probability - 0.5) * 2 * BINS), BINS - 1)] += 1
            outcome_counts[outcome] += 1
            if outcome != ACCEPTED:
                continue
            document_of_pair[pairs_written], probabilities[pairs_written] = row, probability
            preferred[pairs_written], other[pairs_written] = (first, second) if is_first else (second, first)
            for axiom in range(len(preferences)):
                features[pairs_written, axiom] = preferences[axiom] if is_first else -preferences[axiom]
            accepted_counts[row] += 1
            pairs_written += 1
    return PairChoice(
        document_of_pair[:pairs_written],
        preferred[:pairs_written],
        other[:pairs_written],
        probabilities[:pairs_written],
        features[:pairs_written],
        equal_length_counts,
        accepted_counts,
        outcome_counts,
        unanimous_count,
        histogram,
    )
