"""Experiments: the runs that each compares."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from irpretrain.config.usage import first_stages_of, needs_folds
from irpretrain.plan import paths
from irpretrain.plan.datasets import Datasets
from irpretrain.plan.models import Models
from irpretrain.plan.part import Input, PlanPart, first_stage_run
from irpretrain.plan.requests import Wildcards


class Cell(NamedTuple):
    """A run of a model that an experiment asks for; `model` may be a snapshot, `<model>@<step>`."""

    dataset: str
    candidates: str
    model: str
    regime: str
    seed: int


@dataclass(frozen=True, eq=False)
class Experiments(PlanPart):
    """Jobs of an experiment, which the wildcard `experiment` names."""

    datasets: Datasets
    models: Models

    def cells(self, experiment: str) -> list[Cell]:
        """Return every run of a model that an experiment asks for, once, in a fixed order."""
        asked = self.config.experiments[experiment]
        cells: dict[Cell, None] = {}
        for model, regime, seed in product(asked.models, asked.regimes, asked.seeds):
            steps = self.models.snapshot_steps(model) if regime == "zero-shot" else []
            for name in (model, *(f"{model}@{step}" for step in steps)):
                cells[Cell(asked.dataset, asked.candidates, name, regime, seed)] = None
        return list(cells)

    def run_files(self, cell: Cell) -> list[str]:
        """Return the files of a run: one, or one a test fold."""
        if cell.regime == "zero-shot":
            return [paths.ZERO_SHOT_RUN.format(**cell._asdict())]
        folds = self.datasets.fold_numbers(cell.dataset)
        return [paths.FINETUNED_RUN.format(fold=fold, **cell._asdict()) for fold in folds]

    def runs(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Every run of an experiment, its first stages among them, as evaluation.evaluate takes them."""
        experiment = self.config.experiments[wildcards.experiment]
        dataset = experiment.dataset
        first = [
            {
                **Cell(dataset, stage, stage, "first-stage", 0)._asdict(),
                "paths": [first_stage_run(dataset, stage)],
            }
            for stage in first_stages_of(experiment)
        ]
        cells = self.cells(wildcards.experiment)
        return first + [{**cell._asdict(), "paths": self.run_files(cell)} for cell in cells]

    def files(self, wildcards: Wildcards) -> list[str]:
        return [path for run in self.runs(wildcards) for path in run["paths"]]

    def folds(self, wildcards: Wildcards) -> Input:
        """The folds of the experiment's data set, where it is cut into folds."""
        dataset = self.config.experiments[wildcards.experiment].dataset
        is_cut = needs_folds(self.config, dataset) and not self.config.datasets[dataset].train_on
        return paths.FOLDS.format(dataset=dataset) if is_cut else []

    def measures(self, wildcards: Wildcards) -> list[str]:
        return self.config.datasets[self.config.experiments[wildcards.experiment].dataset].measures
