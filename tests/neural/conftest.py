"""A corpus of words in which some mean the same, with its statistics, word store and word vectors."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.models.neural.registry import make_neural_ranker
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.word_store import write_word_store
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric")


@dataclass(frozen=True)
class Corpus:
    """What is made of some documents on the way to a ranker."""

    statistics: Path
    words: Path
    vectors: Path
    folder: Path

    def ranker(self, name: str, seed: int = 1, **options: Any) -> tuple[Path, dict[str, Any]]:
        """Make a fresh ranker; return its directory and the counts."""
        given = NeuralConfig.model_validate({"collection": "c", **options})
        output, vectors = self.folder / name, self.vectors if given.needs_vectors else None
        return output, make_neural_ranker(given, self.statistics, vectors, TEXT, seed, output)


@pytest.fixture
def make_corpus(tmp_path: Path) -> Callable[..., Corpus]:
    """Return a function that makes a corpus of {document: text}; `vectors` gives those of some words."""

    def make(documents: dict[str, str], vectors: dict[str, list[float]], name: str = "corpus") -> Corpus:
        folder = tmp_path / name
        folder.mkdir()
        write_documents(folder / "documents.parquet", documents)
        count_words(folder / "documents.parquet", TEXT, folder / "counts.parquet")
        merge_counts([folder / "counts.parquet"], folder / "words.parquet")
        write_word_store(folder / "documents.parquet", folder / "words.parquet", TEXT, folder / "words")
        words = WORD_COUNTS.read(folder / "words.parquet")["word"].to_pylist()
        size = len(next(iter(vectors.values())))
        table = np.array([vectors.get(word, [0.0] * size) for word in words], np.float32)
        (folder / "vectors").mkdir()
        np.save(folder / "vectors" / "vectors.npy", table)
        record = {"source": "test", "words": len(words), "dimensions": size}
        (folder / "vectors" / "vectors.json").write_text(json.dumps(record))
        return Corpus(folder / "words.parquet", folder / "words", folder / "vectors", folder)

    return make
