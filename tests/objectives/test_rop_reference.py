"""The compiled draw against Algorithm 1 in plain Python, draw for draw, from the stream that the documentation names.

docs/methods/prop.md says in which order a document's uniforms are used; so every pair, its order and its ties must come
out the same here, where nothing but NumPy's generator and the collection's tables is shared with the compiled code.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_rop_groups import FIVE_WORDS, OTHER, Made, options, patch_sizes

from document_model import DocumentModel, numbers_of
from irpretrain.foundation.randomness import generator
from irpretrain.objectives.prop.options import RopOptions
from irpretrain.text.draws import alias_table
from irpretrain.text.set_sizes import cumulative

Uniform = Callable[[], float]

# Some texts have fewer different words, one has more.
SUPPORT = 4


class Reference:
    """Algorithm 1 over the tables of a sampler."""

    def __init__(self, made: Made, chosen: RopOptions, seed: int) -> None:
        self.model, self.keep, self.options, self.seed = made.model, made.sampler.keep, chosen, seed
        self.background = alias_table(self.model.background * self.keep)
        self.background_mass = float((self.model.background * self.keep).sum())
        self.frequencies = alias_table(self.model.documents)
        self.sizes = cumulative(made.sampler.size_probabilities)

    def pairs(self, text: str, identifier: str) -> list[tuple[str, str]]:
        """The kept pairs of a document without stop or rare words, the preferred set first."""
        uniform = generator(self.seed, "rop", identifier).random
        uniform()  # whether a short document is skipped
        numbers = numbers_of(self.model, text.split())
        draw = self.draw(*np.unique(numbers, return_counts=True), uniform)
        likelihoods = DocumentModel(self.model, text.split()).log_likelihood
        retained: list[tuple[str, str]] = []
        for location in range(self.options.generated_pairs or self.options.pairs_per_document):
            size = int(np.searchsorted(self.sizes, uniform(), side="right")) + 1
            sets, words = [], []
            for _ in range(2):
                sets.append([draw() for _ in range(size)])
                words.append(" ".join(self.model.terms[term] for term in sets[-1]))
            first, second = (likelihoods(one) for one in sets)
            tie = math.isclose(first, second, rel_tol=1e-12)
            pair = (words[0], words[1]) if first > second and not tie else (words[1], words[0])
            if location < self.options.pairs_per_document:
                retained.append(pair)
            elif (slot := int(uniform() * (location + 1))) < self.options.pairs_per_document:
                retained[slot] = pair
        return retained

    def draw(self, own: np.ndarray, counts: np.ndarray, uniform: Uniform) -> Callable[[], int]:
        """Return what draws one term."""
        size, mu = len(self.model.terms), self.model.mu
        if self.options.sampling == "random":
            return lambda: int(uniform() * size)
        if self.options.support == "document-and-sample":
            most, support = SUPPORT, own.tolist()
            for _ in range(most - len(own) if len(own) < most else len(own) + 100):
                term = self.from_table(self.frequencies, uniform)
                support += [] if term in support else [term]
            inside = np.array(support)
            weights = (
                np.concatenate([counts, np.zeros(len(inside) - len(own))])
                + mu * self.model.background[inside]
            )
            sums = np.cumsum(weights * self.keep[inside])
            return lambda: int(inside[np.searchsorted(sums, uniform() * sums[-1], side="right")])
        sums = np.cumsum(counts * self.keep[own])

        def one() -> int:
            location = uniform() * (sums[-1] + mu * self.background_mass)
            if location < sums[-1]:
                return int(own[np.searchsorted(sums, location, side="right")])
            return self.from_table(self.background, uniform)

        return one

    def from_table(self, table: tuple[np.ndarray, np.ndarray], uniform: Uniform) -> int:
        location = uniform() * len(self.model.terms)
        cell = int(location)
        return cell if location - cell < table[0][cell] else int(table[1][cell])


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("most", [2, 20])
@pytest.mark.parametrize(
    "changes",
    [
        {"subsampling_threshold": 0.0},
        {"subsampling_threshold": 0.02, "generated_pairs": 10},
        {"support": "document-and-sample", "score_smoothing": "unnormalised", "generated_pairs": 8},
        {"support": "document-and-sample", "score_smoothing": "unnormalised", "subsampling_threshold": 0.02},
        {"sampling": "random"},
        {"background": "document-frequencies"},
    ],
)
def test_every_pair_is_the_one_that_plain_python_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], most: int, seed: int
) -> None:
    patch_sizes(monkeypatch, support=SUPPORT, most=most)
    chosen = options(**changes)
    texts = [FIVE_WORDS, OTHER, "run runs running banana", "elder"] * 15
    # In FIVE_WORDS apple · elder and cherry · durian are equally likely here, so some sets tie that differ.
    made = Made(
        tmp_path, texts, chosen, [FIVE_WORDS, "banana banana cherry elder elder", OTHER, texts[2]], seed
    )
    reference = Reference(made, chosen, seed)
    found: dict[int, list[tuple[str, str]]] = {}
    for group in made.groups:
        first, second = (query["text"] for query in group["queries"])
        found.setdefault(group["position"], []).append((first, second))
        likelihood = DocumentModel(made.model, texts[group["position"]].split()).log_likelihood
        terms = [[made.model.terms.index(word) for word in words.split(" ")] for words in (first, second)]
        assert group["scores"] == pytest.approx(list(map(likelihood, terms)), rel=1e-6)
    assert found == {position: reference.pairs(text, f"d{position}") for position, text in enumerate(texts)}
    tied = [g for g in made.groups if g["scores"][0] == g["scores"][1]]
    assert any(g["queries"][0] != g["queries"][1] for g in tied)
