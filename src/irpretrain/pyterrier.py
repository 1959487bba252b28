"""Transformers for PyTerrier: a cross-encoder, ARES's axioms, DeepCT's weights, on frames with PyTerrier's columns.

docs/runs-and-scores.md shows each. PyTerrier is no dependency: `pip install python-terrier`.
"""

import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from irpretrain.axioms.preferences import DEFINITIONS
from irpretrain.config.axioms import AXIOMS
from irpretrain.foundation.errors import ConfigError, SetupError
from irpretrain.library.collection import Collection
from irpretrain.library.cross_encoder import CrossEncoder
from irpretrain.library.inputs import is_whole_number
from irpretrain.library.models import TermWeigher
from irpretrain.retrieval.term_weights.integers import LARGEST_WEIGHT, SCALE, integer_weights

try:
    import pyterrier as pt
except ModuleNotFoundError:
    raise SetupError("This needs PyTerrier, which is not installed.\n  pip install python-terrier") from None


__all__ = ["Axioms", "Reranker", "TermWeights"]
# Columns of identifiers, which may be whole numbers; those of others hold texts.
_IDENTIFIERS = ("qid", "docno")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})


class Reranker(pt.Transformer):
    """Scores documents by a cross-encoder: `bm25 % 100 >> pt.text.get_text(dataset) >> Reranker("models/prop")`."""

    def __init__(self, model: CrossEncoder | str | Path, **options: Any) -> None:
        """Load the model; arguments as of `CrossEncoder`, or a loaded one."""
        super().__init__()
        self.model = model if isinstance(model, CrossEncoder) else CrossEncoder(model, **options)

    def __repr__(self) -> str:
        """Name the model, and how much of texts it reads."""
        return f"Reranker({self.model!r})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with qid, query, docno, text, with new score and rank."""
        _check(inp, "qid", "query", "docno", "text")
        scores = self.model.predict(zip(inp["query"], inp["text"], strict=True))
        return pt.model.add_ranks(inp.assign(score=scores))


class Axioms(pt.Transformer):
    """Which of two documents of a query each axiom prefers, as `AxiomaticPreferences` of ir_axioms frames it."""

    def __init__(self, collection: Collection) -> None:
        """Take the documents that statistics are of; their identifiers are the frames' docno."""
        super().__init__()
        self.collection = collection

    def __repr__(self) -> str:
        """Name the collection."""
        return f"Axioms({self.collection!r})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a row for each ordered pair of documents of a query, a document with itself too, of a frame with qid,
        query, docno.

        Columns of documents end in _a and _b. The columns `<axiom>_preference`, int8, are 1 where the axiom prefers
        the first document, -1 for the second, 0 for neither.
        """
        _check(inp, "qid", "query", "docno")
        for row, document_id in enumerate(inp["docno"]):
            self.collection.check_document(str(document_id), _location(inp, row, "docno"))
        query_columns = pt.model.query_columns(inp)
        pairs = inp.merge(inp, on=query_columns, suffixes=("_a", "_b"), sort=False)
        preferences = self.collection.axiom_preferences(
            zip(pairs["query"], pairs["docno_a"], pairs["docno_b"], strict=True)
        )
        return pairs.assign(
            **{f"{axiom}_preference": preferences[DEFINITIONS[axiom].column].to_numpy() for axiom in AXIOMS}
        )


class TermWeights(pt.Transformer):
    """DeepCT's weights of a document's words, which Terrier indexes in place of term frequencies.

    `TermWeights("models/deepct") >> pt.IterDictIndexer("index", pretokenised=True)`
    """

    def __init__(self, weigher: TermWeigher | str | Path, square_root: bool = False, **options: Any) -> None:
        """Load the model.

        Args:
            weigher: a loaded one, or its directory.
            square_root: whether integers are round(100·√y) in place of round(100·y), as in section term_weights.
            options: as of `TermWeigher`.
        """
        super().__init__()
        self.weigher = weigher if isinstance(weigher, TermWeigher) else TermWeigher(weigher, **options)
        self.square_root = square_root

    def __repr__(self) -> str:
        """Name the model, how much of texts it reads, and how weights become integers."""
        return f"TermWeights({self.weigher!r}, square_root={self.square_root})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with docno and text with the column `toks`: word → integer weight, without zeros."""
        _check(inp, "docno", "text")
        return inp.assign(toks=pd.Series(self._tokens(inp["text"]), index=inp.index, dtype=object))

    def _tokens(self, texts: Iterable[str]) -> list[dict[str, int]]:
        tokens = []
        for weights in self.weigher.weigh(texts):
            values = np.array(list(weights.values()), np.float32)
            integers, _ = integer_weights(values, SCALE, self.square_root, LARGEST_WEIGHT)
            tokens.append(
                {word: integer for word, integer in zip(weights, integers.tolist(), strict=True) if integer}
            )
        return tokens


def _check(frame: pd.DataFrame, *columns: str) -> None:
    """Refuse a frame without these columns, and one that lacks a value in them: ConfigError names the row."""
    pt.validate.columns(frame, includes=list(columns))
    for column in columns:
        kind = "a text or a whole number" if column in _IDENTIFIERS else "a text"
        for row, value in enumerate(frame[column]):
            if not isinstance(value, str) and not (column in _IDENTIFIERS and is_whole_number(value)):
                raise ConfigError(
                    f"{_location(frame, row, column)}: {kind} is needed, not {reprlib.repr(value)}"
                )


def _location(frame: pd.DataFrame, row: int, column: str) -> str:
    """Return the place of a value in words: column and row, and the row's identifiers."""
    identifiers = (f"{name} {frame[name].iloc[row]}" for name in _IDENTIFIERS if name in frame)
    return f"column {column}, row {row} ({', '.join(identifiers)})"
