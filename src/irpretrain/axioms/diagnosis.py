"""Axiom diagnosis of re-rankers: how often a model prefers the pseudo-query that an axiom prefers.

All models score the same random pairs of pseudo-queries of equal length, of random documents. For each axiom the pairs
count on which it has a preference. Equal scores of a pair agree by one half. Scoring is in
`irpretrain.retrieval.diagnosis_scores`, as it alone needs a model.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.axioms.axiom_values import ValueBatch, whole_documents
from irpretrain.axioms.pair_choice import PairChoice, any_pair, choose_pairs
from irpretrain.config.axioms import AXIOMS, PAIRS_PER_DOCUMENT, AxiomsConfig, DiagnosisConfig
from irpretrain.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.errors import InputError, IntegrityError
from irpretrain.evaluation.significance import wilson_interval
from irpretrain.foundation.atomic import write_csv
from irpretrain.foundation.randomness import stream_key

COMPARISON_COLUMNS = ("model", "other", "axiom", "pairs", "model_alone", "other_alone", "p")

# Names of the random streams: (seed, stage, document id), for a document's pairs and for whether it is drawn.
STAGE, DOCUMENT_STAGE = "diagnosis", "diagnosis-documents"
COLUMNS = ("model", "label", "axiom", "pairs", "agreeing", "share", "low", "high")


def compare_models(preferred: np.ndarray, signs: Mapping[str, np.ndarray]) -> Iterator[list[Any]]:
    """Yield a row of `COMPARISON_COLUMNS` for each two models and axiom.

    Args:
        preferred: int8 [pairs, 9], the axioms' preferences.
        signs: model → [pairs], 1 if it prefers the first query, -1 the second, 0 neither. Pairs on which one of the two
            models has equal scores are left out of the test.
    """
    for (model, model_signs), (name, other) in combinations(signs.items(), 2):
        for column, axiom in enumerate(AXIOMS):
            expected = preferred[:, column]
            reported = (expected != 0) & (model_signs != 0) & (other != 0)
            alone = int((reported & (model_signs == expected) & (other != expected)).sum())
            other_alone = int((reported & (model_signs != expected) & (other == expected)).sum())
            yield [model, name, axiom, int(reported.sum()), alone, other_alone, mcnemar(alone, other_alone)]


def mcnemar(first: int, second: int) -> float:
    """Return the two-tailed p-value of McNemar's exact test on pairs that one model alone orders rightly."""
    from scipy.stats import binom

    return float(min(1.0, 2 * binom.cdf(min(first, second), first + second, 0.5)))


def choose_diagnosis_pairs(
    axiom_values: Sequence[str | Path],  # AXIOM_VALUES shards of a collection's pseudo-queries, in any order
    options: DiagnosisConfig,
    axioms: AxiomsConfig,
    seed: int,
    output: str | Path,  # an AXIOM_PAIRS table; its bytes do not depend on the shards
) -> dict[str, Any]:
    """Draw the pairs of a diagnosis.

    Returns:
        Counts: documents with two pseudo-queries of equal length, documents drawn, pairs; for each axiom the pairs on
        which it has a preference.

    Raises:
        InputError: no document has two pseudo-queries of equal length.
    """
    rule = any_pair(axioms.stm_2_threshold, PAIRS_PER_DOCUMENT)
    retained, eligible = _no_pairs(), 0
    for path in axiom_values:
        for batch in whole_documents(path):
            names = batch.document_ids
            choice = choose_pairs(batch, [stream_key(seed, STAGE, name) for name in names], rule)
            eligible += int((choice.accepted > 0).sum())
            lots = np.array([stream_key(seed, DOCUMENT_STAGE, name)[0] for name in names], np.uint64)
            retained = _first_documents(
                pa.concat_tables([retained, _pairs(batch, choice, lots)]), options.documents
            )
    if not eligible:
        raise InputError(
            axiom_values[0],
            "no document has two pseudo-queries of equal length",
            remedy="Raise pseudo_queries.per_document.",
        )
    numbers = pa.array(np.arange(retained.num_rows), pa.int32())
    AXIOM_PAIRS.write(output, retained.drop_columns("lot").add_column(0, "pair", numbers))
    preferences = np.array(retained["preferences"].to_pylist())
    return {
        "documents_with_pairs": eligible,
        "documents": len(retained["document_id"].unique()),
        "pairs": retained.num_rows,
        "pairs_with_a_preference": dict(zip(AXIOMS, (preferences != 0).sum(axis=0).tolist(), strict=True)),
    }


