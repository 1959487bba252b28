"""Words that HARP's objectives draw of anchors' sentences and of pages."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.objectives.anchors import WordDraws
from irpretrain.objectives.shard import Shard
from irpretrain.text.statistics import count_words
from small_documents import document_rows

TEXT = TextConfig(words="alphanumeric")


def test_words_are_drawn_in_proportion_to_occurrences_times_idf(tmp_path: Path) -> None:
    """Of 8 documents all, 4, 1 have a word, so idf is 0, ln 2 and 3 ln 2."""
    bodies = {f"d{n}": "plain" + " half" * (n < 4) + " rare" * (n == 0) for n in range(8)}
    DOCUMENTS.write(tmp_path / "documents.parquet", document_rows(bodies))
    count_words(tmp_path / "documents.parquet", TEXT, tmp_path / "words.parquet")
    draws = WordDraws(Shard(tmp_path / "documents.parquet", TEXT, 1, statistics=tmp_path / "words.parquet"))
    words = ["plain", "plain", "plain", "half", "half", "rare"]
    shares = {
        word: count / 4000
        for word, count in Counter(draws.draw(np.random.default_rng(1), words, 4000)).items()
    }
    assert shares == {"half": pytest.approx(2 / 5, abs=0.03), "rare": pytest.approx(3 / 5, abs=0.03)}
