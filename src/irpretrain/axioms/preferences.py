"""The axioms: for each its column in AXIOM_VALUES, its direction, and its function.

A new axiom is a function from a batch to one value per query, a line here, a column in the contract and a name in
`irpretrain.config.axioms.Axiom`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from irpretrain.axioms import definitions
from irpretrain.axioms.batch import AxiomBatch
from irpretrain.config.axioms import AXIOMS, Axiom
from irpretrain.foundation.compiled import compiled
from irpretrain.foundation.errors import IntegrityError


@dataclass(frozen=True)
class Definition:
    column: str  # of AXIOM_VALUES
    larger_is_better: bool  # which value is preferred. RANK's 0 means +∞.
    values: Callable[[AxiomBatch], np.ndarray]  # computes the column


DEFINITIONS: dict[Axiom, Definition] = {
    "RANK": Definition("rank", False, definitions.rank),
    "REP-QL": Definition("rep_ql", True, definitions.query_likelihood),
    "REP-TFIDF": Definition("rep_tfidf", True, definitions.tf_idf),
    "PROX-1": Definition("prox_1", False, definitions.distance),
    "PROX-2": Definition("prox_2", False, definitions.first_position),
    "REG": Definition("reg", True, definitions.diversity),
    "STM-1": Definition("stm_1", True, definitions.similarity),
    "STM-2": Definition("stm_2", True, definitions.share_present),
    "STM-3": Definition("stm_3", True, definitions.share_similar),
}


# What each axiom prefers: the ternary feature matrix of ARES (Chen et al., SIGIR 2022, equation 9).
#
# A feature is +1 if an axiom prefers the first query of a pair, -1 if it prefers the second, and 0 if it is
# indifferent. Values are compared exactly. STM-2 speaks only where STM-1's similarities are close: it is the sign of
# the difference of the shares `stm_2` where |stm_1 - stm_1'| < `axioms.stm_2_threshold`, and 0 elsewhere.
#
# A vector of nine features has a number, its digits plus one read in base 3, so anything that depends on the features
# alone is a table of 3⁹ = 19,683 entries.


# Vectors of features that there are.
VECTOR_COUNT = 3 ** len(AXIOMS)
RANK_COLUMN, STM_1_COLUMN, STM_2_COLUMN = (AXIOMS.index(name) for name in ("RANK", "STM-1", "STM-2"))


def larger_is_better(rows: pa.Table | pa.RecordBatch, source: str | Path = "axiom values") -> np.ndarray:
    """Return float64 [rows, 9] of AXIOM_VALUES, in the order of `AXIOMS`, so that every axiom prefers the larger value.

    A RANK of +∞ (0 in the table) is -∞. IntegrityError, with `source`, on a NaN.
    """
    table = np.empty((rows.num_rows, len(AXIOMS)))
    for column, axiom in enumerate(AXIOMS):
        definition = DEFINITIONS[axiom]
        values = rows.column(definition.column).to_numpy(zero_copy_only=False).astype(np.float64)
        if np.isnan(values).any():
            fault = f"{axiom} of {int(np.isnan(values).sum()):,} queries is not a number"
            raise IntegrityError(source, fault, remedy="Delete the table and run the workflow again.")
        table[:, column] = values if definition.larger_is_better else -values
    table[table[:, RANK_COLUMN] == 0, RANK_COLUMN] = -np.inf
    return table


def preferences(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, stm_2_threshold: float
) -> np.ndarray:
    """Return the features of pairs of queries (equation 9): int8 [pairs, 9] of 1, 0 and -1, in the order of `AXIOMS`.

    `values` come from `larger_is_better`; `first` and `second`, int64 [pairs], are queries of one document.
    """
    return _compare_all(values, np.asarray(first, np.int64), np.asarray(second, np.int64), stm_2_threshold)


def vector_numbers(features: np.ndarray) -> np.ndarray:
    """Return the number, 0 to 3⁹ - 1, of each vector of int8 [pairs, 9]; that of -f is 3⁹ - 1 - that of f."""
    return (features.astype(np.int64) + 1) @ (3 ** np.arange(len(AXIOMS)))


def all_vectors() -> np.ndarray:
    """Return int8 [3⁹, 9]: every vector of features, in the order of its number."""
    return (np.arange(VECTOR_COUNT)[:, None] // 3 ** np.arange(len(AXIOMS)) % 3 - 1).astype(np.int8)


@compiled
def compare(
    values: np.ndarray, first_row: int, second_row: int, stm_2_threshold: float, features: np.ndarray
) -> None:
    """Write the features of one pair of rows of `values` to `features` (int8 [9])."""
    for axiom in range(features.shape[0]):
        first_value, second_value = values[first_row, axiom], values[second_row, axiom]
        features[axiom] = 1 if first_value > second_value else (-1 if first_value < second_value else 0)
    if not abs(values[first_row, STM_1_COLUMN] - values[second_row, STM_1_COLUMN]) < stm_2_threshold:
        features[STM_2_COLUMN] = 0


@compiled
def vector_number(features: np.ndarray) -> int:
    number, power = 0, 1
    for axiom in range(features.shape[0]):
        number += (features[axiom] + 1) * power
        power *= 3
    return number


@compiled
def _compare_all(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, stm_2_threshold: float
) -> np.ndarray:
    features = np.empty((len(first), values.shape[1]), np.int8)
    for pair in range(len(first)):
        compare(values, first[pair], second[pair], stm_2_threshold, features[pair])
    return features