def diagnose(
    pairs: str | Path,  # AXIOM_PAIRS table
    scores: Mapping[str, str | Path],  # model → PAIR_SCORES of these pairs
    labels: Mapping[str, str],  # model → name in tables
    # CSV with the columns of `COLUMNS`: pairs on which the axiom has a preference, how many of these the
    # model agrees on (ties count one half), their share with Wilson's interval of 95 %, which takes pairs as
    # independent. The last three are empty if the axiom has no preference.
    output: str | Path,
    comparisons: str | Path,  # CSV of any two models, see `compare_models`
) -> dict[str, Any]:
    """Write how often each model agrees with each axiom; IntegrityError if scores are those of other pairs.

    Returns:
        Counts: models, pairs, and for each model the pairs with equal scores.
    """
    table = AXIOM_PAIRS.read(pairs)
    preferred = np.array(table["preferences"].to_pylist(), np.int8).reshape(-1, len(AXIOMS))
    rows: list[list[Any]] = []
    signs = {model: _signs(path, table.num_rows) for model, path in scores.items()}
    for model, of_model in signs.items():
        rows += [[model, labels[model], *row] for row in _agreement(preferred, of_model)]
    write_csv(output, COLUMNS, rows)
    write_csv(comparisons, COMPARISON_COLUMNS, compare_models(preferred, signs))
    ties = {model: int((of_model == 0).sum()) for model, of_model in signs.items()}
    return {"models": len(scores), "pairs": table.num_rows, "pairs_with_equal_scores": ties}


def _agreement(preferred: np.ndarray, signs: np.ndarray) -> Iterator[list[Any]]:
    """Yield axiom, pairs, agreeing, share, low, high of one model; see `compare_models`."""
    for column, axiom in enumerate(AXIOMS):
        reported = preferred[:, column] != 0
        agreeing = float((1 + preferred[reported, column] * signs[reported]).sum()) / 2
        interval = wilson_interval(agreeing, int(reported.sum()))
        yield [axiom, int(reported.sum()), agreeing, *("" if math.isnan(x) else x for x in interval)]


def _signs(path: str | Path, pairs: int) -> np.ndarray:
    table = PAIR_SCORES.read(path)
    if not np.array_equal(table["pair"].to_numpy(), np.arange(pairs)):
        raise IntegrityError(
            path,
            "these are not the scores of the diagnosis's pairs",
            remedy="Delete them and run the workflow again.",
        )
    return np.sign(table["first"].to_numpy() - table["second"].to_numpy())


def _no_pairs() -> pa.Table:
    return _with_lots(AXIOM_PAIRS.schema.empty_table().drop_columns("pair"), np.zeros(0, np.uint64))


def _pairs(batch: ValueBatch, choice: PairChoice, lots: np.ndarray) -> pa.Table:
    schema, rows = AXIOM_PAIRS.schema, batch.rows.combine_chunks()
    size, axioms = choice.features.shape
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(size + 1) * axioms, pa.int32()),
        pa.array(choice.features.ravel(), pa.int8()),
        type=schema.field("preferences").type,
    )
    columns = {
        "document_id": rows["document_id"].take(pa.array(choice.preferred)),
        "first": rows["query"].take(pa.array(choice.preferred)),
        "second": rows["query"].take(pa.array(choice.other)),
        "preferences": lists,
    }
    table = pa.Table.from_pydict(columns, schema=pa.schema([schema.field(name) for name in columns]))
    return _with_lots(table, lots[choice.document])


def _with_lots(table: pa.Table, lots: np.ndarray) -> pa.Table:
    return table.append_column(pa.field("lot", pa.uint64(), nullable=False), pa.array(lots, pa.uint64()))


def _first_documents(pairs: pa.Table, documents: int) -> pa.Table:
    """Return the pairs of the documents with the smallest lots, in the order of these, a document's in theirs."""
    lots = pairs["lot"].to_numpy()
    order = np.argsort(lots, kind="stable")
    distinct = np.unique(lots)
    if len(distinct) > documents:
        order = order[lots[order] <= distinct[documents - 1]]
    return pairs.take(pa.array(order))
