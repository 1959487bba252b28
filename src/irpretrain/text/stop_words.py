"""Stop words and stems."""

from collections.abc import Callable, Iterable
from typing import Literal

from irpretrain.foundation.resources import read_resource
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.words import find_words, word_kind

# Stop lists: words that are never drawn and do not count in document length.
#
# The lists lie in `resources/stopwords`, their sources in its README. The pieces of an entry with an apostrophe are
# stop words: INQUERY's "doesn't" removes "doesn" and "t", so its 418 entries are 419 words. Options name lists of
# English; in another language every name but `none` means that language's own list (resources/languages.yaml), if
# there is one.

StopList = Literal["none", "inquery", "nltk+inquery"]


def load_stop_words(
    name: str,  # none, lucene, inquery or nltk+inquery
    *,
    keeps_entries: bool = False,  # give entries with an apostrophe as they stand too, beside their pieces
    language_name: str = ENGLISH,
) -> frozenset[str]:
    """Return the stop words of a list, or of two lists joined by `+`.

    Raises:
        SetupError: the file is missing.
    """
    if name == "none":
        return frozenset()
    files = [f"{list_name}.txt" for list_name in name.split("+")]
    if language_name != ENGLISH:
        files = [language(language_name).stop_list]
    entries = [entry for file in files if file for entry in read_resource(f"stopwords/{file}").split()]
    kind = word_kind("alphanumeric", language_name)
    words = frozenset(word for entry in entries for word in find_words(entry, kind))
    return words.union(entries) if keeps_entries else words


# Stems, from Snowball's C code: in English those of the original Porter stemmer (Porter, "An algorithm for suffix
# stripping", 1980), in other languages those of the algorithm in resources/languages.yaml.
#
# NLTK's `PorterStemmer`, which PROP's released code calls, has departures of its own from the published algorithm; a
# few stems differ.


def stemmer(language_name: str = ENGLISH) -> Callable[[str], str]:
    """Return the function that stems a lower-cased word; in a language without a stemmer the word itself."""
    algorithm = language(language_name).stemmer
    if not algorithm:
        return str
    import Stemmer

    snowball = Stemmer.Stemmer(algorithm)
    snowball.maxCacheSize = 0  # its cache only pays for repeated words; these are distinct
    stem: Callable[[str], str] = snowball.stemWord
    return stem


def stems_of(words: Iterable[str], language_name: str = ENGLISH) -> list[str]:
    """Return the stem of each lower-cased word."""
    return list(map(stemmer(language_name), words))
