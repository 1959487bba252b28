"""XGBoost on the features of axioms (Chen and Guestrin, KDD 2016): fitting, probabilities, importance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.axioms.predictor import chosen_columns, symmetric
from irpretrain.axioms.preferences import all_vectors
from irpretrain.config.axioms import AXIOMS, Axiom, PredictorConfig

if TYPE_CHECKING:
    import xgboost

ONE_THREAD = 1
"""Threads of one fit. Sums of gradients depend on how rows are dealt to threads; small trees gain nothing by more."""
SEED_BITS = 31


def fit(features: np.ndarray, labels: np.ndarray, options: PredictorConfig, seed: int) -> xgboost.Booster:
    """Fit trees that tell whether the first query of a pair is the better one.

    Boosted trees have XGBoost's defaults beside the options; a forest those of its `XGBRFClassifier`: one round, rows
    and columns of each node sub-sampled to 0.8, an L2 penalty of 1e-5.

    Args:
        features: int8 [pairs, 9].
        labels: bool [pairs], whether the first query is the better one.
    """
    import xgboost

    parameters: dict[str, Any] = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": options.depth,
        "nthread": ONE_THREAD,
        "seed": seed % 2**SEED_BITS,
    }
    if options.model == "forest":
        forest = {"subsample": 0.8, "colsample_bynode": 0.8, "reg_lambda": 1e-5, "eta": 1.0}
        return xgboost.train(
            parameters | forest | {"num_parallel_tree": options.trees},
            _matrix(features, options.axioms, labels),
            num_boost_round=1,
        )
    boosted = parameters | {"eta": options.learning_rate}
    return xgboost.train(boosted, _matrix(features, options.axioms, labels), num_boost_round=options.trees)


def plain_table(trees: xgboost.Booster, axioms: Sequence[Axiom]) -> np.ndarray:
    """Return float64 [3⁹]: what the trees answer to each vector of features, by its number."""
    return trees.predict(_matrix(all_vectors(), axioms)).astype(np.float64)


def symmetric_table(trees: xgboost.Booster, axioms: Sequence[Axiom]) -> np.ndarray:
    """Return float64 [3⁹]: the predictor's probabilities, see `irpretrain.axioms.predictor.symmetric`."""
    return symmetric(plain_table(trees, axioms))


def importance(
    trees: xgboost.Booster, axioms: Sequence[Axiom], kind: str = "total_gain"
) -> dict[Axiom, float]:
    """Return the gain of each axiom's splits, divided by the largest (figure 2); 0 for axioms that split nothing.

    Args:
        kind: total_gain sums over an axiom's splits, gain is their mean; XGBoost's names.
    """
    gains: dict[str, Any] = trees.get_score(importance_type=kind)
    most = max(gains.values(), default=1.0)
    return {name: float(gains.get(name, 0.0) / most) for name in AXIOMS if name in axioms}


def _matrix(features: np.ndarray, axioms: Sequence[Axiom], labels: np.ndarray | None = None) -> Any:
    import xgboost

    columns = chosen_columns(axioms)
    return xgboost.DMatrix(
        features[:, columns].astype(np.float32),
        labels,
        feature_names=[AXIOMS[column] for column in columns],
        nthread=ONE_THREAD,
    )
