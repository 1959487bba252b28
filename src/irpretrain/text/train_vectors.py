"""Training word vectors on a collection: word2vec's skip-gram with negative sampling (Mikolov et al., 2013), by gensim.

gensim gives the same bits for the same documents in the same order if one thread works: its random numbers then come
from one seeded stream. Its other settings are its defaults: frequent words sub-sampled at 10⁻³, noise words by
count^0.75, a learning rate that falls to 0.0001.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.contracts import WORD_COUNTS
from irpretrain.errors import ConfigError, IntegrityError
from irpretrain.mapped_array import create_mapped
from irpretrain.progress import progress
from irpretrain.randomness import integer_seed, stream_key
from irpretrain.text.word_store import WordStore
from irpretrain.wording import worded

STAGE = "word-vectors"
"""Name of the random streams: (seed, "word-vectors") and, for the choice of a document, its identifier."""
WORDS_IN_SENTENCE = 10_000
"""gensim silently drops what a sentence has beyond it, so documents are cut."""


def train_vectors(
    corpora: Sequence[Sequence[WordStore]],
    statistics: str | Path,
    options: WordVectorsConfig,
    seed: int,
    output: Path,
) -> dict[str, Any]:
    """Train vectors of the words that are frequent enough, and write those of all words.

    Args:
        corpora: word stores of each corpus of the collection.
        statistics: merged WORD_COUNTS of the collection.
        output: `vectors.npy`.

    Returns:
        The record; see `word_vectors.make_word_vectors`.
    """
    words = WORD_COUNTS.count(statistics)
    collection = _Documents(corpora, words)
    chosen = collection.in_order()
    if options.most_words is not None:
        chosen = collection.choose(chosen, options.most_words, seed)
    counts = collection.count(chosen)
    trained = np.flatnonzero(counts >= options.minimum_count)
    if not len(trained):
        remedy = worded(
            "lower it, or name a file of vectors: in word_vectors.files, or in Python Collection(..., vectors=...)",
            "lower it (--set word_vectors.minimum_count=NUMBER); axioms also takes a file of vectors, --vectors FILE",
        )
        raise ConfigError(
            f"word_vectors.minimum_count: no word occurs {options.minimum_count} times in the collection; {remedy}"
        )
    vectors = _train(_Sentences(collection, chosen, trained), counts[trained], options, seed)
    create_mapped(output, np.dtype(np.float32), (words, options.dimensions))[trained] = vectors
    return {
        "source": "word2vec",
        "words": words,
        "dimensions": options.dimensions,
        "words_with_vector": len(trained),
        "documents_read": len(chosen),
        "words_read": int(counts.sum()),
        "epochs": options.epochs,
    }


def _train(sentences: _Sentences, counts: np.ndarray, options: WordVectorsConfig, seed: int) -> np.ndarray:
    """Return the vectors (float32) of the words that the sentences have by their numbers from 0."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=options.dimensions,
        window=options.window,
        negative=options.negatives,
        sg=1,
        hs=0,
        min_count=1,
        alpha=options.learning_rate,
        epochs=options.epochs,
        workers=1,
        seed=integer_seed(seed, STAGE) & 0xFFFFFFFF,
    )
    model.build_vocab_from_freq({str(i): int(count) for i, count in enumerate(counts)})
    model.train(
        sentences, total_examples=sentences.sentences, total_words=int(counts.sum()), epochs=options.epochs
    )
    places = [model.wv.key_to_index[str(i)] for i in range(len(counts))]
    return model.wv.vectors[places]


class _Documents:
    """The documents of all stores."""

    def __init__(self, corpora: Sequence[Sequence[WordStore]], words: int) -> None:
        self.stores = [store for corpus in corpora for store in corpus]
        self._corpus = [number for number, corpus in enumerate(corpora) for _ in corpus]
        self.words = words
        for store in self.stores:
            if store.vocabulary != words:
                raise IntegrityError(
                    "word store",
                    f"it numbers {store.vocabulary:,} words, but the statistics have {words:,}",
                    remedy="Delete the stores and run the workflow again.",
                )

    def in_order(self) -> np.ndarray:
        """Return (store, row) of all documents, by corpus, part and position (int64 [documents, 2])."""
        places = [
            np.stack([np.full(len(store), number), np.arange(len(store))], 1)
            for number, store in enumerate(self.stores)
        ]
        all_places = np.concatenate([np.zeros((0, 2), np.int64), *places])
        keys = [
            np.concatenate([np.zeros(0, np.int64), *(s.documents[name].to_numpy() for s in self.stores)])
            for name in ("position", "part")
        ]
        corpora = np.repeat(np.array(self._corpus, np.int64), [len(store) for store in self.stores])
        return all_places[np.lexsort((*keys, corpora))]

    def choose(self, places: np.ndarray, most: int, seed: int) -> np.ndarray:
        """Return the places of documents drawn at random until they have `most` words, in the order of `places`."""
        ids = [store.documents["document_id"].to_pylist() for store in self.stores]
        keys = np.array([stream_key(seed, STAGE, ids[s][row])[0] for s, row in places], np.uint64)
        lengths = np.array([self.length(s, row) for s, row in places], np.int64)
        drawn = np.argsort(keys, kind="stable")
        needed = int(np.searchsorted(np.cumsum(lengths[drawn]), most)) + 1
        return places[np.sort(drawn[:needed])]

    def length(self, store: int, row: int) -> int:
        offsets = self.stores[store].offsets
        return int(offsets[row + 1] - offsets[row])

    def of(self, store: int, row: int) -> np.ndarray:
        """Return the words of a document (int32)."""
        word_store = self.stores[store]
        return word_store.words[word_store.offsets[row] : word_store.offsets[row + 1]]

    def count(self, places: np.ndarray) -> np.ndarray:
        """Return how often each word occurs in some documents (int64)."""
        counts = np.zeros(self.words, np.int64)
        for start in range(0, len(places), 4096):
            pieces = [self.of(store, row) for store, row in places[start : start + 4096]]
            distinct, held = np.unique(np.concatenate(pieces), return_counts=True)
            counts[distinct] += held
        return counts


class _Sentences:
    """What gensim iterates over, once an epoch: lists of the trained words' numbers as text."""

    def __init__(self, documents: _Documents, places: np.ndarray, trained: np.ndarray) -> None:
        self._documents, self._places = documents, places
        self._names = np.full(documents.words, None, object)
        self._names[trained] = [str(number) for number in range(len(trained))]
        self._known = np.zeros(documents.words, bool)
        self._known[trained] = True
        self._epoch = 0
        self.sentences = sum(1 for _ in self._pieces())

    def __iter__(self) -> Iterator[list[str]]:
        self._epoch += 1
        for words in progress(
            self._pieces(), f"train word vectors, pass {self._epoch}", "documents", self.sentences
        ):
            yield self._names[words].tolist()

    def _pieces(self) -> Iterator[np.ndarray]:
        """Yield the known words of each document, in pieces that gensim takes whole."""
        for store, row in self._places:
            words = self._documents.of(store, row)
            words = words[self._known[words]]
            for start in range(0, len(words), WORDS_IN_SENTENCE):
                yield words[start : start + WORDS_IN_SENTENCE]
