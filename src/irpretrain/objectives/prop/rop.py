"""Representative words prediction (ROP), the objective of PROP (Ma et al., WSDM 2021, section 3.1).

Two word sets of equal size are drawn from a document's language model; the one with the higher likelihood is
preferred. One ranking group is one pair: one document, two queries. docs/methods/prop.md states every formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from irpretrain.config.base import Section, option
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, SetupError
from irpretrain.foundation.progress import progress
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.text.stop_words import StopList
from irpretrain.text.token_store import TokenStore

if TYPE_CHECKING:
    from irpretrain.objectives.prop.word_sets import WordSetPairs

NEEDS = frozenset({"statistics"})
DOCUMENTS_PER_BATCH = 1024
PAIR_COUNTS = ("pairs", "ties", "words_drawn", "words_outside_document", "sets_with_repeated_words")


class RopOptions(Section):
    """PROP's pairs of word sets from one document; the likelier set is preferred."""

    type: Literal["rop"] = option(..., "This objective.")
    sampling: Literal["document-language-model", "random"] = option(
        "document-language-model",
        "random: draw every vocabulary word with equal probability, without sub-sampling (PROP, Table 5).",
    )
    pairs_per_document: int = option(..., "Pairs used per document.", unit="pairs", ge=1)
    generated_pairs: int | None = option(
        None,
        "Pairs drawn per document; `pairs_per_document` of them are kept at random. null: all.",
        unit="pairs",
        ge=1,
    )
    stop_list: StopList = option(..., "Words neither drawn nor counted.")
    background: Literal["word-counts", "document-frequencies"] = option(..., "Source of P(w|C).")
    minimum_count: int = option(..., "Minimum occurrences in the collection.", unit="words", ge=1)
    rare_words: Literal["excluded", "counted"] = option(
        ...,
        "Whether words under `minimum_count` count in lengths and totals.",
    )
    subsampling_threshold: float = option(..., "Threshold t of sub-sampling; 0: none.", ge=0)
    subsampling_minimum_count: int = option(
        ..., "Words with fewer occurrences are always kept.", unit="words", ge=0
    )
    support: Literal["vocabulary", "document-and-sample"] = option(
        ...,
        "Words that can be drawn: the vocabulary, or the document's words and others by document frequency.",
    )
    score_smoothing: Literal["normalised", "unnormalised"] = option(
        ...,
        "For document-and-sample: P(w|D) normalised over the support, or that of equation 3.",
    )
    short_document_pieces: int = option(
        ..., "Shorter documents are skipped with probability `short_document_skip`.", unit="word pieces", ge=0
    )
    short_document_skip: float = option(..., "Probability of skipping a short document.", ge=0, le=1)

    def faults(self) -> Iterator[str]:
        if self.generated_pairs is not None and self.generated_pairs < self.pairs_per_document:
            yield (
                f"generated_pairs: {self.generated_pairs} pairs are drawn but pairs_per_document keeps "
                f"{self.pairs_per_document}; raise generated_pairs or set it to null"
            )

    @property
    def skips_short_documents(self) -> bool:
        """Whether documents are skipped by their number of word pieces, so that a token store is needed."""
        return self.short_document_pieces > 0 and self.short_document_skip > 0


OPTIONS = RopOptions


def make_groups(shard: Shard, options: RopOptions, counts: Counts) -> Iterator[pa.Table]:
    """Yield the word-set pairs of a shard (PROP, Algorithm 1): two literal queries, the preferred first; a whole
    document.

    Only skipping of short documents needs the token store. Counts documents read, skipped by reason, pairs, ties, drawn
    words, words outside the document, sets with a repeated word, set sizes observed and expected.

    Raises:
        InputError: the vocabulary is empty.
        ConfigError: `text.max_word_pieces` leaves every document short.
        SetupError: short documents are to be skipped, and there is no token store.
    """
    from irpretrain.objectives.prop.pair_sampler import PairSampler  # numba

    sampler = PairSampler(shard.statistics, options, shard.text, shard.seed)
    skip_probabilities = _skip_probabilities(shard, options)
    columns = list(dict.fromkeys(["document_id", "part", "position", *shard.text.fields]))
    batches = DOCUMENTS.stream(shard.documents, columns=columns, rows=DOCUMENTS_PER_BATCH)
    title = f"sample pairs {Path(shard.documents).stem}"
    sums, set_sizes = Counter[str](), Counter[int]()
    for rows in progress(batches, title, "documents", DOCUMENTS.count(shard.documents), size=len):
        groups, pairs = sampler.sample(rows, skip_probabilities[: rows.num_rows])
        skip_probabilities = skip_probabilities[rows.num_rows :]
        yield groups
        sums.update(_count(pairs))
        set_sizes.update(pairs.sizes.tolist())
    counts.update(
        documents=sums["documents"],
        skipped={reason: sums[reason] for reason in ("no_vocabulary_words", "short")},
        **{name: sums[name] for name in PAIR_COUNTS},
        set_sizes={
            str(size): {"pairs": set_sizes[size], "expected": round(float(sums["pairs"] * probability), 3)}
            for size, probability in enumerate(sampler.size_probabilities, 1)
        },
        vocabulary=len(sampler.collection.terms),
        mu=sampler.collection.mu,
    )


def _skip_probabilities(shard: Shard, options: RopOptions) -> np.ndarray:
    """Return float64[documents]: `short_document_skip` for documents with few word pieces, 0 for others."""
    if not options.skips_short_documents:
        return np.zeros(DOCUMENTS.count(shard.documents))
    stored_pieces = shard.text.max_word_pieces
    if stored_pieces is not None and stored_pieces < options.short_document_pieces:
        raise ConfigError(
            f"short_document_pieces: {options.short_document_pieces} is more than text.max_word_pieces "
            f"({stored_pieces}) keeps of any document, so all would count as short; lower one or raise the other"
        )
    if not shard.tokens:
        raise SetupError(
            "short_document_pieces needs a token store; give one, or set short_document_pieces to 0"
        )
    store = TokenStore.open([shard.tokens])
    rows = store.rows(DOCUMENTS.read(shard.documents, columns=["document_id"]).column("document_id"))
    return np.where(store.lengths[rows] < options.short_document_pieces, options.short_document_skip, 0.0)


def _count(pairs: WordSetPairs) -> dict[str, int]:
    from irpretrain.objectives.prop.word_sets import EMPTY, SHORT  # numba

    return {
        "documents": len(pairs.outcomes),
        "no_vocabulary_words": int(np.count_nonzero(pairs.outcomes == EMPTY)),
        "short": int(np.count_nonzero(pairs.outcomes == SHORT)),
        "pairs": len(pairs.sizes),
        "ties": int(np.count_nonzero(pairs.scores[:, 0] == pairs.scores[:, 1])),
        "words_drawn": 2 * int(pairs.sizes.sum()),
        "words_outside_document": int(pairs.outside_counts.sum()),
        "sets_with_repeated_words": int(pairs.repeat_counts.sum()),
    }
