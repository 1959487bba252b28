"""Algorithm 1 of PROP, compiled: pairs of word sets from documents' language models, drawn exactly without rejection.

Under sub-sampling a word is drawn in proportion to P(w|D) k(w), that is to

    c(w,D) k(w)  +  μ P(w|C) k(w).

The first part is on the document's own words (running sums, one binary search), the second is the same for all
documents (one alias table); the part is chosen by their masses. So a draw costs a few dozen nanoseconds, whatever the
size of the vocabulary.

Each document has its own Philox stream, in this order: whether a short document is skipped; the words sampled into
`document-and-sample`; for each generated pair its size and then the two sets, word by word; which pairs are selected.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.foundation.compiled import compiled
from irpretrain.text.draws import (
    STATE_WORDS,
    count_of,
    count_terms,
    draw_alias,
    first_above,
    next_uniform,
    start_stream,
)

# What words are drawn from: P(w|D) over V; P(w|D) over the document's words and a sample; V uniformly.
VOCABULARY, DOCUMENT_AND_SAMPLE, RANDOM = 0, 1, 2

# What became of a document.
DRAWN, EMPTY, SHORT = 0, 1, 2

EXTRA_DRAWS = 100

# Relative difference up to which two log-likelihoods are equal: far above rounding (1e-15 a word), far below any
# difference that a corpus makes. Without it, rounding would decide between products that are equal.
TIE_TOLERANCE = 1e-12


class DrawTables(NamedTuple):
    background: np.ndarray  # float64, P(w|C)
    keep_probabilities: np.ndarray  # float64, k(w)
    background_alias: tuple[np.ndarray, np.ndarray]  # alias table of P(w|C) k(w)
    background_mass: float  # Σ P(w|C) k(w)
    frequency_alias: tuple[np.ndarray, np.ndarray]  # alias table of document frequencies
    size_sums: np.ndarray  # float64, running probabilities of the set sizes from 1


class SetRules(NamedTuple):
    """Options of the draw."""

    support: int  # VOCABULARY, DOCUMENT_AND_SAMPLE or RANDOM
    mu: float  # Dirichlet prior
    support_size: int  # size of DOCUMENT_AND_SAMPLE
    normalise_support: bool  # divide by the support's total before scoring, instead of |D| + μ
    generated_pairs: int  # pairs drawn per document
    pairs_per_document: int  # how many of them are used


class SampledDocuments(NamedTuple):
    # int64, term numbers of all documents end to end, in any order within a document; sorted in place.
    terms: np.ndarray
    offsets: np.ndarray  # int64[documents + 1]
    lengths: np.ndarray  # int64[documents], |D|
    keys: np.ndarray  # uint64[documents, 2], Philox keys
    skip_probabilities: np.ndarray  # float64[documents], probability of skipping the document


class WordSetPairs(NamedTuple):
    """The kept pairs of a batch, the preferred set first."""

    document_of_pair: np.ndarray  # int64[pairs], which document of the batch
    sizes: np.ndarray  # int64[pairs], words in each of the two sets
    scores: np.ndarray  # float64[pairs, 2], log-likelihoods of the preferred and the other set
    # int64, terms of preferred and other set of each pair, end to end, in the order drawn.
    terms: np.ndarray
    outside_counts: np.ndarray  # int64[pairs], words of both sets that the document does not hold
    repeat_counts: np.ndarray  # int64[pairs], how many of the two sets hold a term more than once
    outcomes: np.ndarray  # int64[documents], DRAWN, EMPTY or SHORT


class _Terms(NamedTuple):
    """A document's terms, and behind them others that can be drawn."""

    distinct_terms: np.ndarray  # int64, the terms
    counts: np.ndarray  # int64, c(w,D); 0 of others
    sums: np.ndarray  # float64, running sums of their weights
    last_row: np.ndarray  # int64[V], the last document in whose support a term was


class _Support(NamedTuple):
    """How many terms the document has, how many can be drawn, and what weights are divided by."""

    term_count: int
    support_size: int
    norm: float


