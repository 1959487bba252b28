"""The preference predictor of ARES: which of two queries a document answers better (section 4.2).

A predictor is a directory:

    model.json          the trees, in XGBoost's own format; inputs are the features named by the axioms
    probabilities.npy   float64 [3⁹]: for each vector of features, by its number, the probability that the first
                        query is the better one
    predictor.json      configuration, axioms and their options, seed, versions
    scores.json         AUC, importance of the axioms, properties of the pairs
    card.md             a description for readers

There are 3⁹ vectors of features, so the trees are evaluated once on all of them.

The trees alone may treat f and -f, the same pair with its queries swapped, differently. Probabilities are made
symmetric: p(f) = (P(f) + 1 - P(-f)) / 2. So p(-f) = 1 - p(f) exactly, and queries without any preference have p = 0.5.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.axioms.preferences import VECTOR_COUNT, all_vectors, vector_numbers
from irpretrain.config.axioms import AXIOMS, Axiom, PredictorConfig
from irpretrain.foundation.errors import IntegrityError, need_folder, refusing_damage

if TYPE_CHECKING:
    import xgboost


REMEDY = "Name the directory of a trained predictor, such as results/predictors/simple of a run."
MODEL_FILE, TABLE_FILE, CONFIG_FILE = "model.json", "probabilities.npy", "predictor.json"
SCORES_FILE, CARD_FILE = "scores.json", "card.md"


@dataclass(frozen=True)
class PreferencePredictor:
    axioms: tuple[Axiom, ...]
    # float64 [3⁹], probability that the first query is preferred, by number of the vector of features.
    table: np.ndarray
    record: dict[str, Any]  # content of predictor.json

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Return the probability (float64 [pairs]) that the first query of each pair is preferred.

        `features`, int8 [pairs, 9] of 1, 0 and -1, are in the order of `AXIOMS`, see `preferences`; else ValueError.
        """
        if features.ndim != 2 or features.shape[1] != len(AXIOMS):
            raise ValueError(f"features have shape [pairs, {len(AXIOMS)}]; found {features.shape}")
        return self.table[vector_numbers(features)]


def load_predictor(directory: str | Path) -> PreferencePredictor:
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
    if table.shape != (VECTOR_COUNT,) or record.get("order") != list(AXIOMS):
        fault = "the predictor's table is not one of this version's axioms"
        raise IntegrityError(directory, fault, remedy="Train the predictor again with this version.")
    return PreferencePredictor(axioms, table, record)


def make_symmetric(table: np.ndarray) -> np.ndarray:
    """Return p(f) = (P(f) + 1 - P(-f)) / 2 of P by number of vector, with p(-f) = 1 - p(f) to the last bit."""
    difference = table - table[::-1]
    larger_probability = 0.5 + 0.5 * np.abs(difference)
    return np.where(difference >= 0, larger_probability, 1.0 - larger_probability)


def feature_columns(axioms: Sequence[Axiom]) -> list[int]:
    """Return the columns of the features of some axioms, in the order of `AXIOMS`."""
    return [column for column, name in enumerate(AXIOMS) if name in axioms]


# XGBoost on the features of axioms (Chen and Guestrin, KDD 2016): fitting, probabilities, importance.


# Threads of one fit. Sums of gradients depend on how rows are dealt to threads; small trees gain nothing by more.
ONE_THREAD = 1
SEED_BITS = 31


# XGBoost's defaults: ARES names no hyper-parameters, and its code for training was not released.
TREES, DEPTH, LEARNING_RATE = 100, 6, 0.3


def fit(features: np.ndarray, labels: np.ndarray, options: PredictorConfig, seed: int) -> xgboost.Booster:
    """Fit trees that predict whether the first query of a pair is the better one (labels, bool [pairs]).

    Boosted trees have XGBoost's defaults; a forest those of its `XGBRFClassifier`: one round, rows
    and columns of each node sub-sampled to 0.8, an L2 penalty of 1e-5.
    """
    import xgboost

    parameters: dict[str, Any] = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": DEPTH,
        "nthread": ONE_THREAD,
        "seed": seed % 2**SEED_BITS,
    }
    if options.model == "forest":
        parameters |= {"subsample": 0.8, "colsample_bynode": 0.8, "reg_lambda": 1e-5, "eta": 1.0}
        rounds, parameters["num_parallel_tree"] = 1, TREES
    else:
        rounds, parameters["eta"] = TREES, LEARNING_RATE
    return xgboost.train(parameters, _matrix(features, options.axioms, labels), num_boost_round=rounds)


def tree_table(trees: xgboost.Booster, axioms: Sequence[Axiom]) -> np.ndarray:
    """Return float64 [3⁹]: what the trees answer to each vector of features, by its number."""
    return trees.predict(_matrix(all_vectors(), axioms)).astype(np.float64)


def importance(
    trees: xgboost.Booster, axioms: Sequence[Axiom], importance_type: str = "total_gain"
) -> dict[Axiom, float]:
    """Return the gain of each axiom's splits, divided by the largest (figure 2); 0 without splits.

    `importance_type` is XGBoost's: total_gain sums over an axiom's splits, gain is their mean.
    """
    gains: dict[str, Any] = trees.get_score(importance_type=importance_type)
    largest_gain = max(gains.values(), default=1.0)
    return {name: float(gains.get(name, 0.0) / largest_gain) for name in AXIOMS if name in axioms}


def _matrix(features: np.ndarray, axioms: Sequence[Axiom], labels: np.ndarray | None = None) -> Any:
    import xgboost

    columns = feature_columns(axioms)
    inputs, names = features[:, columns].astype(np.float32), [AXIOMS[column] for column in columns]
    return xgboost.DMatrix(inputs, labels, feature_names=names, nthread=ONE_THREAD)
