"""Generated passages with the term statistics of web documents, of any number, for benchmarks.

Each word of a document is, with probability `REPEAT`, one that already stands in it (each occurrence equally likely:
Simon, "On a class of skew distribution functions", 1955), with probability `TOPICAL` a word of its topic's
vocabulary, else one of the whole vocabulary; both vocabularies follow Zipf's law. The `STOP_WORDS` most frequent words
are stop words. Lengths are log-normal with the mean of MS MARCO's passages.

A passage depends on the seed and its number alone, so a larger collection begins with a smaller one.
"""

from pathlib import Path

import numpy as np

from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.randomness import integer_seed
from irpretrain.text.draws import STATE_WORDS, alias_table, draw_alias, next_uniform, start_stream

VOCABULARY, STOP_WORDS = 1_000_000, 100
TOPICS, TOPIC_VOCABULARY = 2_000, 5_000
REPEAT, TOPICAL = 0.4, 0.15
MEAN_LENGTH = 56
SPREAD = 0.8
"""Standard deviation of the logarithm of lengths."""
MOST_WORDS = 50_000
AT_ONCE = 10_000
"""Passages that are in memory together."""


def write_passages(path: Path, passages: int, seed: int, names: np.ndarray) -> None:
    """Write a passage a line: its number, a tab, its words, which `names` names."""
    key = np.uint64(integer_seed(seed, "generated-collection"))
    general, topical = (alias_table(1.0 / np.arange(1, size + 1)) for size in (VOCABULARY, TOPIC_VOCABULARY))
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for first in range(0, passages, AT_ONCE):
            lengths = np.empty(min(AT_ONCE, passages - first), np.int64)
            _draw_lengths(key, first, np.log(MEAN_LENGTH) - SPREAD**2 / 2, lengths)
            ends = np.cumsum(lengths)
            words = np.empty(ends[-1], np.int32)
            _draw_words(key, first, lengths, *general, *topical, words)
            for number, own in enumerate(np.split(names[words], ends[:-1]), first):
                file.write(f"{number}\t{' '.join(own)}\n")


@compiled
def _draw_lengths(key: np.uint64, first: int, mean: float, lengths: np.ndarray) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    for number in range(len(lengths)):
        start_stream(state, key, np.uint64(2 * (first + number)))
        # Box and Muller (1958).
        radius = np.sqrt(-2 * np.log(1 - next_uniform(state)))
        normal = radius * np.cos(2 * np.pi * next_uniform(state))
        lengths[number] = min(MOST_WORDS, 1 + int(np.exp(mean + SPREAD * normal)))


@compiled
def _draw_words(
    key: np.uint64,
    first: int,
    lengths: np.ndarray,
    thresholds: np.ndarray,
    aliases: np.ndarray,
    topic_thresholds: np.ndarray,
    topic_aliases: np.ndarray,
    words: np.ndarray,
) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    begin = 0
    for number in range(len(lengths)):
        start_stream(state, key, np.uint64(2 * (first + number) + 1))
        topic = int(next_uniform(state) * TOPICS)
        for at in range(begin, begin + lengths[number]):
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
        begin += lengths[number]
