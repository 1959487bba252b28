"""The original Porter stemmer (Porter, "An algorithm for suffix stripping", 1980), from Snowball's C code.

NLTK's `PorterStemmer`, which PROP's released code calls, has departures of its own from the published algorithm; a
few stems differ.
"""

from collections.abc import Sequence


def porter_stems(words: Sequence[str]) -> list[str]:
    """Return the Porter stem of each lower-cased word."""
    import Stemmer

    stemmer = Stemmer.Stemmer("porter")
    stemmer.maxCacheSize = 0  # its cache only pays for repeated words; these are distinct
    return list(stemmer.stemWords(list(words)))
