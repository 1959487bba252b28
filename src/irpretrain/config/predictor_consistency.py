"""Faults of preference predictors and of diagnoses that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.names import listed_twice, unknown_names

if TYPE_CHECKING:
    from irpretrain.config.axioms import DiagnosisConfig, PredictorConfig
    from irpretrain.config.root import Config


def predictor_faults(config: Config, name: str, predictor: PredictorConfig) -> Iterator[str]:
    """Yield the faults of a preference predictor in use."""
    where = f"predictors.{name}"
    yield from unknown_names(f"{where}.collection", [predictor.collection], config.collections, "collections")
    yield from unknown_names(f"{where}.dataset", [predictor.dataset], config.datasets, "datasets")
    dataset, corpora = config.datasets.get(predictor.dataset), config.collections.get(predictor.collection)
    if dataset is not None and corpora is not None and dataset.corpus not in corpora:
        yield (
            f"{where}: the relevant documents of {predictor.dataset} are in corpus {dataset.corpus}, which is not in "
            f"collections.{predictor.collection}, so they have no pseudo-queries; add it there, or name a collection "
            "that has it"
        )
    if predictor.judged_terms == "held" and config.pseudo_queries.support == "collection":
        yield (
            f"{where}.judged_terms: held leaves judged queries no term that their document lacks, while most pseudo-"
            "queries of support collection have one, so the predictor would learn this difference alone; leave "
            "judged_terms out, or set pseudo_queries.support to document"
        )


def diagnosis_faults(config: Config, name: str, diagnosis: DiagnosisConfig) -> Iterator[str]:
    """Yield the faults of what a diagnosis compares."""
    where = f"diagnoses.{name}"
    yield from unknown_names(f"{where}.models", diagnosis.models, config.models, "models")
    yield from unknown_names(f"{where}.collection", [diagnosis.collection], config.collections, "collections")
    yield from listed_twice(f"{where}.models", diagnosis.models)
