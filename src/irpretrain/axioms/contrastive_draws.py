"""Pseudo-queries from the contrastive term distribution (ARES, section 4.1), compiled.

The *units* of a document are its own words, and, with the collection as support, the classes of the words that it lacks
(`weight_classes`). A unit's weight is its number of words times the largest exp(γ/T) among them, so a draw is one
search in running sums; a class then gives one of its words uniformly, accepted with probability exp((γ_w − γ_top)/T); a
refusal draws anew. That is exact, and no draw looks at the vocabulary.

Words are drawn one after the other from the distribution renormalised over the rest (the Plackett-Luce law), by drawing
until the word is new. Once the drawn words hold half of the mass, the weights of the rest are computed instead,
relative to the largest of them, so that neither the number of tries nor underflow can grow however small the
temperature is.

Each document has its own Philox stream: the length that all its queries share, unless given, and then their words.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.axioms.contrastive import WeightClasses
from irpretrain.foundation.compiled import compiled
from irpretrain.text.draws import STATE_WORDS, count_terms, first_above, next_uniform, start_stream

REFUSED = -1

# Words that may be drawn in vain for a query of a given number of terms.
MAX_DROPPED = 1000


class ContrastTables(NamedTuple):
    position_of: np.ndarray  # int32 [words], place in the vocabulary of a word store's words, -1 for none
    background: np.ndarray  # float64 [V], P(w|θ_C)
    information: np.ndarray  # float64 [V], −log P(w|θ_C)
    length_sums: np.ndarray  # float64 [longest], running probabilities of the lengths 1 … longest
    classes: WeightClasses  # the words that a document may lack, none where only its own are drawn


class ContrastRules(NamedTuple):
    mu: float  # Dirichlet prior
    temperature: float  # T of equation 6
    per_document: int  # queries of a document


class DrawnQueries(NamedTuple):
    document_of_query: np.ndarray  # int64 [queries], which document of the batch
    sizes: np.ndarray  # int64 [queries], words of each
    words: np.ndarray  # int32, places in the vocabulary, queries end to end, in the order drawn
    cut_count: int  # queries that were drawn too short, or documents without queries: there are no more words
    outside_count: int  # words that the document does not hold


class Urn(NamedTuple):
    """What the words of one document are drawn from."""

    document_words: np.ndarray  # int64, its words of the vocabulary, sorted
    gammas: np.ndarray  # float64, γ of each unit: own words, then for each class that of its heaviest word
    # int64, words in each unit that the document's other units do not have: 1, or those of the class that the
    # document lacks.
    drawable_counts: np.ndarray
    sums: np.ndarray  # float64, running sums of the units' weights
    # remaining_counts, remaining_sums: the same for the words that a query does not hold yet; scratch.
    remaining_counts: np.ndarray
    remaining_sums: np.ndarray
    shrink: float  # s = μ / (|D| + μ)
    top_gamma: float  # the largest γ of a unit that is not empty, which weights are relative to
    tables: ContrastTables
    rules: ContrastRules
    state: np.ndarray  # of the document's stream


@compiled
def _sum_weights(gammas: np.ndarray, word_counts: np.ndarray, temperature: float, sums: np.ndarray) -> float:
    """Write running sums of the units' weights relative to the largest γ of a unit with words; return that γ."""
    top_gamma = -np.inf
    for unit in range(len(word_counts)):
        if word_counts[unit] > 0 and gammas[unit] > top_gamma:
            top_gamma = gammas[unit]
    total = 0.0
    for unit in range(len(word_counts)):
        if word_counts[unit] > 0:
            total += word_counts[unit] * np.exp((gammas[unit] - top_gamma) / temperature)
        sums[unit] = total
    return top_gamma


@compiled
def _position_in(document_words: np.ndarray, word: int) -> int:
    """Return where `word` is in the sorted `document_words`, or -1."""
    position = int(np.searchsorted(document_words, word))
    return position if position < len(document_words) and document_words[position] == word else -1


