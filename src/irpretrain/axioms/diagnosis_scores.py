"""A re-ranker's scores of the pairs of an axiom diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.retrieval.rerank import Pair, score_pairs
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder


def score_diagnosis_pairs(
    model: str | Path,
    tokens: Sequence[str | Path],
    pairs: str | Path,
    options: RerankingConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Score both pseudo-queries of each pair for its document.

    Args:
        model: directory of a cross-encoder and its tokenizer.
        tokens: token stores of the collection's corpora.
        pairs: AXIOM_PAIRS table.
        options: lengths, batches, threads and device; `depth` is not applied.
        output: a PAIR_SCORES table.

    Returns:
        Counts: pairs, and sequences scored; a query that stands in several pairs of a document is scored once.

    Raises:
        ConfigError: `options.max_length` exceeds the encoder's positions.
        InputError: the token stores lack a document.
        IntegrityError: the token stores were made with another tokenizer than the model's.
        TrainingError: a score is not a number.
    """
    from irpretrain.models.cross_encoder import CrossEncoder

    network, tokenizer, store = CrossEncoder.load(model), load_tokenizer(model), TokenStore.open(tokens)
    network.check_length(options.max_length, "reranking.max_length")
    table = AXIOM_PAIRS.read(pairs)
    documents = table["document_id"].to_pylist()
    sides = [list(zip(table[side].to_pylist(), documents, strict=True)) for side in ("first", "second")]
    distinct = list(dict.fromkeys([*sides[0], *sides[1]]))
    rows = store.rows([document for _, document in distinct])
    wanted = [Pair(query, document, int(row)) for (query, document), row in zip(distinct, rows, strict=True)]
    builder = BatchBuilder(store, tokenizer, options.max_length, options.query_length)
    texts = {query: query for query, _ in distinct}
    scores = score_pairs(network, builder, texts, wanted, options, "score pseudo-queries")
    places = {sequence: place for place, sequence in enumerate(distinct)}
    first, second = (scores[[places[sequence] for sequence in side]] for side in sides)
    numbers = pa.array(np.arange(table.num_rows), pa.int32())
    columns = {"pair": numbers, "first": pa.array(first), "second": pa.array(second)}
    PAIR_SCORES.write(output, pa.Table.from_pydict(columns, schema=PAIR_SCORES.schema))
    return {"pairs": table.num_rows, "sequences": len(distinct)}
