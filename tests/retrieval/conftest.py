"""Postings of small collections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_collections import Build, shard_of, with_bm25

from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.postings import Postings


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that makes postings of documents whose words are their terms."""

    def make(
        documents: Sequence[Sequence[int]], terms: int, name: str = "postings", **options: Any
    ) -> Postings:
        mapping = np.arange(terms, dtype=np.int32)
        write_postings([[shard_of(documents)]], mapping, terms, tmp_path / name, **with_bm25(options))
        return Postings.open(tmp_path / name)

    return make
