"""Character n-graphs of words (Mitra, Diaz, Craswell, WWW 2017): the runs of up to n characters of
#word#."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np


def ngraphs_of(word: str, longest: int) -> Iterator[str]:
    """Yield every n-graph of a word, between marks of its beginning and end, as often as it occurs."""
    marked = f"#{word}#"
    for start in range(len(marked)):
        for end in range(start + 1, min(start + longest, len(marked)) + 1):
            yield marked[start:end]


def frequent_ngraphs(words: Sequence[str], counts: np.ndarray, number: int, longest: int) -> list[str]:
    """Return the most frequent n-graphs of a text with these words, so often each; of equal ones by code points."""
    totals: Counter[str] = Counter()
    for word, count in zip(words, counts.tolist(), strict=True):
        for ngraph in ngraphs_of(word, longest):
            totals[ngraph] += count
    ranked = sorted(totals, key=lambda ngraph: (-totals[ngraph], ngraph))
    return ranked[:number]


def number_ngraphs(words: Sequence[str], known: Sequence[str], longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the known n-graphs of words by number, as often as they occur.

    Returns:
        numbers (int64, end to end) and offsets (int64 [words + 1]); word i has numbers[offsets[i] : offsets[i + 1]].
    """
    places = {ngraph: number for number, ngraph in enumerate(known)}
    numbers = [[places[ngraph] for ngraph in ngraphs_of(word, longest) if ngraph in places] for word in words]
    offsets = np.cumsum([0, *map(len, numbers)])
    return np.array(
        [number for word_numbers in numbers for number in word_numbers], np.int64
    ), offsets.astype(np.int64)
