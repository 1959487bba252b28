"""Settings I to IV: which pseudo-queries may be drawn, how often, and that a draw looks at its own document alone."""

import numpy as np
import pytest
from scipy import stats

from irpretrain.axioms.predictor_pairs import NO_NEGATIVE, draw_negatives, negative_weights

RANKS = np.array([1, 5, 0, 6, 2, 0, 7])
STARTS = np.array([0, 3, 5, 5, 7])
"""Four documents: ranks 1, 5, ∞; 6, 2; no pseudo-queries; ∞, 7."""


@pytest.mark.parametrize(
    ("setting", "candidates"),
    [("I", [0, 1, 2, 3, 4, 5, 6]), ("II", [0, 1, 2, 3, 4, 5, 6]), ("III", [0, 1, 2]), ("IV", [0, 1, 4])],
)
def test_candidates_of_each_setting(setting, candidates):
    weight = negative_weights(RANKS, STARTS, setting)
    assert np.flatnonzero(weight).tolist() == candidates
    names = [f"d{document}\x1fq{query}" for document in range(4) for query in range(200)]
    drawn = draw_negatives(np.repeat(np.arange(4), 200), STARTS, weight, names, 1).reshape(4, 200)
    for document, found in enumerate(drawn):
        own = [query for query in candidates if STARTS[document] <= query < STARTS[document + 1]]
        assert sorted(set(found.tolist())) == (own or [NO_NEGATIVE])


@pytest.mark.parametrize("setting", ["I", "II"])
def test_draws_follow_their_law(setting):
    weight = negative_weights(RANKS, STARTS, setting)
    law = np.exp(np.array([1.0, 0.2, 0.0])) if setting == "II" else np.ones(3)
    assert weight[:3] == pytest.approx(law)
    names = [f"d\x1fq{query}" for query in range(20_000)]
    drawn = draw_negatives(np.zeros(20_000, int), STARTS, weight, names, 1)
    observed = np.bincount(drawn, minlength=3)
    assert stats.chisquare(observed, 20_000 * law / law.sum()).pvalue > 1e-3
    if setting == "II":
        assert stats.chisquare(observed).pvalue < 1e-6


def test_a_draw_depends_on_its_name_and_document_alone():
    weight = negative_weights(RANKS, STARTS, "II")
    names = [f"d\x1fq{query}" for query in range(50)]
    documents = np.tile([0, 1], 25)
    drawn = draw_negatives(documents, STARTS, weight, names, 3)
    order = np.random.default_rng(1).permutation(50)
    assert (
        draw_negatives(documents[order], STARTS, weight, [names[i] for i in order], 3) == drawn[order]
    ).all()
    # The second document alone, in a table of its own.
    alone = draw_negatives(np.zeros(25, int), np.array([0, 2]), weight[3:5], names[1::2], 3)
    assert (alone + 3 == drawn[1::2]).all()
    assert (draw_negatives(documents, STARTS, weight, names, 4) != drawn).any()
