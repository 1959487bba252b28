"""Models as PyTerrier transformers (extra `pyterrier`), without Java: a re-ranker, and DeepCT's weighting."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from irpretrain import CrossEncoder, TermWeigher
from irpretrain.errors import naming_extras
from irpretrain.term_weights.integers import integer_weights

with naming_extras():
    import pyterrier as pt


class Rerank(pt.Transformer):
    """Scores candidates by a cross-encoder: qid, query, docno, text → score and rank, best first a query."""

    def __init__(self, directory: str | Path, **options: Any) -> None:
        """Load the model of a directory; `options` are keys of section reranking, such as max_length."""
        self._model = CrossEncoder(directory, **options)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        pt.validate.result_frame(inp, extra_columns=["query", "text"])
        pairs = list(zip(inp["query"], inp["text"], strict=True))
        scores = self._model.score(pairs) if pairs else np.zeros(0, np.float32)
        frame: pd.DataFrame = pt.model.add_ranks(inp.assign(score=scores.astype(np.float64)))
        return frame


class WeighDocuments(pt.Transformer):
    """DeepCT's weights in place of term frequencies: docno, text → toks, for an indexer with pretokenised=True."""

    def __init__(
        self, directory: str | Path, scale: float = 100, square_root: bool = False, **options: Any
    ) -> None:
        """Load a weigher of passages: a weight y becomes round(scale · y), or round(scale · √y) (DeepCT, equation 4).

        `options` are keys of a weighting of section term_weights, such as max_length.
        """
        self._weigher = TermWeigher(directory, **options)
        self._scale, self._square_root = scale, square_root

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the documents with a column toks: word → integer weight, 1 or more."""
        pt.validate.document_frame(inp, extra_columns=["text"])
        weights = self._weigher.weigh(list(inp["text"])) if len(inp) else []
        return inp.assign(
            toks=pd.Series([self._integers(words) for words in weights], inp.index, dtype=object)
        )

    def _integers(self, words: dict[str, float]) -> dict[str, int]:
        numbers, _ = integer_weights(
            np.array(list(words.values()), np.float32), self._scale, self._square_root
        )
        return {word: int(number) for word, number in zip(words, numbers, strict=True) if number > 0}


class WeighQueries(pt.Transformer):
    """DeepCT's weights of the words of queries: qid, query → query_toks, without weights of 0 or less."""

    def __init__(self, directory: str | Path, **options: Any) -> None:
        """Load the model of a directory; `options` are keys of a weighting of section term_weights."""
        self._weigher = TermWeigher(directory, kind="queries", **options)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the queries with a column query_toks: word → weight."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        weights = self._weigher.weigh(list(inp["query"])) if len(inp) else []
        positive = [{word: weight for word, weight in words.items() if weight > 0} for words in weights]
        return inp.assign(query_toks=pd.Series(positive, inp.index, dtype=object))
