"""Skip-gram with negative sampling (Mikolov et al., NIPS 2013), compiled.

Details that the paper leaves open are word2vec's: a window of random size, the context word predicts the centre word,
frequent words are dropped at random, the rate falls with the words read, the sigmoid comes from a table, and a pair is
skipped where it is flat. Sums have a fixed order, without a linear algebra library, so all processors give equal bits.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import ConfigError, cli_or_api
from irpretrain.foundation.out_of_core import create_mapped
from irpretrain.foundation.progress import progress
from irpretrain.foundation.randomness import generator, stream_key
from irpretrain.text.draws import STATE_WORDS, alias_table, draw_alias, next_uniform, start_stream
from irpretrain.text.word_store import WordDocuments

# Pairs whose scalar product is beyond it are skipped (word2vec's MAX_EXP).
MAX_EXP = 6.0
TABLE_SIZE = 1000

# The sigmoid from -MAX_EXP to MAX_EXP.
SIGMOID = np.array(
    [1 / (1 + math.exp(MAX_EXP - 2 * MAX_EXP * step / TABLE_SIZE)) for step in range(TABLE_SIZE)], np.float32
)

# Partial sums of a scalar product, which a processor can work on at the same time.
LANES = 8


@compiled
def train_documents(
    words: np.ndarray,
    offsets: np.ndarray,
    word_vectors: np.ndarray,
    context_vectors: np.ndarray,
    keep_probability: np.ndarray,
    alias: tuple[np.ndarray, np.ndarray],
    window: int,
    negatives: int,
    rates: np.ndarray,
    state: np.ndarray,
) -> None:
    """Train on documents, one after the other; changes `word_vectors`, `context_vectors` and `state`.

    Args:
        words: int32, words of all documents end to end, numbers from 0; `offsets` int64 [documents + 1].
        word_vectors, context_vectors: float32 [words, dimensions rounded up to LANES], vectors of words as context and
            as prediction.
        keep_probability: float64 [words], probability that an occurrence is read.
        alias: tables of noise words, see `text.draws.alias_table`.
        window: most words on each side.
        negatives: noise words per pair.
        rates: float64 [documents], learning rate of each document.
    """
    max_words = 0
    for document in range(len(offsets) - 1):
        max_words = max(max_words, offsets[document + 1] - offsets[document])
    kept_words, gradient = np.empty(max_words, np.int32), np.empty(word_vectors.shape[1], np.float32)
    for document in range(len(offsets) - 1):
        kept_count = 0
        for word in words[offsets[document] : offsets[document + 1]]:
            if next_uniform(state) < keep_probability[word]:
                kept_words[kept_count] = word
                kept_count += 1
        rate = rates[document]
        for position in range(kept_count):
            reduced_window = window - int(next_uniform(state) * window)
            for context_position in range(
                max(0, position - reduced_window), min(kept_count, position + reduced_window + 1)
            ):
                if context_position != position:
                    _train_pair(
                        kept_words[context_position],
                        kept_words[position],
                        word_vectors,
                        context_vectors,
                        alias,
                        negatives,
                        rate,
                        gradient,
                        state,
                    )


@compiled
def _train_pair(
    word: int,
    context_word: int,
    word_vectors: np.ndarray,
    context_vectors: np.ndarray,
    alias: tuple[np.ndarray, np.ndarray],
    negatives: int,
    rate: float,
    gradient: np.ndarray,
    state: np.ndarray,
) -> None:
    thresholds, aliases = alias
    vector = word_vectors[word]
    gradient[:] = np.float32(0)
    for draw in range(negatives + 1):
        target, label = context_word, 1.0
        if draw > 0:
            target, label = draw_alias(thresholds, aliases, state), 0.0
            if target == context_word:
                continue
        context_vector = context_vectors[target]
        product = _dot(vector, context_vector)
        if abs(product) >= MAX_EXP:
            continue
        step = np.float32((label - SIGMOID[int((product + MAX_EXP) * (TABLE_SIZE / (2 * MAX_EXP)))]) * rate)
        for column in range(len(vector)):
            gradient[column] += step * context_vector[column]
        for column in range(len(vector)):
            context_vector[column] += step * vector[column]
    for column in range(len(vector)):
        vector[column] += gradient[column]


@compiled
def _dot(left: np.ndarray, right: np.ndarray) -> float:
    """Return a scalar product; lengths are multiples of LANES, and the order of the sum is fixed."""
    a = b = c = d = e = f = g = h = np.float32(0)
    for column in range(0, len(left), LANES):
        a += left[column] * right[column]
        b += left[column + 1] * right[column + 1]
        c += left[column + 2] * right[column + 2]
        d += left[column + 3] * right[column + 3]
        e += left[column + 4] * right[column + 4]
        f += left[column + 5] * right[column + 5]
        g += left[column + 6] * right[column + 6]
        h += left[column + 7] * right[column + 7]
    return float(((a + b) + (c + d)) + ((e + f) + (g + h)))


# Training word vectors on a collection: word2vec's skip-gram with negative sampling (Mikolov et al., 2013).
#
# Same documents in the same order give the same bits: all random numbers come from one stream. What has no option is
# as word2vec's program has it: frequent words sub-sampled at 10⁻³, noise words by count^0.75, a learning rate that
# falls to 0.0001.


# Name of the random streams: (seed, "word-vectors") and, for the choice of a document, its identifier.
STAGE = "word-vectors"
DOCUMENTS_AT_ONCE = 256

# Share of a word in the collection from which its occurrences are dropped at random.
SUBSAMPLING = 1e-3
NOISE_POWER = 0.75

# Context words on each side, word2vec's own default.
WINDOW = 5

# Noise words per context word: Mikolov et al. (2013) advise 5 to 20 for small collections, 2 to 5 for large ones.
NEGATIVES = 5
LAST_RATE = 1e-4


def train_vectors(
    word_stores: Sequence[Sequence[str | Path]],  # word stores of each corpus of the collection
    statistics: str | Path,  # merged WORD_COUNTS of the collection
    options: WordVectorsConfig,
    seed: int,
    output: Path,  # `vectors.npy`
) -> dict[str, Any]:
    """Train vectors of the frequent words, and write rows for all words; return the record of `make_word_vectors`."""
    vocabulary_size = WORD_COUNTS.count(statistics)
    documents = WordDocuments.open([store for corpus in word_stores for store in corpus], vocabulary_size)
    rows = documents.in_order([len(corpus) for corpus in word_stores])
    if options.most_words is not None:
        rows = _choose_documents(documents, rows, options.most_words, seed)
    counts = _count_words(documents, rows)
    frequent_words = np.flatnonzero(counts >= options.minimum_count)
    if not len(frequent_words):
        remedy = cli_or_api(
            "lower it, or name a file of vectors: in word_vectors.files, or in Python Collection(..., vectors=...)",
            "lower it (--set word_vectors.minimum_count=NUMBER)",
        )
        raise ConfigError(
            f"word_vectors.minimum_count: no word occurs {options.minimum_count} times in the collection; {remedy}"
        )
    vectors = _train(documents, rows, frequent_words, counts[frequent_words], options, seed)
    create_mapped(output, np.dtype(np.float32), (vocabulary_size, options.dimensions))[frequent_words] = (
        vectors
    )
    return {
        "source": "word2vec",
        "words": vocabulary_size,
        "dimensions": options.dimensions,
        "words_with_vector": len(frequent_words),
        "documents_read": len(rows),
        "words_read": int(counts.sum()),
        "epochs": options.epochs,
    }


def _choose_documents(documents: WordDocuments, rows: np.ndarray, max_words: int, seed: int) -> np.ndarray:
    """Return the rows of random documents with `max_words` words together, in the order of `rows`."""
    ids = documents.document_ids.take(pa.array(rows)).to_pylist()
    keys = np.array([stream_key(seed, STAGE, name)[0] for name in ids], np.uint64)
    random_order = np.argsort(keys, kind="stable")
    documents_needed = int(np.searchsorted(np.cumsum(documents.lengths[rows][random_order]), max_words)) + 1
    return rows[np.sort(random_order[:documents_needed])]


def _count_words(documents: WordDocuments, rows: np.ndarray) -> np.ndarray:
    counts = np.zeros(documents.collection_words, np.int64)
    for start in range(0, len(rows), 4096):
        words, _ = documents.gather(rows[start : start + 4096])
        distinct_words, occurrences = np.unique(words, return_counts=True)
        counts[distinct_words] += occurrences
    return counts


def _train(
    documents: WordDocuments,
    rows: np.ndarray,
    frequent_words: np.ndarray,
    counts: np.ndarray,
    options: WordVectorsConfig,
    seed: int,
) -> np.ndarray:
    index_of_word = np.full(documents.collection_words, -1, np.int32)
    index_of_word[frequent_words] = np.arange(len(frequent_words))
    state = np.empty(STATE_WORDS, np.uint64)
    start_stream(state, *np.array(stream_key(seed, STAGE), np.uint64))
    width = -(-options.dimensions // LANES) * LANES
    word_vectors, context_vectors = np.zeros((2, len(frequent_words), width), np.float32)
    rng = generator(seed, STAGE)
    word_vectors[:, : options.dimensions] = (
        rng.random((len(frequent_words), options.dimensions)) - 0.5
    ) / options.dimensions
    subsampling_ratios = counts / counts.sum() / SUBSAMPLING
    # Whole numbers: the last bit of a power depends on the processor.
    noise_weights = np.rint(counts**NOISE_POWER * 2**20)
    keep_probability = (np.sqrt(subsampling_ratios) + 1) / subsampling_ratios
    alias, total, words_done = alias_table(noise_weights), int(counts.sum()) * options.epochs, 0
    for epoch in range(1, options.epochs + 1):
        for start in progress(
            range(0, len(rows), DOCUMENTS_AT_ONCE),
            f"train word vectors, pass {epoch}",
            "documents",
            len(rows),
            size=lambda start: min(DOCUMENTS_AT_ONCE, len(rows) - start),
        ):
            words, offsets = documents.gather(rows[start : start + DOCUMENTS_AT_ONCE])
            words = index_of_word[words]
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(words >= 0)])[offsets]
            share_done = (words_done + offsets[:-1]) / total
            rates = options.learning_rate - (options.learning_rate - LAST_RATE) * share_done
            train_documents(
                words[words >= 0],
                offsets,
                word_vectors,
                context_vectors,
                keep_probability,
                alias,
                WINDOW,
                NEGATIVES,
                rates,
                state,
            )
            words_done += int(offsets[-1])
    return word_vectors[:, : options.dimensions]
