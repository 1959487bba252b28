"""Stems, from Snowball's C code: in English those of the original Porter stemmer (Porter, "An algorithm for suffix
stripping", 1980), in other languages those of the algorithm in resources/languages.yaml.

NLTK's `PorterStemmer`, which PROP's released code calls, has departures of its own from the published algorithm; a
few stems differ.
"""

from collections.abc import Sequence

from irpretrain.text.languages import ENGLISH, language


def stems_of(words: Sequence[str], language_name: str = ENGLISH) -> list[str]:
    """Return the stem of each lower-cased word; in a language without a stemmer the word itself."""
    algorithm = language(language_name).stemmer
    if not algorithm:
        return list(words)
    import Stemmer

    stemmer = Stemmer.Stemmer(algorithm)
    stemmer.maxCacheSize = 0  # its cache only pays for repeated words; these are distinct
    return list(stemmer.stemWords(list(words)))
