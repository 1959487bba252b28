"""Writing a trained preference predictor: model, table, configuration, scores and card."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.axioms import predictor
from irpretrain.axioms.predictor import DEPTH, TREES, feature_columns, importance
from irpretrain.axioms.predictor_pairs import SETTING_IV_RANK, QueryPairs
from irpretrain.axioms.preferences import DEFINITIONS, vector_numbers
from irpretrain.config.axioms import AXIOMS, Axiom, AxiomsConfig, PredictorConfig
from irpretrain.evaluation.significance import Interval
from irpretrain.foundation.atomic import atomic_directory

if TYPE_CHECKING:
    import xgboost

SETTINGS = {
    "I": "any pseudo-query of the document, with equal probabilities",
    "II": "a pseudo-query of the document, by softmax(1 / RANK)",
    "III": "any pseudo-query, of documents that have one of RANK 1",
    "IV": "a pseudo-query whose RANK is {rank} or less",
}


@dataclass(frozen=True)
class Outcome:
    seed: int
    trees: xgboost.Booster  # the best fold's model
    table: np.ndarray  # float64 [3⁹], its probabilities, symmetric
    auc: Interval  # on the test part
    tree_auc: float  # the same of the trees' own answers
    fold_aucs: list[float]  # of each fold's model on that fold
    # test_pairs, test_documents: size of the test part.
    test_pairs: int
    test_documents: int
    single_aucs: dict[Axiom, float]  # AUC of each axiom's feature alone on the test part
    majority_auc: float  # AUC of the sum of the features of the predictor's axioms
    pairs: QueryPairs


def effects(table: np.ndarray, features: np.ndarray, axioms: Sequence[Axiom]) -> dict[Axiom, float]:
    """Return the mean over pairs of p(f with the axiom = 1) - p(f with the axiom = -1), all else as observed.

    This is the difference of two points of the axiom's partial dependence (Friedman, 2001, section 8.2), from -1 to 1:
    below 0, the predictor contradicts the axiom. The order of queries in a pair has no effect, as p(-f) = 1 - p(f).

    Args:
        table: float64 [3⁹], symmetric probabilities by number of vector.
        features: int8 [pairs, 9], the vectors observed; at least one pair.
    """
    vectors, counts = np.unique(features, axis=0, return_counts=True)
    effect_of_axiom: dict[Axiom, float] = {}
    for column in feature_columns(axioms):
        preferred, not_preferred = vectors.copy(), vectors.copy()
        preferred[:, column], not_preferred[:, column] = 1, -1
        differences = table[vector_numbers(preferred)] - table[vector_numbers(not_preferred)]
        effect_of_axiom[AXIOMS[column]] = float(np.average(differences, weights=counts))
    return effect_of_axiom


def write_predictor(
    outcomes: Sequence[Outcome],  # one per seed
    read_counts: Mapping[str, Any],
    options: PredictorConfig,
    axioms: AxiomsConfig,
    versions: Mapping[str, str],  # of the packages that the model depends on
    output: str | Path,  # directory, see `irpretrain.axioms.predictor`
) -> None:
    """Write the predictor of the first outcome, and the scores of all."""
    record = {
        "predictor": options.model_dump(mode="json"),
        "axioms": axioms.model_dump(mode="json"),
        "order": list(AXIOMS),
        "columns": {
            axiom: {"column": definition.column, "larger_is_better": definition.larger_is_better}
            for axiom, definition in DEFINITIONS.items()
        },
        "seed": outcomes[0].seed,
        "versions": dict(versions),
    }
    scores = _scores(outcomes, read_counts, options)
    with atomic_directory(output) as folder:
        (folder / predictor.MODEL_FILE).write_bytes(bytes(outcomes[0].trees.save_raw("json")))
        np.save(folder / predictor.TABLE_FILE, outcomes[0].table)
        for name, content in ((predictor.CONFIG_FILE, record), (predictor.SCORES_FILE, scores)):
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            (folder / name).write_text(text + "\n", encoding="utf-8")
        card = _card(scores, options, versions, axioms.stm_2_threshold)
        (folder / predictor.CARD_FILE).write_text(card, encoding="utf-8")


def _scores(
    outcomes: Sequence[Outcome], read_counts: Mapping[str, Any], options: PredictorConfig
) -> dict[str, Any]:
    first_outcome = outcomes[0]
    return {
        "label": options.label,
        "setting": options.setting,
        "axioms": [axiom for axiom in AXIOMS if axiom in options.axioms],
        "model": options.model,
        **_seed_scores(first_outcome, options),
        "auc_mean": _none_if_nan(float(np.mean([outcome.auc.mean for outcome in outcomes]))),
        "importance_mean_gain": importance(first_outcome.trees, options.axioms, "gain"),
        "auc_without_symmetry": _none_if_nan(first_outcome.tree_auc),
        "auc_of_axiom": {axiom: _none_if_nan(value) for axiom, value in first_outcome.single_aucs.items()},
        "auc_of_majority": _none_if_nan(first_outcome.majority_auc),
        "effect_of_axiom": effects(first_outcome.table, first_outcome.pairs.features, options.axioms),
        "preferences": _shares(first_outcome.pairs.features),
        "read": dict(read_counts),
        "made": first_outcome.pairs.counts,
        "seeds": [_seed_scores(outcome, options) for outcome in outcomes],
    }


def _seed_scores(outcome: Outcome, options: PredictorConfig) -> dict[str, Any]:
    return {
        "seed": outcome.seed,
        "auc": _none_if_nan(outcome.auc.mean),
        "auc_low": _none_if_nan(outcome.auc.low),
        "auc_high": _none_if_nan(outcome.auc.high),
        "auc_of_folds": [_none_if_nan(value) for value in outcome.fold_aucs],
        "pairs": len(outcome.pairs),
        "documents": outcome.pairs.counts["documents"],
        "test_pairs": outcome.test_pairs,
        "test_documents": outcome.test_documents,
        "importance": importance(outcome.trees, options.axioms),
    }


def _shares(features: np.ndarray) -> dict[Axiom, dict[str, float]]:
    """Return how often each axiom prefers the judged query, neither, and the pseudo-query."""
    return {
        axiom: {
            name: float(np.mean(features[:, column] == value))
            for name, value in (("judged", 1), ("neither", 0), ("pseudo", -1))
        }
        for column, axiom in enumerate(AXIOMS)
    }


def _none_if_nan(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else float(value)


def _card(
    scores: Mapping[str, Any], options: PredictorConfig, versions: Mapping[str, str], stm_2_threshold: float
) -> str:
    model_text = "boosted trees" if options.model == "boosted" else "a random forest"
    negatives = SETTINGS[options.setting].format(rank=SETTING_IV_RANK)
    terms = "with as many terms as it has" if options.negative_terms == "equal" else "of any length"
    auc, low, high, mean, majority = (
        _format_value(scores[key], 4) for key in ("auc", "auc_low", "auc_high", "auc_mean", "auc_of_majority")
    )
    return f"""# Preference predictor: {options.label}

