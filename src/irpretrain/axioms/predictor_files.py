"""Writing a trained preference predictor: model, table, configuration, scores and card."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.atomic import atomic_directory
from irpretrain.axioms.effects import effects
from irpretrain.axioms.predictor import CARD_FILE, CONFIG_FILE, MODEL_FILE, SCORES_FILE, TABLE_FILE
from irpretrain.axioms.registry import DEFINITIONS
from irpretrain.axioms.trees import importance
from irpretrain.config.axioms import AXIOMS, Axiom, AxiomsConfig, PredictorConfig

if TYPE_CHECKING:
    from irpretrain.axioms.train_predictor import Outcome

SETTINGS = {
    "I": "any pseudo-query of the document, with equal probabilities",
    "II": "a pseudo-query of the document, by softmax(1 / RANK)",
    "III": "any pseudo-query, of documents that have one of RANK 1",
    "IV": "a pseudo-query whose RANK is {rank} or less",
}


def write_predictor(
    outcomes: Sequence[Outcome],
    read: Mapping[str, Any],
    options: PredictorConfig,
    axioms: AxiomsConfig,
    versions: Mapping[str, str],
    output: str | Path,
) -> None:
    """Write the predictor of the first outcome, and the scores of all.

    Args:
        outcomes: one a seed.
        read: counts of what was read.
        options, axioms: configuration.
        versions: of the packages that the model depends on.
        output: directory, see `irpretrain.axioms.predictor`.
    """
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
    scores = _scores(outcomes, read, options)
    with atomic_directory(output) as folder:
        (folder / MODEL_FILE).write_bytes(bytes(outcomes[0].trees.save_raw("json")))
        np.save(folder / TABLE_FILE, outcomes[0].table)
        for name, content in ((CONFIG_FILE, record), (SCORES_FILE, scores)):
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            (folder / name).write_text(text + "\n", encoding="utf-8")
        (folder / CARD_FILE).write_text(_card(scores, options, versions), encoding="utf-8")


def _scores(outcomes: Sequence[Outcome], read: Mapping[str, Any], options: PredictorConfig) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "label": options.label,
        "setting": options.setting,
        "axioms": [axiom for axiom in AXIOMS if axiom in options.axioms],
        "model": options.model,
        **_seed_scores(first, options),
        "auc_mean": _number(float(np.mean([outcome.auc.value for outcome in outcomes]))),
        "importance_mean_gain": importance(first.trees, options.axioms, "gain"),
        "auc_without_symmetry": _number(first.plain_auc),
        "auc_of_axiom": {axiom: _number(value) for axiom, value in first.single.items()},
        "auc_of_majority": _number(first.majority),
        "effect_of_axiom": effects(first.table, first.pairs.features, options.axioms),
        "preferences": _shares(first.pairs.features),
        "read": dict(read),
        "made": first.pairs.counts,
        "seeds": [_seed_scores(outcome, options) for outcome in outcomes],
    }


def _seed_scores(outcome: Outcome, options: PredictorConfig) -> dict[str, Any]:
    return {
        "seed": outcome.seed,
        "auc": _number(outcome.auc.value),
        "auc_low": _number(outcome.auc.low),
        "auc_high": _number(outcome.auc.high),
        "auc_of_folds": [_number(value) for value in outcome.fold_aucs],
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


def _number(value: float) -> float | None:
    """JSON has no number that is none."""
    return None if math.isnan(value) else float(value)


def _card(scores: Mapping[str, Any], options: PredictorConfig, versions: Mapping[str, str]) -> str:
    kind = "boosted trees" if options.model == "boosted" else "a random forest"
    negatives = SETTINGS[options.setting].format(rank=options.setting_iv_rank)
    limited = options.setting == "IV" and options.setting_iv_judged == "limited"
    return f"""# Preference predictor: {options.label}

Tells which of two queries a document answers better, from the preferences of axioms (ARES, Chen et al., SIGIR 2022,
section 4.2). It is {kind} by XGBoost {versions["xgboost"]}: {options.trees} trees, depth {
        options.depth
    } at most.

## Data
- Better queries: those of the data set `{options.dataset}`, each for the documents relevant to it{
        f"; only those of RANK {options.setting_iv_rank} or less" if limited else ""
    }{"; of their terms, those that the document holds" if options.judged_terms == "held" else ""}.
- Worse queries (setting {options.setting}): {negatives}; one for each better query.
  Pseudo-queries are those of the collection `{options.collection}`.
- Pairs: {scores["pairs"]:,} of {
        scores["documents"]:,} documents; the test part, which no model has learnt from, has
  {scores["test_pairs"]:,} of {scores["test_documents"]:,} documents.
- Axioms it looks at: {", ".join(scores["axioms"])}.

## Quality
AUC on the test part: {_shown(scores["auc"], 4)} (95 % interval by resampling documents:
{_shown(scores["auc_low"], 4)} to {_shown(scores["auc_high"], 4)}). Mean over {len(scores["seeds"])} seed(s):
{_shown(scores["auc_mean"], 4)}. A majority vote of the same axioms has {
        _shown(scores["auc_of_majority"], 4)
    }.

| axiom | importance | effect | AUC alone | prefers judged | neither | prefers pseudo |
|---|---|---|---|---|---|---|
{_axiom_rows(scores)}

Importance is the sum of the gain of an axiom's splits, divided by the largest. The effect is the mean over all pairs
of how much more probable a query becomes if this axiom prefers it instead of the other, all else as it is; -1 to 1.
Shares are those of all pairs.
{_against(scores, options)}
## How to apply it
    from irpretrain.axioms.effects import effects
from irpretrain.axioms.predictor import load_predictor
    from irpretrain.axioms.preferences import larger_is_better, preferences

    features = preferences(larger_is_better(rows), first, second, stm_2_threshold)
    load_predictor("this directory").probabilities(features)

`rows` is a table of axiom values, `first` and `second` are rows of two queries of one document. Swapping the two
gives 1 - p; queries that no axiom tells apart have 0.5. `model.json` is XGBoost's own format, and the trees by
themselves answer without that symmetry.

## Limits
It has learnt to tell people's queries from drawn words, which is not the same as to tell a better query from a worse
one: whatever gives a pseudo-query away counts as evidence. Its test documents come from the same data set.
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
        rows.append(f"| {axiom} | {' | '.join(map(_shown, cells))} |")
    return "\n".join(rows)


def _against(scores: Mapping[str, Any], options: PredictorConfig) -> str:
    """Name the axioms that the predictor contradicts; empty where there are none."""
    turned = [axiom for axiom, effect in scores["effect_of_axiom"].items() if effect < 0]
    if not turned:
        return ""
    lines = "\n".join(f"- {axiom}: it prefers the query that {axiom} does not." for axiom in turned)
    by_rank = (
        f"\nSetting {options.setting} chooses negative queries by RANK, which by itself can make a good RANK a mark of "
        "them.\n"
    )
    return (
        f"\nIn the mean over all pairs, this predictor speaks against an axiom:\n{lines}\n"
        f"{'' if options.setting == 'I' else by_rank}"
    )


def _shown(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
