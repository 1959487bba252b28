"""Representative words prediction (ROP), the objective of PROP (Ma et al., WSDM 2021, section 3.1).

Two word sets of equal size are drawn from a document's language model; the one with the higher likelihood is
preferred. One ranking group is one pair: one document, two queries. docs/methods/prop.md states every formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, SetupError
from irpretrain.foundation.progress import progress
from irpretrain.objectives.prop.options import RopOptions
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.text.token_store import TokenStore

if TYPE_CHECKING:
    from irpretrain.objectives.prop.word_sets import WordSetPairs

NEEDS = frozenset({"statistics"})
DOCUMENTS_PER_BATCH = 1024
PAIR_COUNTS = ("pairs", "ties", "words_drawn", "words_outside_document", "sets_with_repeated_words")

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
