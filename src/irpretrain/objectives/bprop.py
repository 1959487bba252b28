"""B-PROP's objective (Ma et al., SIGIR 2021): ROP whose word sets are drawn by BERT's attention.

    a(w)      = attention of [CLS] to w in the last layer, mean over heads, sum over occurrences
    P(w|D)    ∝ a / (a + saturation)
    P(w|rand) = mean of P(w|D) over the collection's documents
    γ(w)      = min(P(w|D) · -log2 P(w|rand), 100)
    draw      ∝ exp(γ(w) / temperature), without replacement if there are more words than the set takes;
              a set's score is the sum of γ

docs/methods/baselines.md names what is from the paper, from its released code, or new.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.base import Section, option
from irpretrain.contracts import TERM_WEIGHTS
from irpretrain.foundation.progress import progress
from irpretrain.objectives.groups import pair_groups
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.text.languages import ENGLISH
from irpretrain.text.set_sizes import cumulative, set_size_probabilities
from irpretrain.text.words import word_finder, word_kind

NEEDS = frozenset({"term_weights"})
DOCUMENTS_AT_ONCE = 1024

# A share of 1 in sums over documents: whole numbers add up alike in any order, so that shards change nothing.
SHARES_ONE = 2**40

# Largest γ, attention at which a word counts half of the maximum, and temperature of the softmax from which words are
# drawn: all in the released code.
MOST, SATURATION, TEMPERATURE = 100.0, 0.01, 1.0


class BpropOptions(Section):
    """B-PROP's pairs of word sets from one document; the set of higher contrastive weight is preferred."""

    type: Literal["bprop"] = option(..., "This objective.")
    weighting: str = option("attention", "Key of the `term_weights` of model attention.")
    pairs_per_document: int = option(5, "Pairs per document.", unit="pairs", ge=1)
    minimum_words: int = option(10, "Documents with fewer different words are skipped.", unit="words", ge=1)


OPTIONS = BpropOptions


def make_groups(shard: Shard, options: BpropOptions, counts: Counts) -> Iterator[pa.Table]:
    """Yield the word-set pairs of a shard: two literal queries, the preferred one first; one whole document.

    Counts documents, those skipped, pairs, and ties, in which the second set drawn comes first, as in PROP.
    """
    rarity = information(shard.collection_term_weights)
    draws = _Draws(options, shard.text.language)
    sums = dict.fromkeys(("documents", "pairs", "ties"), 0)
    few_words = 0
    title = f"sample pairs {Path(shard.documents).stem}"
    batches = TERM_WEIGHTS.stream(shard.term_weights, rows=DOCUMENTS_AT_ONCE)
    for rows in progress(batches, title, "documents", TERM_WEIGHTS.count(shard.term_weights), size=len):
        positions, queries, scores = list[int](), list[str](), list[list[float]]()
        sums["documents"] += rows.num_rows
        found, shares, bounds = _distributions(rows)
        for position, (start, end) in enumerate(pairwise(bounds.tolist())):
            drawn = [
                (word, min(share * rarity.get(word, 0.0), MOST))
                for word, share in zip(found[start:end].to_pylist(), shares[start:end], strict=True)
                if draws.has(word)
            ]
            if len(drawn) < options.minimum_words:
                few_words += 1
                continue
            rng = shard.stream("bprop", rows.column("document_id")[position].as_py())
            for pair in draws.pairs([w for w, _ in drawn], np.array([g for _, g in drawn]), rng):
                positions.append(position)
                queries += [text for text, _ in pair]
                scores.append([score for _, score in pair])
        table = np.array(scores).reshape(-1, 2)
        sums["pairs"] += len(table)
        sums["ties"] += int((table[:, 0] == table[:, 1]).sum())
        documents = rows.select(["part", "position", "document_id"]).take(pa.array(positions, pa.int64()))
        yield pair_groups(documents, pa.array(queries, pa.string()), table)
    counts.update(sums, skipped={"few_words": few_words})


class _Draws:
    def __init__(self, options: BpropOptions, language: str) -> None:
        self._options = options
        find = word_finder(word_kind("letters", language))
        # Beyond English, letters may carry combining marks.
        self._has_letters_only = str.isalpha if language == ENGLISH else lambda word: find(word) == [word]
        self._sizes = cumulative(set_size_probabilities())

    def has(self, word: str) -> bool:
        """Whether a word may be drawn: the released code draws letters only."""
        return self._has_letters_only(word)

    def pairs(
        self, words: Sequence[str], weights: np.ndarray, rng: np.random.Generator
    ) -> Iterator[list[tuple[str, float]]]:
        """Yield pairs of (words of a set, its score), the preferred set first."""
        heights = (weights - weights.max()) / TEMPERATURE
        for _ in range(self._options.pairs_per_document):
            size = int(np.searchsorted(self._sizes, rng.random(), "right")) + 1
            pair = []
            for _ in range(2):
                chosen = _draw(heights, size, rng)
                pair.append(
                    (" ".join(words[position] for position in chosen), float(np.sort(weights[chosen]).sum()))
                )
            yield pair if pair[0][1] > pair[1][1] else pair[::-1]


def _draw(heights: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` indices, each ∝ exp(height), in the order drawn."""
    if len(heights) <= size:
        shares = np.exp(heights)
        return rng.choice(len(heights), size, p=shares / shares.sum())
    # The largest of heights with Gumbel noise are draws without replacement (Kool et al., ICML 2019), without an
    # exponential, which may be 0.
    return np.argsort(-(heights + rng.gumbel(size=len(heights))))[:size]


def _distributions(rows: pa.RecordBatch) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return the words of all documents end to end, P(w|D) of each, and where each document's begin and end."""
    lists = rows.column("terms")
    words, bounds = lists.flatten(), np.concatenate([[0], np.cumsum(pc.list_value_length(lists))])
    attention = words.field("weight").to_numpy(zero_copy_only=False).astype(np.float64)
    shares = attention / (attention + SATURATION)
    for start, end in pairwise(bounds.tolist()):
        shares[start:end] /= shares[start:end].sum()
    return words.field("term"), shares, bounds


def information(tables: Sequence[str | Path]) -> dict[str, float]:
    """Return -log2 P(w|rand) of every word of the collection that some attention goes to."""
    sums: defaultdict[str, int] = defaultdict(int)
    documents = 0
    for path in tables:
        for rows in TERM_WEIGHTS.stream(path, ["terms"], DOCUMENTS_AT_ONCE):
            words, shares, bounds = _distributions(rows)
            documents += int(np.count_nonzero(np.diff(bounds)))
            encoded = pc.dictionary_encode(words)
            totals = np.bincount(encoded.indices.to_numpy(), np.rint(shares * SHARES_ONE))
            for word, total in zip(encoded.dictionary.to_pylist(), totals.tolist(), strict=True):
                sums[word] += int(total)
    whole = SHARES_ONE * documents
    return {word: float(-np.log2(total / whole)) for word, total in sums.items() if total > 0}