@compiled
def _document_sums(document: _Terms, term_count: int, tables: DrawTables) -> None:
    """Write running sums of c(w,D) k(w) over the document's terms."""
    distinct_terms, counts, sums = document.distinct_terms, document.counts, document.sums
    total = 0.0
    for index in range(term_count):
        total += counts[index] * tables.keep_probabilities[distinct_terms[index]]
        sums[index] = total


@compiled
def _sample_support(
    document: _Terms, term_count: int, row: int, tables: DrawTables, rules: SetRules, state: np.ndarray
) -> tuple[int, float]:
    """Add terms by document frequency after the document's own; return the support's size and its Σ c + μ P(w|C).

    `sums` becomes running sums of (c(w,D) + μ P(w|C)) k(w) over the support; `row` is the document's in the batch.
    """
    distinct_terms, counts, sums, last_row = document
    extra_draws = (
        rules.support_size - term_count if term_count < rules.support_size else term_count + EXTRA_DRAWS
    )
    for index in range(term_count):
        last_row[distinct_terms[index]] = row
    support_size = term_count
    for _ in range(extra_draws):
        term = draw_alias(*tables.frequency_alias, state)
        if last_row[term] != row:
            last_row[term] = row
            distinct_terms[support_size], counts[support_size] = term, 0
            support_size += 1
    total, kept_mass = 0.0, 0.0
    for index in range(support_size):
        term = distinct_terms[index]
        weight = counts[index] + rules.mu * tables.background[term]
        total += weight
        kept_mass += weight * tables.keep_probabilities[term]
        sums[index] = kept_mass
    return support_size, total


@compiled
def _draw_term(
    document: _Terms, support_size: int, tables: DrawTables, rules: SetRules, state: np.ndarray
) -> int:
    if rules.support == RANDOM:
        size = len(tables.background)
        return min(int(next_uniform(state) * size), size - 1)
    document_mass = document.sums[support_size - 1]
    if rules.support == DOCUMENT_AND_SAMPLE:
        position = next_uniform(state) * document_mass
        return document.distinct_terms[first_above(document.sums, support_size, position)]
    position = next_uniform(state) * (document_mass + rules.mu * tables.background_mass)
    if position < document_mass:
        return document.distinct_terms[first_above(document.sums, support_size, position)]
    return draw_alias(*tables.background_alias, state)


@compiled
def _has_repeat(terms: np.ndarray, size: int) -> bool:
    for index in range(size):
        for other in range(index):
            if terms[index] == terms[other]:
                return True
    return False


@compiled
def _draw_set(
    document: _Terms,
    support: _Support,
    tables: DrawTables,
    rules: SetRules,
    state: np.ndarray,
    terms: np.ndarray,
) -> tuple[float, int]:
    """Fill `terms` with drawn terms; return their log-likelihood and how many the document does not hold."""
    score, outside_count = 0.0, 0
    for position in range(len(terms)):
        term = _draw_term(document, support.support_size, tables, rules, state)
        count = count_of(term, document.distinct_terms, document.counts, support.term_count)
        terms[position] = term
        score += np.log((count + rules.mu * tables.background[term]) / support.norm)
        outside_count += count == 0
    return score, outside_count


@compiled
def _reservoir_slot(pair_number: int, capacity: int, state: np.ndarray) -> int:
    """Return where the next generated pair is kept, or -1: a uniform choice in one pass (reservoir sampling)."""
    if pair_number < capacity:
        return pair_number
    slot = int(next_uniform(state) * (pair_number + 1))
    return slot if slot < capacity else -1


