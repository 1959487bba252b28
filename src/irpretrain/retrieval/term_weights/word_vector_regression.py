"""DeepCT_W and DeepTR: a linear regression of a word's vector minus the mean vector of its text.

The mean is over the text's words with a vector, repeats included. A word without a vector weighs the intercept. The
normal equations are solved exactly; the penalty is RIDGE times the number of words, not on the intercept. The paper
trains the vectors too; here they are fixed. A model is a directory of `regression.npz` (coefficients, intercept).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from irpretrain.config.text import TextConfig
from irpretrain.evaluation.folds import read_folds, roles
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.contracts import TERM_TARGETS, TERM_WEIGHTS
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, refusing_damage
from irpretrain.foundation.tables import ROWS_AS_OBJECTS
from irpretrain.retrieval.term_weights.integers import weighted_terms
from irpretrain.text.texts import Text
from irpretrain.text.word_store import word_numbers
from irpretrain.text.words import word_finder

RIDGE = 1e-3  # L2 penalty; the paper names none
FILE = "regression.npz"


@dataclass(frozen=True)
class WordFeatures:
    vectors: np.ndarray  # float32 [words, dimensions]; rows of zeros where there is no vector
    row_of_word: dict[str, int]  # word → row

    @classmethod
    def open(cls, vectors: str | Path, statistics: str | Path) -> Self:
        """Open the word vectors of a collection; IntegrityError if they do not match the statistics."""
        from irpretrain.text.word_vectors import open_word_vectors  # numba

        row_of_word = word_numbers(statistics)
        return cls(open_word_vectors(vectors, len(row_of_word)), row_of_word)

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def of(self, words: Sequence[str]) -> np.ndarray:
        """Return the features of the words of one text, float64 [words, dimensions]."""
        rows = np.array([self.row_of_word.get(word, -1) for word in words], np.int64)
        features = np.zeros((len(words), self.dimensions))
        features[rows >= 0] = self.vectors[rows[rows >= 0]]
        has_vector = features.any(1)
        if has_vector.any():
            features[has_vector] -= features[has_vector].mean(0)
        return features


def train_word_vectors(
    targets: str | Path,
    features: WordFeatures,
    text: TextConfig,
    output: str | Path,  # model directory to write
    # folds, fold: as in `train_regressor`.
    folds: str | Path | None = None,
    fold: int = 0,
    ridge: float = RIDGE,  # penalty, times the number of words
) -> dict[str, Any]:
    """Solve the regression of a TERM_TARGETS table; InputError without a word to learn from.

    Returns:
        Counts: texts, words, and the mean squared error over them (6 digits).
    """
    training_queries = None if folds is None else set(roles(read_folds(folds), fold, validates=False).train)
    feature_count = features.dimensions + 1
    moments, x_times_y, y_squared = np.zeros((feature_count, feature_count)), np.zeros(feature_count), 0.0
    text_count = word_count = 0
    for x, y in _examples(targets, features, text, training_queries):
        x_with_bias = np.column_stack([x, np.ones(len(x))])
        moments += x_with_bias.T @ x_with_bias
        x_times_y += x_with_bias.T @ y
        y_squared += float(y @ y)
        text_count, word_count = text_count + 1, word_count + len(y)
    if word_count == 0:
        remedy = "Give more judged queries, or fewer folds."
        raise InputError(targets, "there is no word to learn from", remedy=remedy)
    penalty = np.diag([*[ridge * word_count] * (feature_count - 1), 0.0])
    solution = np.linalg.lstsq(moments + penalty, x_times_y, rcond=None)[0]
    error = (y_squared - 2 * solution @ x_times_y + solution @ moments @ solution) / word_count
    with atomic_directory(output) as folder:
        np.savez(folder / FILE, coefficients=solution[:-1], intercept=solution[-1:])
    return {"texts": text_count, "words": word_count, "mean_squared_error": round(float(error), 6)}


def _examples(
    targets: str | Path, features: WordFeatures, text: TextConfig, document_ids: Collection[str] | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    split_words = word_finder(text.word_kind)
    for batch in TERM_TARGETS.stream(targets, rows=ROWS_AS_OBJECTS):
        for row in range(batch.num_rows):
            if document_ids is not None and batch.column("document_id")[row].as_py() not in document_ids:
                continue
            x = features.of(split_words(batch.column("text")[row].as_py()))
            yield x, batch.column("targets")[row].values.to_numpy().astype(np.float64)


@dataclass(frozen=True)
class WordVectorPredictor:
    coefficients: np.ndarray
    intercept: float
    features: WordFeatures
    text: TextConfig

    @classmethod
    def open(cls, directory: str | Path, features: WordFeatures, text: TextConfig) -> Self:
        """Load a saved regression; IntegrityError if it is missing, or of vectors of another length."""
        with refusing_damage(directory, "this is not a regression", MAKE_AGAIN):
            with np.load(Path(directory) / FILE) as arrays:
                coefficients, intercept = arrays["coefficients"], float(arrays["intercept"][0])
            if coefficients.shape != (features.dimensions,):
                raise ValueError(f"{coefficients.shape} coefficients for vectors of {features.dimensions}")
        return cls(coefficients, intercept, features, text)

    def rows(self, texts: Sequence[Text]) -> tuple[pa.Table, dict[str, int]]:
        split_words = word_finder(self.text.word_kind)
        rows = []
        word_count = 0
        for text in texts:
            words = split_words(text.text)
            # A row at a time: how a matrix product rounds depends on its size.
            weights = (self.features.of(words) * self.coefficients).sum(1) + self.intercept
            terms, _ = weighted_terms(words, weights.astype(np.float32))
            word_count += len(words)
            rows.append(text.key | {"terms": terms})
        counts = {"texts": len(texts), "words": word_count}
        return pa.Table.from_pylist(rows, schema=TERM_WEIGHTS.schema), counts
