"""Tasks beside retrieval."""

from __future__ import annotations

from itertools import product
from typing import Any

from irpretrain.config.usage import active_downstream
from irpretrain.errors import ConfigError
from irpretrain.plan import paths
from irpretrain.plan.part import PlanPart, described, each, plain
from irpretrain.plan.requests import Wildcards
from irpretrain.report.naming import model_label


class Downstream(PlanPart):
    """Jobs of a task (wildcard `task`), and of an entry of `downstream` (wildcard `experiment`)."""

    def data(self, wildcards: Wildcards) -> Any:
        """What decides a task's examples; its name in tables, and how models are fine-tuned on them, do not."""
        data = described(self.config.downstream_tasks[wildcards.task])
        del data["training"]
        return data | {"label": wildcards.task}

    def sources(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Part → its files; embedded ones as their verified copies."""
        parts = self.config.downstream_tasks[wildcards.task].files
        return {part: self.files_of(section) for part, section in parts.items()}

    def files(self, wildcards: Wildcards) -> list[str]:
        return [path for files in self.sources(wildcards).values() for path in files]

    def training(self, wildcards: Wildcards) -> Any:
        return plain(self._training(wildcards.task))

    def threads(self, wildcards: Wildcards) -> int:
        return self._training(wildcards.task).compute.threads

    def gpus(self, wildcards: Wildcards) -> int:
        return self._training(wildcards.task).compute.gpus

    def _training(self, task: str) -> Any:
        return self.config.downstream_training_of(task)

    # Entries of `downstream`

    def runs(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        tested = self.config.downstream[wildcards.experiment]
        return [
            {
                "task": task,
                "model": model,
                "seed": seed,
                "path": paths.TASK_PREDICTIONS.format(task=task, model=model, seed=seed),
            }
            for task, model, seed in product(tested.tasks, tested.models, tested.seeds)
        ]

    def predictions(self, wildcards: Wildcards) -> list[str]:
        return [run["path"] for run in self.runs(wildcards)]

    def tasks(self, wildcards: Wildcards) -> dict[str, Any]:
        return {
            task: {
                "task": described(self.config.downstream_tasks[task]) | {"training": {}},
                "examples": paths.TASK_EXAMPLES.format(task=task),
            }
            for task in self.config.downstream[wildcards.experiment].tasks
        }

    def examples(self, wildcards: Wildcards) -> list[str]:
        return [task["examples"] for task in self.tasks(wildcards).values()]

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        models = self.config.downstream[wildcards.experiment].models
        return {model: model_label(self.config, model) for model in models}

    def tables(self, wildcards: Wildcards) -> list[str]:
        """What the target downstream makes; ConfigError where there is nothing that can be run."""
        names = list(active_downstream(self.config))
        if not names:
            absent = self.config.absent_tasks.items()
            missing = "".join(f"\n  {task}: {reason}" for task, reason in absent)
            raise ConfigError(
                "the configuration runs no downstream task; add --configfile "
                f"configs/downstream.yaml, or an entry under downstream{missing}"
            )
        return each(paths.TASK_TABLE, names)