@compiled
def _empty_pairs(document_count: int, pairs_per_document: int, max_set_size: int) -> WordSetPairs:
    capacity = document_count * pairs_per_document
    return WordSetPairs(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty((capacity, 2)),
        np.empty(capacity * 2 * max_set_size, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(document_count, np.int64),
    )


@compiled
def draw_pairs(documents: SampledDocuments, tables: DrawTables, rules: SetRules) -> WordSetPairs:
    """Draw the pairs of a batch of documents (PROP, Algorithm 1); order within a pair is by likelihood.

    If both sets are equally likely, the second one drawn comes first (line 16 of the algorithm).
    """
    document_count, max_set_size = len(documents.lengths), len(tables.size_sums)
    output = _empty_pairs(document_count, rules.pairs_per_document, max_set_size)
    max_terms = 0
    for document in range(document_count):
        max_terms = max(max_terms, documents.offsets[document + 1] - documents.offsets[document])
    capacity = 2 * max_terms + max(rules.support_size, EXTRA_DRAWS) + 1
    last_row = np.full(len(tables.background) if rules.support == DOCUMENT_AND_SAMPLE else 1, -1, np.int64)
    scratch = _Terms(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity), last_row)
    state = np.empty(STATE_WORDS, np.uint64)
    terms, score = np.empty((2, max_set_size), np.int64), np.empty(2)
    pair_count = word_count = 0
    for document in range(document_count):
        document_terms = documents.terms[documents.offsets[document] : documents.offsets[document + 1]]
        start_stream(state, documents.keys[document, 0], documents.keys[document, 1])
        is_skipped = next_uniform(state) < documents.skip_probabilities[document]
        output.outcomes[document] = EMPTY if len(document_terms) == 0 else (SHORT if is_skipped else DRAWN)
        if output.outcomes[document] != DRAWN:
            continue
        term_count = support_size = count_terms(document_terms, scratch.distinct_terms, scratch.counts)
        norm = documents.lengths[document] + rules.mu
        if rules.support == DOCUMENT_AND_SAMPLE:
            support_size, total = _sample_support(scratch, term_count, document, tables, rules, state)
            norm = total if rules.normalise_support else norm
        else:
            _document_sums(scratch, term_count, tables)
        support = _Support(term_count, support_size, norm)
        for pair_index in range(rules.generated_pairs):
            set_size = first_above(tables.size_sums, max_set_size, next_uniform(state)) + 1
            outside_count = repeat_count = 0
            for side in range(2):
                word_set = terms[side, :set_size]
                score[side], outside_words = _draw_set(scratch, support, tables, rules, state, word_set)
                outside_count += outside_words
                repeat_count += _has_repeat(word_set, set_size)
            if abs(score[0] - score[1]) <= TIE_TOLERANCE * abs(score[0]):
                score[0] = score[1]
            slot = _reservoir_slot(pair_index, rules.pairs_per_document, state)
            if slot >= 0:
                pair, base = pair_count + slot, word_count + slot * 2 * max_set_size
                output.document_of_pair[pair], output.sizes[pair] = document, set_size
                output.outside_counts[pair], output.repeat_counts[pair] = outside_count, repeat_count
                preferred = 0 if score[0] > score[1] else 1
                for rank, side in enumerate((preferred, 1 - preferred)):
                    output.scores[pair, rank] = score[side]
                    start = base + rank * set_size
                    output.terms[start : start + set_size] = terms[side, :set_size]
        end_pair = pair_count + rules.pairs_per_document
        word_count = _close_gaps(output.terms, output.sizes, pair_count, end_pair, word_count, max_set_size)
        pair_count = end_pair
    return WordSetPairs(
        output.document_of_pair[:pair_count],
        output.sizes[:pair_count],
        output.scores[:pair_count],
        output.terms[:word_count],
        output.outside_counts[:pair_count],
        output.repeat_counts[:pair_count],
        output.outcomes,
    )


@compiled
def _close_gaps(
    terms: np.ndarray, sizes: np.ndarray, first_pair: int, end_pair: int, first_word: int, max_set_size: int
) -> int:
    """Move a document's sets, which lie in slots of 2 × max_set_size words, end to end; return where they end."""
    end = first_word
    for pair in range(first_pair, end_pair):
        start = first_word + (pair - first_pair) * 2 * max_set_size
        for position in range(2 * sizes[pair]):
            terms[end] = terms[start + position]
            end += 1
    return end
