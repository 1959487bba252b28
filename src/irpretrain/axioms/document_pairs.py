"""Which of two documents each axiom prefers for a query, as axioms of retrieval are asked (webis-de's `ir_axioms`).

ARES compares two queries of one document by the same values.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from irpretrain.axioms.axiom_values import axiom_values
from irpretrain.axioms.batch import AxiomBatch, AxiomCollection, sums_between
from irpretrain.axioms.preferences import larger_is_better, preferences
from irpretrain.config.axioms import AXIOMS

_PROX = np.array([AXIOMS.index(name) for name in ("PROX-1", "PROX-2")])
# Terms without which a document says nothing of the distance of terms.
_MIN_TERMS = 2


def over_present_terms(collection: AxiomCollection) -> AxiomCollection:
    """Return a collection whose PROX looks at the terms that a document holds."""
    options = collection.options.model_copy(update={"missing_terms": "skipped"})
    return replace(collection, options=options)


def document_preferences(first: AxiomBatch, second: AxiomBatch) -> np.ndarray:
    """Return int8 [pairs, 9], in the order of `AXIOMS`: 1 prefers the first document, -1 the second, 0 neither.

    PROX compares documents that hold the same terms of the query, two or more, by these terms. A document beyond
    `rank_depth` is behind every other one.

    Args:
        first, second: the same queries, each with its first and its second document, of `over_present_terms`.
    """
    tables = [pa.table(axiom_values(batch)) for batch in (first, second)]
    rows = np.arange(len(first), dtype=np.int64)
    values, threshold = larger_is_better(pa.concat_tables(tables)), first.collection.options.stm_2_threshold
    features = preferences(values, rows, rows + len(first), threshold)
    offsets = first.queries.offsets
    have_different_terms = sums_between(first.is_present != second.is_present, offsets) > 0
    is_incomparable = have_different_terms | (sums_between(first.is_present, offsets) < _MIN_TERMS)
    features[np.ix_(np.flatnonzero(is_incomparable), _PROX)] = 0
    return features
