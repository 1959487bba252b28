"""Pages about single queries: attributions of scores, and two rankings side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.query_page_consistency import can_attribute
from irpretrain.config.query_pages import QueryPageConfig, ShownRankingConfig
from irpretrain.config.usage import first_stage_names
from irpretrain.plan.experiments import Cell, Experiments
from irpretrain.plan.models import Models
from irpretrain.plan.part import PlanPart, as_list, first_stage_run
from irpretrain.plan.requests import Wildcards
from irpretrain.report.naming import dataset_label, first_stage_labels, regime_label


@dataclass(frozen=True, eq=False)
class Attributions(PlanPart):
    """Jobs of a page of attributions."""

    models: Models
    experiments: Experiments

    def model_files_of_page(self, wildcards: Wildcards) -> list[str]:
        page = self._page(wildcards)
        files = [self.models.final_files(model, page.seed) for model in page.models]
        return [path for some in files for path in as_list(some)]

    def runs(self, wildcards: Wildcards) -> list[str]:
        return [model["run"] for model in self.shown_models(wildcards) if model["run"]]

    def shown_models(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Fields of report.attributions.AttributedModel. A query that is no query of the data set is in no run."""
        page = self._page(wildcards)
        return [
            {
                "key": model,
                "label": self.config.models[model].label,
                "directory": self.models.final(model, page.seed),
                "run": self._run(page, model) if page.text is None else None,
            }
            for model in page.models
        ]

    def _run(self, page: AttributionConfig, model: str) -> str:
        """The run in which the document has its rank."""
        cell = Cell(page.dataset, page.candidates, model, "zero-shot", page.seed)
        [path] = self.experiments.run_files(cell)
        return path

    def _page(self, wildcards: Wildcards) -> AttributionConfig:
        return self.config.attributions[wildcards.page]


@dataclass(frozen=True, eq=False)
class QueryPages(PlanPart):
    """Jobs of a page of queries."""

    models: Models
    experiments: Experiments

    def label(self, wildcards: Wildcards) -> str:
        page = self._page(wildcards)
        return dataset_label(self.config, page.dataset, page.candidates)

    def measure(self, wildcards: Wildcards) -> str:
        page = self._page(wildcards)
        return page.measure or self.config.datasets[page.dataset].measures[0]

    def runs(self, wildcards: Wildcards) -> list[str]:
        return [path for ranking in self.rankings(wildcards) for path in ranking["paths"]]

    def attributed_files(self, wildcards: Wildcards) -> list[str]:
        """The models of the rankings whose scores are taken apart."""
        page = self._page(wildcards)
        sides = (page.left, page.right) if page.attributions else ()
        shown = [side for side in sides if can_attribute(self.config, side)]
        files = [self.models.final_files(side.model, side.seed) for side in shown]
        return [path for some in files for path in as_list(some)]

    def threads(self, wildcards: Wildcards) -> int:
        return self.config.reranking.compute.threads if self._page(wildcards).attributions else 1

    def gpus(self, wildcards: Wildcards) -> int:
        return self.config.reranking.compute.gpus if self._page(wildcards).attributions else 0

    def rankings(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Fields of report.query_pages.ShownRanking."""
        page = self._page(wildcards)
        return [self._ranking(page, side) for side in (page.left, page.right)]

    def _ranking(self, page: QueryPageConfig, side: ShownRankingConfig) -> dict[str, Any]:
        stages = first_stage_labels(self.config)
        regime = side.regime or "zero-shot"
        is_stage = side.model in first_stage_names(self.config)
        cell = Cell(page.dataset, page.candidates, side.model, regime, side.seed)
        attributed = can_attribute(self.config, side)
        return {
            "key": side.model,
            "label": stages[side.model] if is_stage else self.config.models[side.model].label,
            "detail": "first stage" if is_stage else f"{regime_label(regime)}, seed {side.seed}",
            "paths": [first_stage_run(page.dataset, side.model)]
            if is_stage
            else self.experiments.run_files(cell),
            "directory": self.models.final(side.model, side.seed) if attributed else None,
        }

    def _page(self, wildcards: Wildcards) -> QueryPageConfig:
        return self.config.query_pages[wildcards.page]
