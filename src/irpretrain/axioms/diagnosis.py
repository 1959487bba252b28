"""Axiom diagnosis of re-rankers: how often a model prefers the pseudo-query that an axiom prefers.

All models score the same random pairs of pseudo-queries of equal length, of random documents. For each axiom the pairs
count on which it has a preference. Equal scores of a pair agree by one half. Scoring is in
`irpretrain.retrieval.rerank`, as it alone needs a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from irpretrain.axioms.axiom_values import ValueBatch, whole_documents
from irpretrain.axioms.pair_choice import PairChoice, any_pair, choose_pairs
from irpretrain.config.axioms import AXIOMS, PAIRS_PER_DOCUMENT, AxiomsConfig, DiagnosisConfig
from irpretrain.evaluation.verdicts import paired
from irpretrain.foundation.atomic import write_csv
from irpretrain.foundation.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.foundation.randomness import stream_keys

# Names of the random streams: (seed, stage, document id), for a document's pairs and for whether it is drawn.
STAGE, DOCUMENT_STAGE = "diagnosis", "diagnosis-documents"
COLUMNS = (
    *("model", "label", "other", "axiom", "pairs", "seeds", "share", "low", "high"),
    *("variance", "freedom", "seed_variance"),
)

# AXIOM_PAIRS without numbers, and with the lot by which a pair's document is drawn.
_DRAWN_PAIRS = AXIOM_PAIRS.schema.remove(AXIOM_PAIRS.schema.get_field_index("pair")).append(
    pa.field("lot", pa.uint64(), nullable=False)
)


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
    kept_pairs, eligible_count = _DRAWN_PAIRS.empty_table(), 0
    for path in axiom_values:
        for batch in whole_documents(path):
            choice = choose_pairs(batch, stream_keys(seed, STAGE, batch.document_ids), rule)
            eligible_count += int((choice.accepted_counts > 0).sum())
            lots = stream_keys(seed, DOCUMENT_STAGE, batch.document_ids)[:, 0]
            kept_pairs = pa.concat_tables([kept_pairs, _pairs(batch, choice, lots)])
            kept_pairs = _first_documents(kept_pairs, options.documents)
    if not eligible_count:
        fault = "no document has two pseudo-queries of equal length"
        raise InputError(axiom_values[0], fault, remedy="Raise pseudo_queries.per_document.")
    pair_numbers = pa.array(np.arange(kept_pairs.num_rows), pa.int32())
    AXIOM_PAIRS.write(output, kept_pairs.drop_columns("lot").add_column(0, "pair", pair_numbers))
    preferences = np.array(kept_pairs["preferences"].to_pylist())
    return {
        "documents_with_pairs": eligible_count,
        "documents": len(kept_pairs["document_id"].unique()),
        "pairs": kept_pairs.num_rows,
        "pairs_with_a_preference": dict(zip(AXIOMS, (preferences != 0).sum(axis=0).tolist(), strict=True)),
    }


def diagnose(
    pairs: str | Path,  # AXIOM_PAIRS table
    # Model → PAIR_SCORES of these pairs, one of each seed, in one order.
    scores: Mapping[str, Sequence[str | Path]],
    labels: Mapping[str, str],  # model → name in tables
    # CSV with the columns of `COLUMNS`: the share of the pairs on which the axiom has a preference that the model
    # agrees on (ties count one half), with its 95 % interval for other documents and other seeds
    # (`evaluation.verdicts.paired`), and the two variances of the mean with the freedom of the first. Where
    # `other_model` names a model, it is the difference to that model's share. Empty if the axiom has no preference.
    output: str | Path,
) -> dict[str, Any]:
    """Write how often each model agrees with each axiom; IntegrityError if scores are those of other pairs.

    Returns:
        Counts: models, pairs, and for each model the pairs with equal scores, of all seeds.
    """
    table = AXIOM_PAIRS.read(pairs)
    preferences = np.array(table["preferences"].to_pylist(), np.int8).reshape(-1, len(AXIOMS))
    documents = np.array(table["document_id"].to_pylist())
    signs = {
        model: np.array([_signs(path, table.num_rows) for path in score_files])
        for model, score_files in scores.items()
    }
    model_pairs = [*((model, "") for model in signs), *combinations(signs, 2)]
    rows = (
        [model, labels[model], other_model, *row]
        for model, other_model in model_pairs
        for row in _agreement_rows(preferences, signs[model], signs.get(other_model), documents)
    )
    write_csv(output, COLUMNS, rows)
    ties = {model: int((model_signs == 0).sum()) for model, model_signs in signs.items()}
    return {"models": len(scores), "pairs": table.num_rows, "pairs_with_equal_scores": ties}


def _agreement_rows(
    preferences: np.ndarray, signs: np.ndarray, other_signs: np.ndarray | None, documents: np.ndarray
) -> Iterator[list[Any]]:
    """Yield axiom, pairs and what follows in `COLUMNS`, of one model or of its lead over another."""
    for column, axiom in enumerate(AXIOMS):
        pairs = np.flatnonzero(preferences[:, column])
        preference = preferences[pairs, column]
        agreement = (1 + preference * signs[:, pairs]) / 2
        other_agreement = 0 if other_signs is None else (1 + preference * other_signs[:, pairs]) / 2
        row: list[Any] = [axiom, len(pairs), len(signs)]
        if not len(pairs):
            yield [*row, *("",) * 6]
            continue
        estimate = paired(agreement, other_agreement, documents[pairs].tolist())
        if not estimate.variances:  # all of one document
            yield [*row, estimate.difference, *("",) * 5]
            continue
        (variance, freedom), *seed_variances = estimate.variances
        seed_variance = seed_variances[0][0] if seed_variances else ""
        low, high = (max(estimate.low, 0), min(estimate.high, 1)) if other_signs is None else estimate[1:3]
        yield [*row, estimate.difference, low, high, variance, freedom, seed_variance]


def _signs(path: str | Path, pair_count: int) -> np.ndarray:
    table = PAIR_SCORES.read(path)
    if not np.array_equal(table["pair"].to_numpy(), np.arange(pair_count)):
        fault = "these are not the scores of the diagnosis's pairs"
        raise IntegrityError(path, fault, remedy="Delete them and run the workflow again.")
    return np.sign(table["first"].to_numpy() - table["second"].to_numpy())


def _pairs(batch: ValueBatch, choice: PairChoice, lots: np.ndarray) -> pa.Table:
    rows = batch.rows.combine_chunks()
    pair_count, axiom_count = choice.features.shape
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(pair_count + 1) * axiom_count, pa.int32()),
        pa.array(choice.features.ravel(), pa.int8()),
        type=_DRAWN_PAIRS.field("preferences").type,
    )
    columns = {
        "document_id": rows["document_id"].take(pa.array(choice.preferred)),
        "first": rows["query"].take(pa.array(choice.preferred)),
        "second": rows["query"].take(pa.array(choice.other)),
        "preferences": lists,
        "lot": lots[choice.document_of_pair],
    }
    return pa.table(columns, schema=_DRAWN_PAIRS)


def _first_documents(pairs: pa.Table, document_count: int) -> pa.Table:
    """Return the pairs of the documents with the smallest lots, in the order of these, a document's in theirs."""
    lots = pairs["lot"].to_numpy()
    order = np.argsort(lots, kind="stable")
    distinct_lots = np.unique(lots)
    if len(distinct_lots) > document_count:
        order = order[lots[order] <= distinct_lots[document_count - 1]]
    return pairs.take(pa.array(order))
