"""Pseudo-queries from the contrastive term distribution (ARES, section 4.1), compiled.

What can be drawn of a document are its *units*: each of its own words, and, where the whole collection is the support,
the classes of the words that it lacks (`weight_classes`). A unit has a weight (its number of words
times the largest exp(γ/T) among them), so a draw is one search in running sums, and a class then gives one of its
words uniformly, accepted with probability exp((γ_w − γ_top)/T); a refusal draws anew. That is exact, and no draw
looks at the vocabulary.

Without repeats, words are drawn one after the other, each from the distribution renormalised over the words that are
left (the Plackett-Luce law). Drawing a word again until it is a new one does that. Once the words drawn hold half of
the mass, the weights of what is left are spelt out instead, relative to the largest of them, so that neither the
number of tries nor underflow can grow however small the temperature is.

Each document has its own Philox stream. It yields the length and then the words of each query, or, where one length is
shared, the length and then the words of all.
"""

from typing import NamedTuple

import numpy as np

from irpretrain.compiled import compiled
from irpretrain.objectives.ares.weight_classes import WeightClasses
from irpretrain.text.philox import STATE_WORDS, next_uniform, start_stream
from irpretrain.text.sorted_terms import count_of, count_terms, first_above

REFUSED = -1


class Tables(NamedTuple):
    """What is the same for all documents.

    Attributes:
        number_of: int32 [words], place in the vocabulary of a word store's words, -1 for none.
        background: float64 [V], P(w|θ_C).
        information: float64 [V], −log P(w|θ_C).
        lengths: float64 [longest], running probabilities of the lengths 1 … longest.
        classes: the words that a document may lack, none where only its own are drawn.
    """

    number_of: np.ndarray
    background: np.ndarray
    information: np.ndarray
    lengths: np.ndarray
    classes: WeightClasses


class Rules(NamedTuple):
    """Options of the draw.

    Attributes:
        mu: Dirichlet prior.
        temperature: T of equation 6.
        repeats: whether a query may hold a word twice.
        one_length: whether all queries of a document have one length.
        per_document: queries of a document.
    """

    mu: float
    temperature: float
    repeats: bool
    one_length: bool
    per_document: int


class DrawnQueries(NamedTuple):
    """The pseudo-queries of a batch of documents.

    Attributes:
        document: int64 [queries], which document of the batch.
        sizes: int64 [queries], words of each.
        words: int32, places in the vocabulary, queries end to end, in the order drawn.
        cut: queries shorter than the length drawn, as there are no more words.
        outside: words that the document does not hold.
    """

    document: np.ndarray
    sizes: np.ndarray
    words: np.ndarray
    cut: int
    outside: int


class Urn(NamedTuple):
    """What can be drawn of one document.

    Attributes:
        own: int64, its words of the vocabulary, sorted.
        counts: int64, how often it holds them.
        size: how many own words there are.
        gammas: float64, γ of each unit: own words, then for each class that of its heaviest word.
        free: int64, words in each unit that the document's other units do not have: 1, or those of the class that the
            document lacks.
        sums: float64, running sums of the units' weights.
        left, rest: as free and sums, for the words that a query does not hold yet; scratch.
        shrink: s = μ / (|D| + μ).
        top: the largest γ of a unit that is not empty, which weights are relative to.
    """

    own: np.ndarray
    counts: np.ndarray
    size: int
    gammas: np.ndarray
    free: np.ndarray
    sums: np.ndarray
    left: np.ndarray
    rest: np.ndarray
    shrink: float
    top: float


@compiled
def _add_up(gammas: np.ndarray, numbers: np.ndarray, temperature: float, sums: np.ndarray) -> float:
    """Write running sums of the units' weights relative to the largest γ of a unit with words; return that γ."""
    top = -np.inf
    for unit in range(len(numbers)):
        if numbers[unit] > 0 and gammas[unit] > top:
            top = gammas[unit]
    total = 0.0
    for unit in range(len(numbers)):
        if numbers[unit] > 0:
            total += numbers[unit] * np.exp((gammas[unit] - top) / temperature)
        sums[unit] = total
    return top


