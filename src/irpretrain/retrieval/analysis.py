"""Words as the index has them: the analyser that Anserini gives to documents and queries, or that of a language.

Lucene's standard tokeniser cuts a text at the word boundaries of Unicode; possessives lose their 's, letters become
lower-case, stop words go, stems are taken. No other stemmer agrees with Lucene's in every word, and stems must not be
stemmed again (that changes some of them), so words are analysed by Lucene itself, each once.

In another language than English a text is cut into our words (`text.words`), those of our stop list go, and each other
word goes through Lucene's analyser of the language. Statistics, axioms and indexes then agree on words and stop words;
stems are Lucene's in indexes, and Snowball's elsewhere.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from irpretrain.config.retrieval import LUCENE_WORDS, IndriConfig, QueryWords, RetrievalConfig
from irpretrain.retrieval.java import java_class
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.words import language_of, unspaced_word, word_finder

TEXTS_AT_ONCE = 512
"""Texts in one call of Java."""

MOST_KNOWN = 2_000_000
"""Words in memory, about 0.5 GB, before those of the next texts are analysed anew: a corpus may have more words."""

MARK = "qzxsepxzq7"
"""Stands between texts that are analysed in one call: a word that the analyser returns as it is."""


class Analyser:
    """Lucene's English analyser with the stemmer and the stop words of the configuration.

    An entry of INQUERY's list with an apostrophe is a stop word as a whole, as Lucene cuts texts, and so is each of its
    pieces, as `text.words` does.
    """

    def __init__(self, stemmer: str, stop_list: Literal["lucene", "inquery", "none"]) -> None:
        self._analyser = _lucene_analyser(stemmer, stop_list)
        self._call = java_class("io.anserini.analysis.AnalyzerUtils").analyze
        self._known: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of(cls, options: RetrievalConfig | IndriConfig, words: QueryWords = LUCENE_WORDS) -> "Analyser":
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
        """Return the terms of each text, in their order, repeated ones too."""
        term_lists: list[list[str]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            term_lists += self._together(texts[start : start + TEXTS_AT_ONCE])
        return term_lists

    def learn(self, words: Iterable[str]) -> None:
        """Analyse those of `words` that are new; `terms_of_word` knows them then."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        for word, terms in zip(new, self.terms(new), strict=True):
            self._known[word] = tuple(terms)

    def terms_of_word(self, word: str) -> tuple[str, ...]:
        """Return the terms of a word that `learn` has seen: none for a stop word, mostly one, several where Lucene
        cuts it further.
        """
        return self._known[word]

    def _together(self, texts: Sequence[str]) -> list[list[str]]:
        """Analyse several texts in one call, as a call costs as much as a hundred words."""
        # A new line on either side, so that no rule of Unicode joins the mark to a text's last word.
        tokens = self._tokens(f"\n{MARK}\n".join(texts))
        pieces: list[list[str]] = [[]]
        for token in tokens:
            if token == MARK:
                pieces.append([])
            else:
                pieces[-1].append(token)
        if len(pieces) != max(len(texts), 1):  # a text holds the mark itself
            return [self._tokens(text) for text in texts]
        return pieces[: len(texts)]

    def _tokens(self, text: str) -> list[str]:
        # A list prints as [a, b]; no token holds white space, so it can be cut again. One call, not one a token.
        printed: str = self._call(self._analyser, text).toString()
        return printed[1:-1].split(", ") if len(printed) > 2 else []


class LanguageAnalyser(Analyser):
    """The analyser of another language than English.

    Args:
        words: kind of words that texts are cut into.
        stemmed: whether words go through Lucene's analyser of the language; else a word is a term.
        stopped: whether stop words go.
    """

    def __init__(self, words: QueryWords, stemmed: bool, stopped: bool) -> None:
        name = language_of(words)
        row = language(name)
        self._find = word_finder(words)
        self._stop = load_stop_words("all", language_name=name) if stopped else frozenset[str]()
        self._known = {}
        self._is_analysed = stemmed and bool(row.analyser)
        if self._is_analysed:
            # Its own stop list is ours, but goes by words as it has normalised them.
            no_words = java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET
            self._analyser = java_class(row.analyser)(*([] if stopped else [no_words]))
            self._unspaced = unspaced_word(words)
            self._call = java_class("io.anserini.analysis.AnalyzerUtils").analyze

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms of each text, in their order, repeated ones too."""
        cut = [self._find(text) for text in texts]
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        self.learn(word for words in cut for word in words)
        return [[term for word in words for term in self._known[word]] for words in cut]

    def learn(self, words: Iterable[str]) -> None:
        """Analyse those of `words` that are new; `terms_of_word` knows them then."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        kept = [word for word in new if word not in self._stop]
        self._known.update(dict.fromkeys(new, ()))
        if self._is_analysed:
            for word, terms in zip(kept, super().terms(kept), strict=True):
                # Pairs overlap: what Lucene cuts such a word into is in its neighbours too.
                whole = len(terms) > 1 and self._unspaced(word)
                self._known[word] = (word,) if whole else tuple(terms)
        else:
            self._known.update((word, (word,)) for word in kept)


def anserini_texts(options: RetrievalConfig, words: QueryWords) -> Callable[[list[str]], list[str]]:
    """Return what makes texts that Anserini indexes or searches: English ones stay, others become their terms."""
    if language_of(words) == ENGLISH:
        return list
    analyser = Analyser.of(options, words)
    return lambda texts: [" ".join(terms) for terms in analyser.terms(texts)]


def _lucene_analyser(stemmer: str, stop_list: str) -> Any:
    factory = java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    if stop_list != "inquery":
        return factory.fromArguments(stemmer, stop_list == "none", None)
    words = java_class("org.apache.lucene.analysis.CharArraySet")(512, False)
    for word in sorted(load_stop_words("inquery", whole=True)):
        words.add(word)
    if stemmer == "none":
        return factory.newNonStemmingInstance(words)
    return factory.newStemmingInstance(stemmer, words)
