"""Models: starts, training data, inputs of ranking, and resources of their jobs."""

import math
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

from irpretrain.config.finetuning import FinetuningConfig, keys_unread_by
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.part import (
    FIRST_PAPER,
    Input,
    JobOptions,
    PlanPart,
    Wildcards,
    as_json,
    paths_of,
    reading_options,
)

# MB of a word piece in a step of fine-tuning on a CPU, with what the gradient needs.
#
# Measured: the embedded encoder has peaks of 8.4 GB for 12,288 pieces and 3.4 GB for 4,096. A larger encoder has its
# memory at a later attempt. Of a document in passages one is trained.
PIECE_MB = 0.65

# Keys of `pretraining` that decide a model without tasks: it is the encoder with fresh heads.
FRESH_MODEL = {"head", "dropout", "attention_dropout"}


class Models(PlanPart):
    """Jobs of a model, which the wildcard `model` names."""

    # Where weights lie

    def final(self, model: str, seed: object) -> str:
        """Return the model that others start from and that is tested.

        The last weights, those that a data set has chosen, an external re-ranker, or a word ranker that only
        fine-tuning trains.
        """
        section = self.config.models[model]
        if section.cross_encoder is not None:
            return self.source(section.cross_encoder)
        if section.neural is not None:
            return paths.NEURAL.format(model=model, seed=seed)
        template = paths.PRETRAINED if section.select_on is None else paths.SELECTED
        return template.format(model=model, seed=seed)

    def final_files(self, model: str, seed: object) -> Input:
        """Return what the model's runs depend on: its directory, or the files of an external one."""
        path = self.config.models[model].cross_encoder
        return self.final(model, seed) if path is None else self.model_files(path)

    def directory(self, wildcards: Wildcards) -> str:
        return self.final(wildcards.model, wildcards.seed)

    def files(self, wildcards: Wildcards) -> Input:
        return self.final_files(wildcards.model, wildcards.seed)

    # Pre-training

    def start(self, wildcards: Wildcards) -> Input:
        """The model whose weights this one starts from, if it is not the encoder."""
        start = self.config.models[wildcards.model].start
        return [] if start == "encoder" else self.final(start, wildcards.seed)

    def groups(self, wildcards: Wildcards) -> list[str]:
        model = self.config.models[wildcards.model]
        return [
            paths.GROUPS.format(
                collection=model.collection,
                tokenizer=self.tokenizer_of(wildcards.model),
                objective=task.objective,
            )
            for task in model.tasks
        ]

    def tokens(self, wildcards: Wildcards) -> list[str]:
        tasks = self.config.models[wildcards.model].tasks
        return self.of_collection(paths.TOKENS, "models")(wildcards) if tasks else []

    def training(self, wildcards: Wildcards) -> Any:
        training = self._training(wildcards.model)
        learns = self.config.models[wildcards.model].tasks
        return as_json(training) if learns else JobOptions(as_json(training), as_json(training, FRESH_MODEL))

    def threads(self, wildcards: Wildcards) -> int:
        return self._training(wildcards.model).compute.threads * self.processes(wildcards)

    def processes(self, wildcards: Wildcards) -> int:
        return self._training(wildcards.model).compute.process_count

    def gpus(self, wildcards: Wildcards) -> int:
        return self._training(wildcards.model).compute.gpus

    @cache
    def _training(self, model: str) -> PretrainingConfig:
        return self.config.training_of(model)

    # Rankers over words

    def neural_vectors(self, wildcards: Wildcards) -> Input:
        neural = self.config.models[wildcards.model].neural
        if neural is None or not neural.needs_vectors:
            return []
        return paths.VECTORS.format(collection=neural.collection)

    # Re-ranking

    def for_external_reranker(self, value: Any, otherwise: Any = None) -> Callable[[Wildcards], Any]:
        """Return a job's input or parameter by whether its model is an external re-ranker, which reads documents."""

        def select(wildcards: Wildcards) -> Any:
            is_external = self.config.models[wildcards.model].cross_encoder is not None
            selected = value if is_external else otherwise
            return selected(wildcards) if callable(selected) else selected

        return select

    def reranking(self, wildcards: Wildcards) -> Any:
        """How a model's candidates are scored; rules without the wildcard `regime` score models as pre-trained."""
        regime = getattr(wildcards, "regime", "zero-shot")
        return as_json(self.config.reranking_of(wildcards.model, regime))

    def finetuning(self, wildcards: Wildcards) -> Any:
        """What a model is fine-tuned with, without the name of a recipe."""
        ignored_keys = {"recipe", *keys_unread_by(wildcards.regime)}
        return as_json(self._finetuning(wildcards.model), exclude=ignored_keys)

    def finetuning_threads(self, wildcards: Wildcards) -> int:
        return self._finetuning(wildcards.model).compute.threads

    def finetuning_gpus(self, wildcards: Wildcards) -> int:
        return self._finetuning(wildcards.model).compute.gpus

    def finetuning_memory(self, wildcards: Wildcards) -> int:
        """MB of a fine-tuning: what a step holds at once on a CPU; a GPU has memory of its own."""
        options = self._finetuning(wildcards.model)
        if options.compute.gpus or self.config.models[wildcards.model].neural is not None:
            return 6000
        micro_batch_groups = math.ceil(max(options.batch_sizes_of(wildcards.regime)) / options.accumulation)
        sequences = micro_batch_groups * (1 + options.negatives)
        return max(6000, round(2000 + PIECE_MB * sequences * options.max_length))

    @cache
    def _finetuning(self, model: str) -> FinetuningConfig:
        return self.config.finetuning_of(model)

    # Snapshots; a data set may choose one

    def snapshot_steps(self, model: str) -> list[int]:
        """Return the steps with runs of their own; the last one too where the final model may be another."""
        if not self.config.models[model].tasks:
            return []
        return self._training(model).snapshot_steps(self.config.models[model].select_on is not None)

    def snapshot(self, wildcards: Wildcards) -> int | None:
        """The step of a snapshot; None for the last one, whose weights are the model's own."""
        step = int(wildcards.step)
        return None if step == self._training(wildcards.model).steps else step

    def selection_steps(self, wildcards: Wildcards) -> list[int]:
        return self.snapshot_steps(wildcards.model)

    def selection_runs(self, wildcards: Wildcards) -> list[str]:
        """A zero-shot run of every snapshot, over the queries that choose."""
        selection: Any = self.config.models[wildcards.model].select_on
        names = {"dataset": selection.dataset, "candidates": selection.candidates}
        return [
            paths.SNAPSHOT_RUN.format(model=wildcards.model, step=step, seed=wildcards.seed, **names)
            for step in self.snapshot_steps(wildcards.model)
        ]

    # Which job starts first

    def training_priority(self, wildcards: Wildcards) -> int:
        """Within a paper the longest job starts first: short jobs fill the gaps, and none is left for the end."""
        # Models of several tasks and those that others start from run longest: right after the first paper's.
        models = self.config.models
        is_start = any(models[name].start == wildcards.model for name in self.config.used_models)
        is_long = is_start or len(models[wildcards.model].tasks) > 1
        paper_count = len(self.config.report.papers)
        return max(self.ranking_priority(wildcards) + 1, 10 * paper_count - 5 if is_long else 0)

    def ranking_priority(self, wildcards: Wildcards) -> int:
        position = self._position(wildcards.model)
        return 10 * (len(self.config.report.papers) - position) if position else FIRST_PAPER

    @cache
    def _position(self, model: str) -> int:
        papers = self.config.report.papers
        positions = (
            position
            for position, paper in enumerate(papers)
            if model in self.config.of_papers([paper]).used_models
        )
        return next(positions, len(papers))