@compiled
def _make_urn(words: np.ndarray, tables: ContrastTables, rules: ContrastRules, state: np.ndarray) -> Urn:
    """Return the urn of a document with these words of the vocabulary; sorts them."""
    document_words, counts = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    word_count = count_terms(words, document_words, counts)
    document_words, classes = document_words[:word_count], tables.classes
    unit_count = word_count + len(classes.tops)
    norm = len(words) + rules.mu
    shrink = rules.mu / norm if word_count > 0 else 0.0
    gammas, drawable_counts, sums = np.empty(unit_count), np.empty(unit_count, np.int64), np.empty(unit_count)
    for position in range(word_count):
        word = document_words[position]
        smoothed_probability = (counts[position] + rules.mu * tables.background[word]) / norm
        gammas[position], drawable_counts[position] = smoothed_probability * tables.information[word], 1
    for word_class in range(len(classes.tops)):
        gammas[word_count + word_class] = shrink * classes.tops[word_class]
        class_size = classes.offsets[word_class + 1] - classes.offsets[word_class]
        drawable_counts[word_count + word_class] = class_size
    if len(classes.tops) > 0:
        for position in range(word_count):
            drawable_counts[word_count + classes.class_of[document_words[position]]] -= 1
    top_gamma = _sum_weights(gammas, drawable_counts, rules.temperature, sums)
    remaining_counts, remaining_sums = np.empty(unit_count, np.int64), np.empty(unit_count)
    return Urn(
        document_words, gammas, drawable_counts, sums, remaining_counts, remaining_sums, shrink, top_gamma, tables,
        rules, state,
    )  # fmt: skip


@compiled
def _holds(query: np.ndarray, word_count: int, word: int) -> bool:
    is_held = False
    for position in range(word_count):
        is_held |= query[position] == word
    return is_held


@compiled
def _draw_from_unit(urn: Urn, unit: int, query: np.ndarray, excluded_count: int) -> int:
    """Return a word of the unit in proportion to its weight, none of the first `excluded_count` of the query; or
    REFUSED.

    The unit must hold such a word.
    """
    if unit < len(urn.document_words):
        return int(urn.document_words[unit])
    tables, classes, word_class = urn.tables, urn.tables.classes, unit - len(urn.document_words)
    start = classes.offsets[word_class]
    class_size = classes.offsets[word_class + 1] - start
    while True:
        word = int(classes.members[start + int(next_uniform(urn.state) * class_size)])
        if _position_in(urn.document_words, word) < 0 and not _holds(query, excluded_count, word):
            break
    gamma = urn.shrink * (tables.background[word] * tables.information[word])
    acceptance = np.exp((gamma - urn.gammas[unit]) / urn.rules.temperature)
    return word if next_uniform(urn.state) < acceptance else REFUSED


@compiled
def _draw_any(urn: Urn, query: np.ndarray, excluded_count: int) -> int:
    """Return a word in proportion to its weight, none of the first `excluded_count` of the query; reads
    `urn.remaining`."""
    word_counts, sums = urn.drawable_counts, urn.sums
    if excluded_count > 0:
        word_counts, sums = urn.remaining_counts, urn.remaining_sums
    while True:
        unit = first_above(sums, len(sums), next_uniform(urn.state) * sums[-1])
        while word_counts[unit] == 0:  # one uniform in 2^53 may round up to the whole sum
            unit -= 1
        word = _draw_from_unit(urn, unit, query, excluded_count)
        if word != REFUSED:
            return word


@compiled
def _unit_of(urn: Urn, word: int) -> int:
    position = _position_in(urn.document_words, word)
    return position if position >= 0 else len(urn.document_words) + urn.tables.classes.class_of[word]


@compiled
def _draw_remaining(urn: Urn, query: np.ndarray, drawn_count: int) -> int:
    """Return a word that the query does not hold, with the weights of all such words spelt out."""
    urn.remaining_counts[:] = urn.drawable_counts
    for position in range(drawn_count):
        urn.remaining_counts[_unit_of(urn, query[position])] -= 1
    _sum_weights(urn.gammas, urn.remaining_counts, urn.rules.temperature, urn.remaining_sums)
    return _draw_any(urn, query, drawn_count)


