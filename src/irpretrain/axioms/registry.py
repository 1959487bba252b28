"""The axioms: for each its column in AXIOM_VALUES, which direction is better, and what computes it.

A new axiom is a function from a batch to a value a query, a line here, a column in the contract and a name in
`irpretrain.config.axioms.Axiom`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from irpretrain.axioms import prox, rank, reg, rep, stm
from irpretrain.axioms.batch import Batch
from irpretrain.config.axioms import Axiom


@dataclass(frozen=True)
class Definition:
    """An axiom.

    Attributes:
        column: of AXIOM_VALUES.
        larger_is_better: which value is preferred. RANK's 0 stands for +∞.
        values: computes the column.
    """

    column: str
    larger_is_better: bool
    values: Callable[[Batch], np.ndarray]


DEFINITIONS: dict[Axiom, Definition] = {
    "RANK": Definition("rank", False, rank.rank),
    "REP-QL": Definition("rep_ql", True, rep.query_likelihood),
    "REP-TFIDF": Definition("rep_tfidf", True, rep.tf_idf),
    "PROX-1": Definition("prox_1", False, prox.distance),
    "PROX-2": Definition("prox_2", False, prox.first_position),
    "REG": Definition("reg", True, reg.diversity),
    "STM-1": Definition("stm_1", True, stm.similarity),
    "STM-2": Definition("stm_2", True, stm.share_held),
    "STM-3": Definition("stm_3", True, stm.share_similar),
}
