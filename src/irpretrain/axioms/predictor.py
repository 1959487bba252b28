"""The preference predictor of ARES: which of two queries a document answers better (section 4.2).

A predictor is a directory:

    model.json          the trees, in XGBoost's own format; inputs are the features named by the axioms
    probabilities.npy   float64 [3⁹]: for each vector of features, by its number, the probability that the first
                        query is the better one
    predictor.json      configuration, axioms and their options, seed, versions
    scores.json         AUC, importance of the axioms, what the pairs are like
    card.md             what it is, for readers

There are no more than 3⁹ vectors of features, so the trees are evaluated once on all of them and never again.

The trees alone need not answer f and -f, which is the same pair with its queries swapped, alike. Probabilities are
therefore made symmetric: p(f) = (P(f) + 1 - P(-f)) / 2. So p(-f) = 1 - p(f) exactly, and queries that no axiom tells
apart have p = 0.5 exactly.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.axioms.preferences import VECTORS, vector_numbers
from irpretrain.config.axioms import AXIOMS, Axiom
from irpretrain.errors import IntegrityError, need_folder, refusing_damage

REMEDY = "Name the directory of a trained predictor, such as results/predictors/simple of a run."
MODEL_FILE, TABLE_FILE, CONFIG_FILE = "model.json", "probabilities.npy", "predictor.json"
SCORES_FILE, CARD_FILE = "scores.json", "card.md"


@dataclass(frozen=True)
class Predictor:
    """A trained predictor.

    Attributes:
        table: float64 [3⁹], probability that the first query is preferred, by number of the vector of features.
        record: what predictor.json says.
    """

    axioms: tuple[Axiom, ...]
    table: np.ndarray
    record: dict[str, Any]

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Return the probability (float64 [pairs]) that the first query of each pair is preferred.

        Args:
            features: int8 [pairs, 9] of 1, 0 and -1, in the order of `AXIOMS`, see `preferences`.

        Raises:
            ValueError: the shape is another.
        """
        if features.ndim != 2 or features.shape[1] != len(AXIOMS):
            raise ValueError(f"features have shape [pairs, {len(AXIOMS)}]; found {features.shape}")
        return self.table[vector_numbers(features)]


def load_predictor(directory: str | Path) -> Predictor:
    """Open a predictor; XGBoost is not needed.

    Raises:
        InputError: there is no such folder.
        IntegrityError: a file is missing or damaged, or the table does not fit.

    Examples:
        >>> load_predictor(predictor_directory).axioms[:2]
        ('RANK', 'REP-QL')
    """
    need_folder(directory, REMEDY)
    folder = Path(directory)
    with refusing_damage(directory, "this is not a preference predictor", REMEDY):
        record = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        table = np.load(folder / TABLE_FILE)
        axioms = tuple(record["predictor"]["axioms"])
    if table.shape != (VECTORS,) or record.get("order") != list(AXIOMS):
        raise IntegrityError(
            directory,
            "the predictor's table is not one of this version's axioms",
            remedy="Train the predictor again with this version.",
        )
    return Predictor(axioms, table, record)


def symmetric(table: np.ndarray) -> np.ndarray:
    """Return p(f) = (P(f) + 1 - P(-f)) / 2 of P by number of vector, with p(-f) = 1 - p(f) to the last bit."""
    difference = table - table[::-1]
    larger = 0.5 + 0.5 * np.abs(difference)
    return np.where(difference >= 0, larger, 1.0 - larger)


def chosen_columns(axioms: Sequence[Axiom]) -> list[int]:
    """Return the columns of the features of some axioms, in the order of `AXIOMS`."""
    return [number for number, name in enumerate(AXIOMS) if name in axioms]
