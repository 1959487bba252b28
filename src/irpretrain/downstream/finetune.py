"""Fine-tuning for a task beside retrieval.

Every learning rate is tried; after each epoch the examples that choose are predicted, and the weights of the best epoch
predict the tested ones, once.
"""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import load_file, save_file

from irpretrain.atomic import atomic_file, write_text
from irpretrain.config.base import deciding
from irpretrain.config.downstream import (
    DownstreamTaskConfig,
    DownstreamTrainingConfig,
    QuestionAnsweringConfig,
    SentenceTasksConfig,
)
from irpretrain.contracts import LABELLED_SENTENCES, SPAN_QUESTIONS
from irpretrain.downstream.examples import CHOOSE, MISMATCHED, TEST
from irpretrain.downstream.question_answering import QuestionAnswering
from irpretrain.downstream.sentence_labels import SentenceLabels
from irpretrain.errors import InputError
from irpretrain.models.output_layers import OutputLayerModel
from irpretrain.progress import say
from irpretrain.provenance import sha256
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.kept_batches import KeptBatches
from irpretrain.training.loop import run_steps
from irpretrain.training.metrics import MetricsLog
from irpretrain.training.steps import Setting
from irpretrain.training.trainer import Trainer

WITHOUT_EFFECT = {"keep_models", "learning_rates"}  # each learning rate has a job of its own
"""Options that change no prediction of one learning rate, so a run may be resumed with others."""


class DownstreamTask(Protocol):
    """A task as fine-tuning sees it: `QuestionAnswering` or `SentenceLabels`."""

    def model(self) -> OutputLayerModel:
        """Return a fresh model."""

    def training(self) -> tuple[Any, dict[str, int]]:
        """Return the task of the training, and counts."""

    def predict(
        self, model: torch.nn.Module, role: str, setting: Setting, kept: KeptBatches
    ) -> dict[str, str]:
        """Return example → prediction; `kept` has what batches gave before."""

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        """Return measure → value."""


def downstream_task_of(
    task: DownstreamTaskConfig,
    model: str | Path,
    examples: str | Path,
    options: DownstreamTrainingConfig,
    seed: int,
) -> DownstreamTask:
    """Return the task that a section of `downstream_tasks` describes."""
    if isinstance(options, QuestionAnsweringConfig):
        return QuestionAnswering(model, examples, options, seed)
    assert isinstance(options, SentenceTasksConfig)
    assert task.sentences is not None
    return SentenceLabels(model, examples, task.sentences.task, options, seed)  # type: ignore[arg-type]


def options_of(task: DownstreamTaskConfig, given: dict[str, Any]) -> DownstreamTrainingConfig:
    """Return the checked options of a task's fine-tuning from plain values."""
    kind = QuestionAnsweringConfig if task.kind == "questions" else SentenceTasksConfig
    return kind(**given)


def finetune_downstream(
    model: str | Path,
    examples: str | Path,
    task: DownstreamTaskConfig,
    options: DownstreamTrainingConfig,
    seed: int,
    predictions: str | Path,
    metrics: str | Path,
    checkpoints: str | Path,
    output: str | Path | None = None,
    title: str = "downstream",
) -> dict[str, Any]:
    """Fine-tune a model for a task and predict the tested examples; goes on from the newest checkpoint of the same job.

    Args:
        model: directory of the model whose encoder is taken.
        examples: SPAN_QUESTIONS or LABELLED_SENTENCES table.
        seed: of the output layer, data order and dropout.
        predictions: JSON to write: example → answer, label or number. Of questions it is what the official evaluations
            read.
        metrics: JSON to write: what was chosen, every epoch's measures, and those of the tested examples.
        checkpoints: folder of all jobs' checkpoints.
        output: where to keep the chosen model; None for nowhere.
        title: what status lines call this job.

    Returns:
        Counts: training sequences, steps, epochs, what was chosen, tested examples.

    Raises:
        InputError: nothing to train on, or the inputs do not fit together.
        TrainingError: loss is not a number, or memory ran out.
    """
    downstream_task = downstream_task_of(task, model, examples, options, seed)
    trained, counts = downstream_task.training()
    if not trained.order.size:
        raise InputError(
            examples, "no training example can be used", remedy="Give more of them, or longer windows."
        )
    with reproducible(options.compute) as device, ExitStack() as held:
        search = _Search(downstream_task, trained, options, seed, device, title)
        job = {
            "stage": "downstream",
            "from": sha256(model),
            "examples": sha256(examples),
            "task": task.sentences.task if task.sentences else "questions",
            "options": deciding(options, options.model_dump(exclude=WITHOUT_EFFECT)),
            "seed": seed,
            "device": device.type,
            "versions": versions(),
            "output": str(predictions),
        }
        folders, tried = [], list[list[dict[str, Any]]]()
        for rate in options.learning_rates:
            own_job = {**job, "rate": rate}
            minutes = options.compute.checkpoint_minutes
            folder = held.enter_context(Checkpoints(checkpoints, own_job, title, minutes))
            tried.append(search.train(rate, folder))
            folders.append(folder)
        point, best = max(
            ((p, record) for p, records in enumerate(tried) for record in records),
            key=lambda trial: (trial[1]["chosen_by"], -trial[0], -trial[1]["epoch"]),
        )
        chosen = search.load(folders[point], best["epoch"])
        setting = Setting(device, options.compute, options.accumulation)
        roles = [role for role in (TEST, MISMATCHED) if _has(examples, task, role)]
        predicted = {
            role: downstream_task.predict(
                chosen.to(device), role, setting, _predictions(folders[point], best["epoch"], role)
            )
            for role in roles
        }
        tested = {
            role: downstream_task.measures(role_predictions, role)
            for role, role_predictions in predicted.items()
        }
        report = {
            "chosen": {"learning_rate": options.learning_rates[point], **best},
            "tested": tested,
            "tried": [
                {"learning_rate": rate, "epochs": records}
                for rate, records in zip(options.learning_rates, tried, strict=True)
            ],
            "counts": counts,
        }
        joined = {
            name: value for role_predictions in predicted.values() for name, value in role_predictions.items()
        }
        write_text(predictions, json.dumps(joined, ensure_ascii=False, indent=0) + "\n")
        write_text(metrics, json.dumps(report, indent=1, sort_keys=True) + "\n")
        if output is not None:
            chosen.save(output)
        for folder in folders:
            folder.discard()
    steps = trained.order.steps_per_epoch * options.epochs
    return {**counts, "steps": steps, "chosen": report["chosen"], "tested": tested}


