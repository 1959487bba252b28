"""A generated collection with the term statistics of web documents, of any size, for benchmarks.

Each word of a document is, with probability `REPEAT`, one that already stands in it (each occurrence equally likely:
Simon, "On a class of skew distribution functions", 1955), with probability `TOPICAL` a word of its topic's
vocabulary, else one of the whole vocabulary; both vocabularies follow Zipf's law. The `STOP_WORDS` most frequent words
are stop words. Lengths are log-normal with the given mean. At a mean of 1,100 words, stop words included, a document
holds some 410 different terms, and terms of queries stand in 0.17% of the documents in the median, 2% in the third
quartile, 19% at the 95th percentile; the most frequent term stands in two thirds of them.

A document depends on the seed and its number alone, so a larger collection begins with a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.randomness import integer_seed
from irpretrain.text.draws import STATE_WORDS, alias_table, draw_alias, next_uniform, start_stream
from irpretrain.text.word_store import WordStore

VOCABULARY, STOP_WORDS = 1_000_000, 100
TOPICS, TOPIC_VOCABULARY = 2_000, 5_000
REPEAT, TOPICAL = 0.4, 0.15
SPREAD = 0.8
"""Standard deviation of the logarithm of lengths."""
MOST_WORDS = 50_000


def zipf(size: int) -> np.ndarray:
    return 1.0 / np.arange(1, size + 1)


def generate(documents: int, mean_length: float, seed: int, folder: Path) -> WordStore:
    """Return the first `documents` documents of a collection; their words lie in `folder`, which keeps them."""
    lengths = np.empty(documents, np.int64)
    key = np.uint64(integer_seed(seed, "generated-collection"))
    _lengths(key, np.log(mean_length) - SPREAD**2 / 2, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    path = folder / f"words-{documents}-{mean_length:g}-{seed}.npy"
    if not path.exists():
        with atomic_file(path) as temporary:
            words = np.lib.format.open_memmap(temporary, "w+", np.int32, (int(offsets[-1]),))
            general, topical = alias_table(zipf(VOCABULARY)), alias_table(zipf(TOPIC_VOCABULARY))
            _words(key, offsets, *general, *topical, np.asarray(words))
            words.flush()
    return numbered_documents(np.asarray(np.load(path, mmap_mode="r")), offsets, "g", VOCABULARY)


def numbered_documents(words: np.ndarray, offsets: np.ndarray, letter: str, vocabulary: int) -> WordStore:
    """Return a word store in memory, of documents that are named by a letter and their numbers."""
    numbers = np.arange(len(offsets) - 1)
    columns = {
        "document_id": pa.array([f"{letter}{number:08d}" for number in numbers], pa.string()),
        "part": np.zeros(len(numbers), np.int32),
        "position": numbers,
    }
    return WordsInMemory(words, offsets, pa.table(columns), vocabulary)


class WordsInMemory(WordStore):
    def __init__(self, words: np.ndarray, offsets: np.ndarray, documents: pa.Table, vocabulary: int) -> None:
        self.directory, self.record, self.vocabulary = Path("memory"), {}, vocabulary
        self.words, self.offsets, self.documents = words, offsets, documents
        self.parts, self.positions = (documents[name].to_numpy() for name in ("part", "position"))


def term_of() -> np.ndarray:
    """Return the term of each word; stop words have none."""
    return np.maximum(np.arange(VOCABULARY, dtype=np.int32) - STOP_WORDS, -1)


@compiled
def _lengths(key: np.uint64, mean: float, lengths: np.ndarray) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    for number in range(len(lengths)):
        start_stream(state, key, np.uint64(2 * number))
        # Box and Muller (1958).
        radius = np.sqrt(-2 * np.log(1 - next_uniform(state)))
        normal = radius * np.cos(2 * np.pi * next_uniform(state))
        lengths[number] = min(MOST_WORDS, 1 + int(np.exp(mean + SPREAD * normal)))


@compiled
def _words(
    key: np.uint64,
    offsets: np.ndarray,
    thresholds: np.ndarray,
    aliases: np.ndarray,
    topic_thresholds: np.ndarray,
    topic_aliases: np.ndarray,
    words: np.ndarray,
) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    for number in range(len(offsets) - 1):
        start_stream(state, key, np.uint64(2 * number + 1))
        topic = int(next_uniform(state) * TOPICS)
        begin = offsets[number]
        for at in range(begin, offsets[number + 1]):
            kind = next_uniform(state)
            if kind < REPEAT and at > begin:
                words[at] = words[begin + int(next_uniform(state) * (at - begin))]
            elif kind < REPEAT + TOPICAL:
                rank = draw_alias(topic_thresholds, topic_aliases, state)
                # A topic's words lie scattered over the vocabulary, densely among frequent words.
                share = ((rank * 7919 + topic * 104_729) % 1_000_003) / 1_000_003
                words[at] = STOP_WORDS + int(share**3 * (VOCABULARY - STOP_WORDS))
            else:
                words[at] = draw_alias(thresholds, aliases, state)


def queries(
    words: WordStore, mapping: np.ndarray, count: int, size: int | None, seed: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (document, terms) of queries drawn from documents.

    Args:
        words: the documents.
        mapping: the term of each word.
        count: number of queries.
        size: terms in a query, or None for a Poisson law with mean 3 without 0.
        seed: of the draws.
    """
    random = np.random.default_rng(seed)
    made = 0
    while made < count:
        document = int(random.integers(len(words.offsets) - 1))
        terms = mapping[words.words[words.offsets[document] : words.offsets[document + 1]]]
        terms = terms[terms >= 0]
        length = size or int(random.poisson(3))
        if length == 0 or len(terms) == 0:
            continue
        made += 1
        yield document, random.choice(terms, length)