@compiled
def _draw_new(urn: Urn, query: np.ndarray, drawn_count: int, mass: float) -> int:
    """Return a word that the first `drawn_count` words of the query, which have this mass, do not hold."""
    if mass > 0.5 * urn.sums[-1]:
        return _draw_remaining(urn, query, drawn_count)
    word = _draw_any(urn, query, 0)
    while _holds(query, drawn_count, word):
        word = _draw_any(urn, query, 0)
    return word


@compiled
def _draw_query(urn: Urn, query: np.ndarray, drawn_words: np.ndarray, term_of: np.ndarray) -> int:
    """Fill `query` with words of different terms; return how many there are, too few where `drawn_words` has no more
    room."""
    term_count, mass = 0, 0.0
    for position in range(len(drawn_words)):
        word = _draw_new(urn, drawn_words, position, mass)
        drawn_words[position] = word
        mass += np.exp((urn.gammas[_unit_of(urn, word)] - urn.top_gamma) / urn.rules.temperature)
        is_new = term_of[word] >= 0
        for query_word in query[:term_count]:
            is_new &= term_of[query_word] != term_of[word]
        if is_new:
            query[term_count] = word
            term_count += 1
            if term_count == len(query):
                break
    return term_count


@compiled
def _vocabulary_positions(words: np.ndarray, position_of: np.ndarray) -> np.ndarray:
    """Return the positions in the vocabulary of those words that have one (int64)."""
    positions, position_count = np.empty(len(words), np.int64), 0
    for word in words:
        if position_of[word] >= 0:
            positions[position_count] = position_of[word]
            position_count += 1
    return positions[:position_count]


@compiled
def draw_queries(
    words: np.ndarray,  # int32, words of all documents end to end, as in a word store
    offsets: np.ndarray,  # int64 [documents + 1]
    keys: np.ndarray,  # uint64 [documents, 2], Philox keys
    # int64 [documents], terms of each query of a document, 1 or more; or empty, where lengths are drawn.
    sizes: np.ndarray,
    term_of: np.ndarray,  # int32 [V], term of each word of the vocabulary, below 0 for none
    tables: ContrastTables,
    rules: ContrastRules,
) -> DrawnQueries:
    """Draw `per_document` pseudo-queries of one length for each document of a batch.

    Words are drawn without repeats; a word without a term, or with a term that the query has, is dropped. So each
    accepted word is drawn from the distribution renormalised over the words that add a term. With too few words for
    given `sizes` a document has no queries; for a drawn length its queries are shorter. `cut_count` counts the
    documents, or the queries.
    """
    document_count, longest_query, draws_lengths = len(offsets) - 1, len(tables.length_sums), len(sizes) == 0
    if not draws_lengths:
        longest_query = sizes.max()
    capacity = document_count * rules.per_document
    document_of_query, query_sizes = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    query_words = np.empty(capacity * longest_query, np.int32)
    drawn_words, state = np.empty(longest_query + MAX_DROPPED, np.int32), np.empty(STATE_WORDS, np.uint64)
    query_count = end = cut_count = outside_count = 0
    for row in range(document_count):
        document_words = _vocabulary_positions(words[offsets[row] : offsets[row + 1]], tables.position_of)
        if len(document_words) == 0:
            cut_count += not draws_lengths
            continue
        start_stream(state, keys[row, 0], keys[row, 1])
        urn = _make_urn(document_words, tables, rules, state)
        if draws_lengths:
            query_size = first_above(tables.length_sums, longest_query, next_uniform(state)) + 1
        else:
            query_size = sizes[row]
        max_draws = min(urn.drawable_counts.sum(), len(drawn_words))
        first_query, first_word = query_count, end
        for _ in range(rules.per_document):
            query = query_words[end : end + query_size]
            term_count = _draw_query(urn, query, drawn_words[:max_draws], term_of)
            cut_count += term_count < query_size
            if term_count < query_size and not draws_lengths:
                query_count, end = first_query, first_word
                break
            document_of_query[query_count], query_sizes[query_count] = row, term_count
            query_count, end = query_count + 1, end + term_count
        for word in query_words[first_word:end]:
            outside_count += _position_in(urn.document_words, word) < 0
    documents, drawn_sizes = document_of_query[:query_count], query_sizes[:query_count]
    return DrawnQueries(documents, drawn_sizes, query_words[:end], cut_count, outside_count)
