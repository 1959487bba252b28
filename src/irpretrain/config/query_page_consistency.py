"""Faults of `query_pages` that span sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from irpretrain.config.names import unknown_names
from irpretrain.config.ranker_consistency import neural_models
from irpretrain.config.usage import first_stage_names

if TYPE_CHECKING:
    from irpretrain.config.query_pages import QueryPageConfig, ShownRankingConfig
    from irpretrain.config.root import Config


def query_page_faults(config: Config, where: str, page: QueryPageConfig) -> Iterator[str]:
    """Yield the faults of a page; `where` is its key."""
    stages = first_stage_names(config)
    yield from unknown_names(f"{where}.dataset", [page.dataset], config.datasets, "datasets")
    yield from unknown_names(f"{where}.candidates", [page.candidates], stages, "first_stages")
    for side, shown in (("left", page.left), ("right", page.right)):
        rankers = [*stages, *config.models]
        yield from unknown_names(f"{where}.{side}.model", [shown.model], rankers, "first_stages and models")
        if shown.model in stages and shown.regime is not None:
            yield f"{where}.{side}.regime: {shown.model} is a first stage, which is not trained; leave regime out"
        if neural_models(config, [shown.model]) and shown.regime in (None, "zero-shot"):
            yield (
                f"{where}.{side}.regime: {shown.model} is a ranker without pre-training, which ranks at random until "
                "it is fine-tuned; name another regime"
            )
    sides = (page.left, page.right)
    if page.attributions is not None and not any(can_attribute(config, shown) for shown in sides):
        yield (
            f"{where}.attributions: the scores of {' and '.join(shown.model for shown in sides)} cannot be taken "
            "apart: that needs a model that reads a document as one sequence, zero-shot; leave attributions out"
        )


def can_attribute(config: Config, shown: ShownRankingConfig) -> bool:
    """Whether a ranking's scores can be taken apart: those of a cross-encoder over whole documents, whose weights are
    kept, as those of fine-tuned models are not."""
    if shown.model not in config.models or shown.regime not in (None, "zero-shot"):
        return False
    whole = config.reranking_of(shown.model).passages is None
    return whole and not neural_models(config, [shown.model])