Chooses the better of two queries for a document by the preferences of axioms (ARES, Chen et al., SIGIR 2022,
section 4.2). It is {model_text} by XGBoost {versions["xgboost"]}: {TREES} trees of depth {DEPTH} at most.

## Data
- Better queries: those of the data set `{options.dataset}`, each for the documents relevant to it.
- Worse queries (setting {options.setting}): {negatives}; one for each better query, {terms}.
  The pseudo-queries are from the collection `{options.collection}`.
- Pairs: {scores["pairs"]:,} of {scores["documents"]:,} documents. The test part, which no model has seen, has
  {scores["test_pairs"]:,} of {scores["test_documents"]:,} documents.
- Axioms: {", ".join(scores["axioms"])}.

## Quality
AUC on the test part: {auc} (95 % interval by resampling documents:
{low} to {high}). Mean over {len(scores["seeds"])} seed(s):
{mean}. Majority vote of the same axioms: {majority}.

| axiom | importance | effect | AUC alone | prefers judged | neither | prefers pseudo |
|---|---|---|---|---|---|---|
{_axiom_rows(scores)}

Importance: the total gain of an axiom's splits, divided by the largest. Effect: the mean over all pairs of the
probability if this axiom prefers a query, minus the probability if it prefers the other query (-1 to 1; the other
axioms stay as they are). The last three columns are shares of all pairs.
{_contradictions(scores, options)}
## How to apply it
Run this in the predictor's directory, with irpretrain installed. `axiom_values.parquet` stands for a table of axiom
values, such as the files of `results/axioms`; rows 0 and 1 are two queries of one document.

```python
import numpy as np
import pyarrow.parquet as pq

from irpretrain.axioms.predictor import load_predictor
from irpretrain.axioms.preferences import larger_is_better, preferences

values = larger_is_better(pq.read_table("axiom_values.parquet"))
features = preferences(values, np.array([0]), np.array([1]), stm_2_threshold={stm_2_threshold})
probability = load_predictor(".").probabilities(features)[0]  # that the first query is the better one
```

Swapping the two queries gives 1 - p. Queries that no axiom tells apart have 0.5. `model.json` is XGBoost's own format;
the trees alone are not symmetric in this way.

## Limits
The predictor has learnt to tell people's queries from drawn words. This is not the same as telling better queries from
worse ones: any mark of a pseudo-query counts as evidence. Its test documents come from the same data set.
"""


def _axiom_rows(scores: Mapping[str, Any]) -> str:
    rows = []
    for axiom in AXIOMS:
        cells = (
            scores["importance"].get(axiom),
            scores["effect_of_axiom"].get(axiom),
            scores["auc_of_axiom"][axiom],
            *scores["preferences"][axiom].values(),
        )
        rows.append(f"| {axiom} | {' | '.join(map(_format_value, cells))} |")
    return "\n".join(rows)


def _contradictions(scores: Mapping[str, Any], options: PredictorConfig) -> str:
    """Name the axioms that the predictor contradicts; empty if there are none."""
    reversed_axioms = [axiom for axiom, effect in scores["effect_of_axiom"].items() if effect < 0]
    if not reversed_axioms:
        return ""
    lines = [f"- {axiom}: it prefers the query that {axiom} does not.\n" for axiom in reversed_axioms]
    if options.setting != "I":
        reason = "so a good RANK can mark a negative query"
        lines.append(f"\nSetting {options.setting} chooses negative queries by RANK, {reason}.\n")
    return "\nOn average over all pairs, this predictor goes against an axiom:\n" + "".join(lines)


def _format_value(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:z.{digits}f}"
