"""RANK: the rank of the document among all when the query is searched by BM25 (ARES, section 3.2.1)."""

import numpy as np

from irpretrain.axioms.batch import Batch


def rank(batch: Batch) -> np.ndarray:
    """Return RANK: from 1, smaller is better; 0 stands for +∞, which is beyond `rank_depth`, or not found (int32).

    A term that occurs twice in the query counts twice.
    """
    from irpretrain.rank_engine import Bm25, document_ranks  # numba

    options, (terms, offsets) = batch.collection.options, batch.searched
    return document_ranks(
        batch.collection.postings,
        batch.numbers,
        terms,
        offsets,
        Bm25(options.bm25.k1, options.bm25.b, options.rank_lengths),
        depth=options.rank_depth,
        threads=batch.collection.threads,
    )