class Downstream(PlanPart):
    """Jobs of a task (wildcard `task`), and of an entry of `downstream` (wildcard `experiment`)."""

    def data(self, wildcards: Wildcards) -> Any:
        """What decides a task's examples; its name in tables does not."""
        return reading_options(self.config.downstream_tasks[wildcards.task]) | {"label": wildcards.task}

    def sources(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Part → its files; embedded ones as their verified copies."""
        files_by_role = self.config.downstream_tasks[wildcards.task].files
        return {role: self.files_of(section) for role, section in files_by_role.items()}

    # Entries of `downstream`

    def runs(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        options = self.config.downstream[wildcards.experiment]
        return [
            {
                "task": task,
                "model": model,
                "seed": seed,
                "path": paths.TASK_PREDICTIONS.format(task=task, model=model, seed=seed),
            }
            for task, model, seed in product(options.tasks, options.models, options.seeds)
        ]

    def tasks(self, wildcards: Wildcards) -> dict[str, Any]:
        return {
            task: {
                "task": reading_options(self.config.downstream_tasks[task]),
                "examples": paths.TASK_EXAMPLES.format(task=task),
            }
            for task in self.config.downstream[wildcards.experiment].tasks
        }

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        models = self.config.downstream[wildcards.experiment].models
        return {model: self.config.model_label(model) for model in models}

    def tables(self, wildcards: Wildcards) -> list[str]:
        """What the target downstream makes; ConfigError where there is nothing that can be run."""
        names = list(self.config.active("downstream"))
        if not names:
            absent = self.config.absent_tasks.items()
            absence_text = "".join(f"\n  {task}: {reason}" for task, reason in absent)
            raise ConfigError(
                "the configuration runs no downstream task; add --configfile "
                f"configs/downstream.yaml, or an entry under downstream{absence_text}"
            )
        return paths_of(paths.TASK_TABLE, names)
