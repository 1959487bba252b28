"""Postings of small collections."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_collections import BM25, Build, shard_of

from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import Bm25Config


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that makes postings of documents whose words are their terms."""

    def make(
        documents: Sequence[Sequence[int]], terms: int, k1: float = BM25.k1, b: float = BM25.b
    ) -> Postings:
        mapping, bm25 = np.arange(terms, dtype=np.int32), Bm25Config(k1=k1, b=b)
        write_postings([[shard_of(documents)]], mapping, terms, tmp_path / "postings", bm25)
        return Postings.open(tmp_path / "postings")

    return make