@compiled
def _place_in(own: np.ndarray, size: int, word: int) -> int:
    """Return where `word` is in the sorted `own`, or -1."""
    place = int(np.searchsorted(own[:size], word))
    return place if place < size and own[place] == word else -1


@compiled
def _fill(words: np.ndarray, scratch: Urn, tables: Tables, rules: Rules) -> Urn:
    """Return the urn of a document with these words of the vocabulary, in the arrays of `scratch`; sorts `words`."""
    size = count_terms(words, scratch.own, scratch.counts)
    classes, units = tables.classes, size + len(tables.classes.tops)
    norm = len(words) + rules.mu
    shrink = rules.mu / norm if size > 0 else 0.0
    gammas, free = scratch.gammas[:units], scratch.free[:units]
    for place in range(size):
        word = scratch.own[place]
        smoothed = (scratch.counts[place] + rules.mu * tables.background[word]) / norm
        gammas[place], free[place] = smoothed * tables.information[word], 1
    for kind in range(len(classes.tops)):
        gammas[size + kind] = shrink * classes.tops[kind]
        free[size + kind] = classes.offsets[kind + 1] - classes.offsets[kind]
    if len(classes.tops) > 0:
        for place in range(size):
            free[size + classes.class_of[scratch.own[place]]] -= 1
    sums = scratch.sums[:units]
    top = _add_up(gammas, free, rules.temperature, sums)
    left, rest = scratch.left[:units], scratch.rest[:units]
    return Urn(scratch.own, scratch.counts, size, gammas, free, sums, left, rest, shrink, top)


@compiled
def _holds(query: np.ndarray, drawn: int, word: int) -> bool:
    held = False
    for place in range(drawn):
        held |= query[place] == word
    return held


@compiled
def _of_unit(
    unit: int, urn: Urn, query: np.ndarray, without: int, tables: Tables, rules: Rules, state: np.ndarray
) -> int:
    """Return a word of the unit in proportion to its weight, none of the first `without` of the query; or REFUSED.

    The unit must hold such a word.
    """
    if unit < urn.size:
        return int(urn.own[unit])
    classes, kind = tables.classes, unit - urn.size
    start, number = classes.offsets[kind], classes.offsets[kind + 1] - classes.offsets[kind]
    while True:
        word = int(classes.members[start + int(next_uniform(state) * number)])
        if _place_in(urn.own, urn.size, word) < 0 and not _holds(query, without, word):
            break
    gamma = urn.shrink * (tables.background[word] * tables.information[word])
    accept = np.exp((gamma - urn.gammas[unit]) / rules.temperature)
    return word if next_uniform(state) < accept else REFUSED


@compiled
def _draw_any(
    urn: Urn, query: np.ndarray, without: int, tables: Tables, rules: Rules, state: np.ndarray
) -> int:
    """Return a word in proportion to its weight, none of the first `without` of the query; for them, `urn.left` and
    `urn.rest` have been written."""
    numbers, sums = (urn.left, urn.rest) if without > 0 else (urn.free, urn.sums)
    while True:
        unit = first_above(sums, len(sums), next_uniform(state) * sums[-1])
        while numbers[unit] == 0:  # one uniform in 2^53 may round up to the whole sum
            unit -= 1
        word = _of_unit(unit, urn, query, without, tables, rules, state)
        if word != REFUSED:
            return word


@compiled
def _draw_left(
    urn: Urn, query: np.ndarray, drawn: int, tables: Tables, rules: Rules, state: np.ndarray
) -> int:
    """Return a word that the query does not hold, with the weights of all such words spelt out."""
    urn.left[:] = urn.free
    for place in range(drawn):
        unit = _place_in(urn.own, urn.size, query[place])
        urn.left[unit if unit >= 0 else urn.size + tables.classes.class_of[query[place]]] -= 1
    _add_up(urn.gammas, urn.left, rules.temperature, urn.rest)
    return _draw_any(urn, query, drawn, tables, rules, state)


