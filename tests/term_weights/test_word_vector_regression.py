"""DeepCT_W: the regression on word vectors against NumPy's, and its features by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_weights import TEXT, weighting, write_targets

from irpretrain.foundation.contracts import TERM_WEIGHTS, WORD_COUNTS
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.retrieval.term_weights.weighing import WeightSource, weigh_documents
from irpretrain.retrieval.term_weights.word_vector_regression import (
    WordFeatures,
    WordVectorPredictor,
    train_word_vectors,
)

OPTIONS = weighting(model="word-vectors", collection="tiny")
WORDS = ["bird", "cat", "dog", "eel", "fox"]


@pytest.fixture
def vectors(tmp_path):
    """Vectors of five words in two dimensions; eel has none."""
    rows = np.array([[1, 0], [0, 1], [2, 2], [0, 0], [-1, 3]], np.float32)
    (tmp_path / "vectors").mkdir()
    np.save(tmp_path / "vectors" / "vectors.npy", rows)
    (tmp_path / "vectors" / "vectors.json").write_text('{"words": 5, "dimensions": 2}')
    WORD_COUNTS.write(
        tmp_path / "words.parquet",
        [{"word": word, "count": 1, "documents": 1, "stem_documents": 1} for word in WORDS],
    )
    return tmp_path / "vectors", tmp_path / "words.parquet"


def test_features_are_differences_from_the_mean(vectors):
    found = WordFeatures.open(*vectors).of(["bird", "dog", "eel", "unicorn"])
    assert found.tolist() == [[-0.5, -1], [0.5, 1], [0, 0], [0, 0]]


def test_the_regression_is_the_least_squares_solution(tmp_path, vectors, make_documents):
    texts = {"a": ("bird cat dog", [1.0, 0.5, 0.0]), "b": ("fox eel cat bird", [0.2, 0.4, 0.7, 0.9])}
    targets = write_targets(tmp_path / "targets.parquet", texts)
    counts = train_word_vectors(targets, WordFeatures.open(*vectors), TEXT, tmp_path / "model", ridge=0.0)
    features = WordFeatures.open(*vectors)
    x = np.vstack([features.of(["bird", "cat", "dog"]), features.of(["fox", "eel", "cat", "bird"])])
    y = np.array([1, 0.5, 0, 0.2, 0.4, 0.7, 0.9])
    solution, residual, *_ = np.linalg.lstsq(np.column_stack([x, np.ones(7)]), y, rcond=None)
    assert counts["words"] == 7
    assert_allclose(counts["mean_squared_error"], residual[0] / 7, atol=1e-6)
    learned = WeightSource([tmp_path / "model"], "", *vectors)
    documents = make_documents({"c": "dog bird unicorn", "d": ""})
    weigh_documents(learned, documents, OPTIONS, TEXT, tmp_path / "w", tmp_path, "weigh")
    [first, second] = TERM_WEIGHTS.read(tmp_path / "w")["terms"].to_pylist()
    expected = features.of(["bird", "dog", "unicorn"]) @ solution[:2] + solution[2]
    assert_allclose([e["weight"] for e in first], expected, rtol=1e-5)
    assert second == []


def test_the_penalty_draws_to_the_mean(tmp_path, vectors):
    targets = write_targets(tmp_path / "targets.parquet", {"a": ("bird cat dog", [1.0, 0.5, 0.0])})
    train_word_vectors(targets, WordFeatures.open(*vectors), TEXT, tmp_path / "model", ridge=1e9)
    with np.load(tmp_path / "model" / "regression.npz") as saved:
        assert_allclose(saved["coefficients"], 0, atol=1e-6)
        assert_allclose(saved["intercept"], 0.5, atol=1e-6)


def test_a_fold_learns_from_the_queries_of_all_others(tmp_path, vectors):
    """DeepTR: as nothing is chosen, none is kept back."""
    texts = {"q1": ("bird cat", [1.0, 0.0]), "q2": ("cat dog", [0.5, 0.0]), "q3": ("dog fox", [0.25, 0.75])}
    targets = write_targets(tmp_path / "targets.parquet", texts)
    folds = tmp_path / "folds.json"
    folds.write_text('{"folds": 3, "queries": {"q1": 1, "q2": 2, "q3": 3}}')
    train_word_vectors(targets, WordFeatures.open(*vectors), TEXT, tmp_path / "fold", folds, 2)
    others = write_targets(tmp_path / "others.parquet", {name: texts[name] for name in ("q1", "q3")})
    train_word_vectors(others, WordFeatures.open(*vectors), TEXT, tmp_path / "alone")
    models = [(tmp_path / name / "regression.npz").read_bytes() for name in ("fold", "alone")]
    assert models[0] == models[1]
    folds.write_text('{"folds": 3, "queries": {"q1": 2, "q2": 2, "q3": 2}}')
    with pytest.raises(InputError, match="there is no word to learn from"):
        train_word_vectors(targets, WordFeatures.open(*vectors), TEXT, tmp_path / "none", folds, 2)
    np.save(vectors[0] / "vectors.npy", np.ones((5, 1), np.float32))
    (vectors[0] / "vectors.json").write_text('{"words": 5, "dimensions": 1}')
    with pytest.raises(IntegrityError, match=r"\(2,\) coefficients for vectors of 1"):
        WordVectorPredictor.open(tmp_path / "alone", WordFeatures.open(*vectors), TEXT)
