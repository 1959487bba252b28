"""A re-ranker's scores of the pairs of an axiom diagnosis."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.evaluation.runs import Run
from irpretrain.retrieval.rerank import CorpusTexts, score_candidates


def score_diagnosis_pairs(
    model: str | Path,  # directory of a cross-encoder and its tokenizer
    # Token stores of the collection's corpora, for a cross-encoder of this project.
    tokens: Sequence[str | Path],
    pairs: str | Path,  # AXIOM_PAIRS table
    options: RerankingConfig,  # lengths, batches, threads and device; `depth` is not applied
    output: str | Path,  # a PAIR_SCORES table
    # DOCUMENTS tables of the collection, for a re-ranker that was not made here.
    documents: Sequence[str | Path] = (),
    text: TextConfig | None = None,  # fields of a document's text, for the same
) -> dict[str, Any]:
    """Score both pseudo-queries of each pair for its document.

    Returns:
        Counts: pairs, and sequences scored; a query of several pairs of a document is scored once.

    Raises:
        ConfigError: `options.max_length` exceeds the model's positions.
        InputError: a document is missing, or there is no such model.
        IntegrityError: the token stores have another tokenizer than the model.
        TrainingError: a score is NaN.
    """
    table = AXIOM_PAIRS.read(pairs)
    identifiers = table["document_id"].to_pylist()
    sides = [list(zip(table[side].to_pylist(), identifiers, strict=True)) for side in ("first", "second")]
    candidates = _as_run(dict.fromkeys([*sides[0], *sides[1]]))
    texts = {query: query for query in candidates}
    scored = score_candidates(model, CorpusTexts(tokens, documents, text), texts, candidates, options)
    scores = {(query, document): score for query, ranking in scored.items() for document, score in ranking}
    first, second = (np.array([scores[sequence] for sequence in side], np.float32) for side in sides)
    numbers = pa.array(np.arange(table.num_rows), pa.int32())
    columns = {"pair": numbers, "first": pa.array(first), "second": pa.array(second)}
    PAIR_SCORES.write(output, pa.Table.from_pydict(columns, schema=PAIR_SCORES.schema))
    return {"pairs": table.num_rows, "sequences": len(scores)}


def _as_run(sequences: dict[tuple[str, str], None]) -> Run:
    """Return sequences of query and document as candidates of queries that are named by their texts."""
    run: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for query, document in sequences:
        run[query].append((document, 0.0))
    return dict(run)
