"""Training and testing of the preference predictor of ARES (Chen et al., SIGIR 2022, section 4.2, table 2, figure 2).

Documents, not pairs, are split into test part and folds: pairs of one document share its pseudo-queries. In each part
half of the pairs, up to one, have the judged query first. Each fold's model learns from the other folds and is measured
on its own; the best of them by that AUC is the predictor, and its AUC on the test part is that of table 2.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.axioms.predictor import feature_columns, fit, make_symmetric, tree_table
from irpretrain.axioms.predictor_files import Outcome, write_predictor
from irpretrain.axioms.predictor_pairs import CandidateQueries, make_pairs, read_candidates
from irpretrain.axioms.preferences import vector_numbers
from irpretrain.config.axioms import AXIOMS, AxiomsConfig, PredictorConfig
from irpretrain.evaluation.significance import area, area_with_interval
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.randomness import generator, integer_seed

if TYPE_CHECKING:
    import xgboost

# Number of the test part; folds have the numbers from 1.
TEST_PART = 0

# Share of the documents that the AUC is measured on. The paper names none.
TEST_SHARE = 0.1

# Folds over the other documents; the model of the best fold predicts (ARES, section 4.2: two-fold cross-validation).
FOLD_COUNT = 2

# Of the AUC's interval.
RESAMPLE_COUNT = 1000


def train_predictor(
    judged: str | Path,  # AXIOM_VALUES of judged queries with their relevant documents
    pseudo: Sequence[str | Path],  # AXIOM_VALUES of pseudo-queries, see `read_candidates`
    options: PredictorConfig,
    axioms: AxiomsConfig,
    output: str | Path,  # directory to write, see `irpretrain.axioms.predictor`
    threads: int = 1,  # models that are fitted at the same time; the bytes do not depend on it
) -> dict[str, Any]:
    """Train a predictor with every seed of `options.seeds`; the first one's is stored.

    Returns:
        Counts: judged queries and documents, those left out by reason, pairs, pairs of the test part.

    Raises:
        InputError: too few pairs are left for a test part and folds with both classes in each.
        IntegrityError: see `read_candidates`.
    """
    import xgboost

    candidates = read_candidates(judged, pseudo, options)
    outcomes = [_outcome(candidates, options, axioms, seed, threads, judged) for seed in options.seeds]
    versions = {"python": platform.python_version(), "numpy": np.__version__, "xgboost": xgboost.__version__}
    write_predictor(outcomes, candidates.counts, options, axioms, versions, output)
    first_outcome = outcomes[0]
    return candidates.counts | first_outcome.pairs.counts | {"test_pairs": first_outcome.test_pairs}


def split_documents(documents: np.ndarray, seed: int) -> np.ndarray:
    """Return the part of each pair (int64 [pairs]): `TEST_PART`, or its fold from 1.

    Documents are dealt in random order: TEST_SHARE of them, rounded, at least one, to the test part, the others to the
    folds in turn.
    """
    distinct_documents, document_index = np.unique(documents, return_inverse=True)
    order = generator(seed, "predictor-split").permutation(len(distinct_documents))
    test_count = max(1, round(TEST_SHARE * len(distinct_documents)))
    part_of_document = np.empty(len(distinct_documents), np.int64)
    part_of_document[order[:test_count]] = TEST_PART
    part_of_document[order[test_count:]] = 1 + np.arange(len(distinct_documents) - test_count) % FOLD_COUNT
    return part_of_document[document_index]


def orient(parts: np.ndarray, seed: int) -> np.ndarray:
    """Return for each pair whether its judged query comes first (bool [pairs]): one half of each part, at random."""
    rng, judged_first = generator(seed, "predictor-orientation"), np.zeros(len(parts), bool)
    for part in np.unique(parts):
        indices = rng.permutation(np.flatnonzero(parts == part))
        judged_first[indices[: (len(indices) + 1) // 2]] = True
    return judged_first


def _outcome(
    candidates: CandidateQueries,
    options: PredictorConfig,
    axioms: AxiomsConfig,
    seed: int,
    threads: int,
    source: str | Path,
) -> Outcome:
    pairs = make_pairs(candidates, options, axioms.stm_2_threshold, seed)
    part_of_pair = split_documents(pairs.documents, seed)
    _refuse_small(part_of_pair, options, source)
    labels = orient(part_of_pair, seed)
    features = np.where(labels[:, None], pairs.features, -pairs.features).astype(np.int8)
    folds = range(1, FOLD_COUNT + 1)

    def fit_fold(fold: int) -> xgboost.Booster:
        is_training = (part_of_pair != fold) & (part_of_pair != TEST_PART)
        tree_seed = integer_seed(seed, "predictor-trees", f"{options.model}/{fold}")
        return fit(features[is_training], labels[is_training], options, tree_seed)

    with ThreadPoolExecutor(threads) as pool:
        models = list(pool.map(fit_fold, folds))
    vector_indices = vector_numbers(features)
    tree_tables = [tree_table(model, options.axioms) for model in models]
    tables = [make_symmetric(table) for table in tree_tables]
    fold_aucs = [
        area(table[vector_indices[part_of_pair == fold]], labels[part_of_pair == fold])
        for fold, table in zip(folds, tables, strict=True)
    ]
    best_index = int(np.argmax(fold_aucs))
    is_test = part_of_pair == TEST_PART
    test_features, test_labels = features[is_test], labels[is_test]
    test_vector_indices = vector_indices[is_test]
    test_documents, rng = pairs.documents[is_test], generator(seed, "predictor-bootstrap")
    test_answers = tables[best_index][test_vector_indices]
    return Outcome(
        seed=seed,
        trees=models[best_index],
        table=tables[best_index],
        auc=area_with_interval(test_answers, test_labels, test_documents, RESAMPLE_COUNT, rng),
        tree_auc=area(tree_tables[best_index][test_vector_indices], test_labels),
        fold_aucs=fold_aucs,
        test_pairs=int(is_test.sum()),
        test_documents=len(np.unique(test_documents)),
        single_aucs={axiom: area(test_features[:, i], test_labels) for i, axiom in enumerate(AXIOMS)},
        majority_auc=area(test_features[:, feature_columns(options.axioms)].sum(axis=1), test_labels),
        pairs=pairs,
    )


def _refuse_small(parts: np.ndarray, options: PredictorConfig, source: str | Path) -> None:
    sizes = np.bincount(parts, minlength=FOLD_COUNT + 1)
    if sizes.min() < 2:
        raise InputError(
            source,
            f"{len(parts):,} pairs of a judged query and a pseudo-query are left in setting {options.setting}, too few "
            f"for a test part and {FOLD_COUNT} folds of two pairs or more",
            remedy="Give the predictor a data set with more judged queries, or another setting; the counts of the "
            "stage's sidecar say what was left out.",
        )