@compiled
def _weight(word: int, urn: Urn, tables: Tables, rules: Rules) -> float:
    """Return the part of the running sums that a drawn word has."""
    word_place = _place_in(urn.own, urn.size, word)
    unit = word_place if word_place >= 0 else urn.size + tables.classes.class_of[word]
    return np.exp((urn.gammas[unit] - urn.top) / rules.temperature)


@compiled
def _draw_query(urn: Urn, query: np.ndarray, tables: Tables, rules: Rules, state: np.ndarray) -> None:
    """Fill `query` with words."""
    taken = 0.0
    for place in range(len(query)):
        if taken > 0.5 * urn.sums[-1]:
            word = _draw_left(urn, query, place, tables, rules, state)
        else:
            word = _draw_any(urn, query, 0, tables, rules, state)
            while not rules.repeats and _holds(query, place, word):
                word = _draw_any(urn, query, 0, tables, rules, state)
        query[place] = word
        if not rules.repeats:
            taken += _weight(word, urn, tables, rules)


@compiled
def _scratch(words: int, classes: int) -> Urn:
    numbers, counts = np.empty(words, np.int64), np.empty(words, np.int64)
    units = words + classes
    gammas, free, sums = np.empty(units), np.empty(units, np.int64), np.empty(units)
    return Urn(numbers, counts, 0, gammas, free, sums, np.empty(units, np.int64), np.empty(units), 0.0, 0.0)


@compiled
def _numbers(words: np.ndarray, number_of: np.ndarray, numbers: np.ndarray) -> int:
    """Write the places in the vocabulary of those words that have one; return how many they are."""
    size = 0
    for word in words:
        if number_of[word] >= 0:
            numbers[size] = number_of[word]
            size += 1
    return size


@compiled
def draw_queries(
    words: np.ndarray, offsets: np.ndarray, keys: np.ndarray, tables: Tables, rules: Rules
) -> DrawnQueries:
    """Draw the pseudo-queries of a batch of documents.

    Args:
        words: int32, words of all documents end to end, as a word store has them.
        offsets: int64 [documents + 1].
        keys: uint64 [documents, 2], Philox keys.
        tables: see `Tables`.
        rules: see `Rules`.
    """
    batch, longest = len(offsets) - 1, len(tables.lengths)
    capacity = batch * rules.per_document
    document, sizes = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    drawn = np.empty(capacity * longest, np.int32)
    room = 1
    for row in range(batch):
        room = max(room, offsets[row + 1] - offsets[row])
    numbers, scratch = np.empty(room, np.int64), _scratch(room, len(tables.classes.tops))
    state = np.empty(STATE_WORDS, np.uint64)
    queries = end = cut = outside = 0
    for row in range(batch):
        distinct = _numbers(words[offsets[row] : offsets[row + 1]], tables.number_of, numbers)
        if distinct == 0:
            continue
        start_stream(state, keys[row, 0], keys[row, 1])
        urn = _fill(numbers[:distinct], scratch, tables, rules)
        most = longest if rules.repeats else urn.free.sum()
        length = 0
        for query in range(rules.per_document):
            if query == 0 or not rules.one_length:
                length = first_above(tables.lengths, longest, next_uniform(state)) + 1
            size = min(length, most)
            chosen = drawn[end : end + size]
            _draw_query(urn, chosen, tables, rules, state)
            document[queries], sizes[queries] = row, size
            cut += size < length
            for word in chosen:
                outside += count_of(word, urn.own, urn.counts, urn.size) == 0
            queries, end = queries + 1, end + size
    return DrawnQueries(document[:queries], sizes[:queries], drawn[:end], cut, outside)
