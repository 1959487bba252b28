"""From documents to pairs of word sets: cuts texts into words, runs the compiled draw, writes the sets as text."""

from collections.abc import Sequence
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.text import TextConfig
from irpretrain.foundation.randomness import stream_keys
from irpretrain.objectives.groups import pair_groups
from irpretrain.objectives.prop.language_model import (
    RARE_WORD,
    CollectionModel,
    keep_probabilities,
    read_collection_model,
)
from irpretrain.objectives.prop.options import RopOptions
from irpretrain.objectives.prop.word_sets import (
    DOCUMENT_AND_SAMPLE,
    RANDOM,
    VOCABULARY,
    DrawTables,
    SampledDocuments,
    SetRules,
    WordSetPairs,
    draw_pairs,
)
from irpretrain.text.draws import alias_table
from irpretrain.text.set_sizes import cumulative, set_size_probabilities
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.texts import texts_of
from irpretrain.text.words import word_finder

# Name of the random streams: (seed, "rop", document id).
STAGE = "rop"

# For document-and-sample: a document with n words gets SUPPORT_SIZE − n draws of other words, or n + 100 if it has
# more. As in the released code; the paper draws from the whole vocabulary.
SUPPORT_SIZE = 500


class PairSampler:
    """Draws the pairs of documents of one collection.

    Attributes:
        keep: float64[V], k(w) of sub-sampling.
        size_probabilities: float64, P(size) for sizes from 1.
    """

    def __init__(self, statistics: str | Path, options: RopOptions, text: TextConfig, seed: int) -> None:
        self.collection: CollectionModel = read_collection_model(
            statistics,
            stop_words=load_stop_words(options.stop_list, language_name=text.language),
            minimum_count=options.minimum_count,
            background=options.background,
            rare_words=options.rare_words,
        )
        self.keep = keep_probabilities(
            self.collection.counts,
            self.collection.total,
            options.subsampling_threshold,
            options.subsampling_minimum_count,
        )
        self.size_probabilities = set_size_probabilities()
        self._text, self._seed = text, seed
        self._words = pa.array(self.collection.terms, pa.string())
        self._tables = self._make_tables()
        self._rules = SetRules(
            support=_support(options),
            mu=self.collection.mu,
            support_size=SUPPORT_SIZE,
            normalise_support=options.score_smoothing == "normalised",
            generated_pairs=options.generated_pairs or options.pairs_per_document,
            pairs_per_document=options.pairs_per_document,
        )

    def _make_tables(self) -> DrawTables:
        collection = self.collection
        draw_weights = collection.background * self.keep
        return DrawTables(
            background=collection.background,
            keep_probabilities=self.keep,
            background_alias=alias_table(draw_weights),
            background_mass=float(draw_weights.sum()),
            frequency_alias=alias_table(collection.documents),
            size_sums=cumulative(self.size_probabilities),
        )

    def sample(self, rows: pa.RecordBatch, skip_probabilities: np.ndarray) -> tuple[pa.Table, WordSetPairs]:
        """Draw the pairs of a batch of documents; `skip_probabilities`, float64[rows], are those of skipping each.

        Returns:
            The pairs as a GROUPS table, numbered from 0 within each document, and as they were drawn.
        """
        terms, offsets, lengths = self._number(texts_of(rows, self._text))
        keys = stream_keys(self._seed, STAGE, rows.column("document_id").to_pylist())
        documents = SampledDocuments(
            terms, offsets, lengths, keys, np.asarray(skip_probabilities, np.float64)
        )
        pairs = draw_pairs(documents, self._tables, self._rules)
        offsets = np.concatenate(([0], np.cumsum(np.repeat(pairs.sizes, 2)))).astype(np.int32)
        word_sets = pa.ListArray.from_arrays(offsets, self._words.take(pa.array(pairs.terms)))
        document_rows = rows.select(["part", "position", "document_id"]).take(pairs.document_of_pair)
        return pair_groups(document_rows, pc.binary_join(word_sets, " "), pairs.scores), pairs

    def _number(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (term numbers end to end, offsets, |D|) of some texts."""
        split_words, find_number = word_finder(self._text.word_kind), self.collection.number_of_word.get
        word_lists = [split_words(text) for text in texts]
        sizes = np.fromiter(map(len, word_lists), np.int64, len(word_lists))
        numbers = np.fromiter(
            map(find_number, chain.from_iterable(word_lists), repeat(RARE_WORD)), np.int64, int(sizes.sum())
        )
        ends = np.concatenate(([0], np.cumsum(sizes)))
        vocabulary_words_before = np.concatenate(([0], np.cumsum(numbers >= 0)))
        min_counted = RARE_WORD if self.collection.rare_words_count else 0
        lengths = np.diff(np.concatenate(([0], np.cumsum(numbers >= min_counted)))[ends])
        return numbers[numbers >= 0], vocabulary_words_before[ends], lengths


def _support(options: RopOptions) -> int:
    if options.sampling == "random":
        return RANDOM
    return DOCUMENT_AND_SAMPLE if options.support == "document-and-sample" else VOCABULARY
