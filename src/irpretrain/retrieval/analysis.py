"""Words as the index has them: Anserini's analyser of documents and queries, or that of a language.

Lucene's standard tokeniser cuts at Unicode word boundaries; possessives lose 's, then lower-casing, stop words, stems.
No other stemmer agrees with Lucene's in every word, and stemming twice changes some stems, so Lucene itself analyses
each word once. Outside English, texts are cut into the words of `text.words` without stop words, and each goes through
Lucene's analyser of the language: statistics, axioms and indexes agree on words; stems outside indexes are Snowball's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from irpretrain.config.retrieval import LUCENE_WORDS, IndriOptions, QueryWords, RetrievalConfig
from irpretrain.retrieval.java import java_class, java_faults
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.words import find_words, language_of, unspaced_word, word_finder

# Texts in one call of Java.
TEXTS_AT_ONCE = 512

# Characters in one call of Java, whose heap is small; a longer text has a call of its own.
CHARACTERS_AT_ONCE = 4_000_000

# Words in memory, about 0.5 GB, before those of the next texts are analysed anew: a corpus may have more words.
MAX_CACHED_WORDS = 2_000_000

# Stands between texts that are analysed in one call: a word that the analyser returns as it is.
SEPARATOR = "qzxsepxzq7"


class Analyser:
    """Lucene's English analyser with the configured stemmer and stop words."""

    # An entry of INQUERY's list with an apostrophe is a stop word as a whole, as Lucene cuts texts, and so is each
    # of its pieces, as `text.words` cuts it.
    def __init__(self, stemmer: str, stop_list: Literal["lucene", "inquery", "none"]) -> None:
        self._analyser = _lucene_analyser(stemmer, stop_list)
        self._call = java_class("io.anserini.analysis.AnalyzerUtils").analyze
        self._terms_by_word: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of(cls, options: RetrievalConfig | IndriOptions, words: QueryWords = LUCENE_WORDS) -> "Analyser":
        """Return the analyser of the tf index, or that of first stages of model indri, for texts of such words."""
        if language_of(words) != ENGLISH:
            return LanguageAnalyser(words, options.stemmer != "none", options.stop_list != "none")
        return cls(options.stemmer, options.stop_list)

    @classmethod
    def words_only(cls, words: QueryWords = LUCENE_WORDS) -> "Analyser":
        """Return an analyser that only cuts and lower-cases: its tokens are words that can be analysed further."""
        if language_of(words) != ENGLISH:
            return LanguageAnalyser(words, False, False)
        return cls("none", "none")

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        return [terms for block in _blocks(texts) for terms in self._terms_in_one_call(block)]

    def learn(self, words: Iterable[str]) -> None:
        """Analyse those of `words` that are new; `terms_of_word` knows them then, others perhaps no more."""
        if len(self._terms_by_word) > MAX_CACHED_WORDS:
            self._terms_by_word.clear()
        new_words = [word for word in dict.fromkeys(words) if word not in self._terms_by_word]
        self._terms_by_word.update(zip(new_words, self._terms_of_words(new_words), strict=True))

    def terms_of_word(self, word: str) -> tuple[str, ...]:
        """Return the terms of a learned word: none for a stop word, several if Lucene cuts it further."""
        return self._terms_by_word[word]

    def _terms_of_words(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(terms) for terms in self.terms(words)]

    def _terms_in_one_call(self, texts: Sequence[str]) -> list[list[str]]:
        """Analyse several texts in one call, as a call costs as much as a hundred words."""
        # A new line on either side, so that no rule of Unicode joins the mark to a text's last word.
        tokens = self._tokens(f"\n{SEPARATOR}\n".join(texts))
        term_lists: list[list[str]] = [[]]
        for token in tokens:
            if token == SEPARATOR:
                term_lists.append([])
            else:
                term_lists[-1].append(token)
        if len(term_lists) != len(texts):  # a text holds the mark itself, or there is none
            return [self._tokens(text) for text in texts]
        return term_lists

    def _tokens(self, text: str) -> list[str]:
        # A list prints as [a, b]; no token holds white space, so it can be cut again. One call, not one per token.
        with java_faults(f"a text of {len(text):,} characters", "cut long documents into shorter ones"):
            printed_list: str = self._call(self._analyser, text).toString()
        return printed_list[1:-1].split(", ") if len(printed_list) > 2 else []


class LanguageAnalyser(Analyser):
    """The analyser of a language other than English; without `stems`, a word is a term."""

    def __init__(self, words: QueryWords, stems: bool, drops_stop_words: bool) -> None:
        name = language_of(words)
        analyser_class = language(name).analyser
        self._find_words = word_finder(words)
        self._stop_words = load_stop_words("all" if drops_stop_words else "none", language_name=name)
        self._terms_by_word = {}
        self._is_analysed = stems and bool(analyser_class)
        if self._is_analysed:
            # Its stop list is replaced by ours, but applies after its own normalisation.
            no_words = java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET
            self._analyser = java_class(analyser_class)(*([] if drops_stop_words else [no_words]))
            self._unspaced = unspaced_word(words)
            self._call = java_class("io.anserini.analysis.AnalyzerUtils").analyze

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        words_of_texts = [self._find_words(text) for text in texts]
        self.learn(word for words in words_of_texts for word in words)
        return [[term for word in words for term in self._terms_by_word[word]] for words in words_of_texts]

    def _terms_of_words(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        content_words = [word for word in words if word not in self._stop_words]
        term_lists = super().terms(content_words) if self._is_analysed else [[word] for word in content_words]
        terms_by_word: dict[str, tuple[str, ...]] = dict.fromkeys(words, ())
        for word, terms in zip(content_words, term_lists, strict=True):
            # Pairs overlap: what Lucene cuts such a word into is in its neighbours too.
            stays_whole = self._is_analysed and len(terms) > 1 and self._unspaced(word)
            terms_by_word[word] = (word,) if stays_whole else tuple(terms)
        return list(terms_by_word.values())


def one_line_each(texts: Sequence[str], words: QueryWords) -> list[str]:
    """Return each query on one line, cut into words where the index holds words that were cut so."""
    if words == LUCENE_WORDS:
        return [" ".join(text.split()) for text in texts]
    return [" ".join(find_words(text, words)) for text in texts]


def anserini_texts(options: RetrievalConfig, words: QueryWords) -> Callable[[list[str]], list[str]]:
    """Return what makes texts that Anserini indexes or searches: English ones stay, others become their terms."""
    if language_of(words) == ENGLISH:
        return list
    analyser = Analyser.of(options, words)
    return lambda texts: [" ".join(terms) for terms in analyser.terms(texts)]


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start, characters = 0, 0
    for end, text in enumerate(texts):
        if end > start and (end - start == TEXTS_AT_ONCE or characters + len(text) > CHARACTERS_AT_ONCE):
            yield texts[start:end]
            start, characters = end, 0
        characters += len(text)
    if texts:
        yield texts[start:]


def _lucene_analyser(stemmer: str, stop_list: str) -> Any:
    factory = java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    if stop_list != "inquery":
        return factory.fromArguments(stemmer, stop_list == "none", None)
    words = java_class("org.apache.lucene.analysis.CharArraySet")(512, False)
    for word in sorted(load_stop_words("inquery", keeps_entries=True)):
        words.add(word)
    if stemmer == "none":
        return factory.newNonStemmingInstance(words)
    return factory.newStemmingInstance(stemmer, words)