def _has(examples: str | Path, task: DownstreamTaskConfig, role: str) -> bool:
    contract = SPAN_QUESTIONS if task.kind == "questions" else LABELLED_SENTENCES
    return role in contract.read(examples, ["role"])["role"].unique().to_pylist()


@dataclass
class _Search:
    """The trainings of all learning rates."""

    downstream_task: DownstreamTask
    task: Any
    options: DownstreamTrainingConfig
    seed: int
    device: torch.device
    title: str

    def train(self, rate: float, folder: Checkpoints) -> list[dict[str, Any]]:
        """Train with one learning rate; keep the weights of every epoch, and return a record of each."""
        options, epoch_steps = self.options, self.task.order.steps_per_epoch
        optimiser = options.optimiser.model_copy(update={"learning_rate": rate})
        model = self.downstream_task.model()
        trainer = Trainer(
            model,
            optimiser,
            options.compute,
            self.device,
            self.seed,
            epoch_steps * options.epochs,
            options.accumulation,
        )
        setting = Setting(self.device, options.compute, options.accumulation)

        def after(step: int) -> None:
            if step % epoch_steps == 0:
                self._choose(model, step // epoch_steps, setting, folder, f"rate {rate:g}")

        log = MetricsLog(folder.directory / "metrics.jsonl")
        run_steps(
            trainer, lambda step: ([self.task], step), options.log_every, folder, log, self.title, after
        )
        return [
            json.loads(_record(folder, epoch).read_text(encoding="utf-8"))
            for epoch in range(1, options.epochs + 1)
        ]

    def load(self, folder: Checkpoints, epoch: int) -> OutputLayerModel:
        """Return the model after an epoch."""
        model = self.downstream_task.model()
        model.load_state_dict(load_file(_weights(folder, epoch)))
        return model

    def _choose(
        self, model: OutputLayerModel, epoch: int, setting: Setting, folder: Checkpoints, point: str
    ) -> None:
        """Write the weights of an epoch, and the record of what they predict for the examples that choose, as far as an
        earlier attempt has not."""
        if _record(folder, epoch).exists():
            return
        weights = {name: t.detach().cpu().contiguous() for name, t in model.state_dict().items()}
        kept = _predictions(folder, epoch, CHOOSE)
        if not _holds(_weights(folder, epoch), weights):
            kept.discard()  # what other weights predicted: on a GPU an attempt differs from the one before by rounding
            with atomic_file(_weights(folder, epoch)) as temporary:
                save_file(weights, temporary)
        predicted = self.downstream_task.predict(model, CHOOSE, setting, kept)
        measures = self.downstream_task.measures(predicted, CHOOSE)
        value = next(iter(measures.values())) if "EM" in measures else sum(measures.values()) / len(measures)
        record = {"epoch": epoch, "chosen_by": value, "measures": measures}
        write_text(_record(folder, epoch), json.dumps(record) + "\n")
        kept.discard()
        listed = ", ".join(f"{measure} {number:.4f}" for measure, number in measures.items())
        say(f"[{self.title}] {point}, epoch {epoch}/{self.options.epochs}: {listed}")


def _weights(folder: Checkpoints, epoch: int) -> Path:
    return folder.directory / f"epoch-{epoch}.safetensors"


def _record(folder: Checkpoints, epoch: int) -> Path:
    return folder.directory / f"epoch-{epoch}.json"


def _holds(path: Path, weights: dict[str, torch.Tensor]) -> bool:
    """Whether a file is there that holds these weights."""
    if not path.exists():
        return False
    saved = load_file(path)
    return all(torch.equal(saved[name], tensor) for name, tensor in weights.items())


def _predictions(folder: Checkpoints, epoch: int, role: str) -> KeptBatches:
    """What the weights of an epoch have predicted so far for the examples of a role."""
    return KeptBatches(folder.directory / f"epoch-{epoch}-{role}.batches", folder.clock)
