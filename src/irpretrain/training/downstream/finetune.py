"""Fine-tuning for a task beside retrieval, by transformers' `Trainer` and its examples `run_qa.py` and `run_glue.py`.

Every learning rate is tried. After each epoch the model predicts the examples that choose; the best epoch of the best
rate predicts the test examples, once. On a tie the earlier rate and epoch count.
"""

import json
import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import accelerate  # noqa: F401, which Trainer imports late
import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from irpretrain.config.base import deciding
from irpretrain.config.downstream import (
    DownstreamTaskConfig,
    DownstreamTrainingConfig,
    QuestionAnsweringConfig,
    SentenceTasksConfig,
)
from irpretrain.contracts import LABELLED_SENTENCES
from irpretrain.corpora.formats.glue import Task
from irpretrain.errors import ConfigError, InputError, TrainingError, refusing
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_files import REMEDY, read_config
from irpretrain.models.parameters import (
    deviation_of,
    initialise,
    load_network,
    positions,
    quiet,
    refuse_missing,
)
from irpretrain.text.pair_tokenizer import check_types, load_tokenizer
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import precision_on, reproducible, versions
from irpretrain.training.downstream.evaluate import classes_of, score_labels
from irpretrain.training.downstream.examples import CHOOSE, MISMATCHED, TEST, TRAIN
from irpretrain.training.downstream.question_answering import QuestionAnswering

# GLUE's tasks: sentences, or pairs of them, with labels (Devlin et al., 2019, section 4.1).


class SentenceLabels:
    """The examples of a task (LABELLED_SENTENCES) for a model to start from."""

    architecture = AutoModelForSequenceClassification
    section = "sentence_tasks"

    def __init__(
        self, model: str | Path, examples: str | Path, task: Task, options: SentenceTasksConfig
    ) -> None:
        self.directory, self.options = Path(model), options
        self.tokenizer = load_tokenizer(self.directory)
        self.counts: dict[str, int] = {}
        self.labels = classes_of(task) or ("score",)
        self._examples, self._task = Path(examples), task
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._features: dict[str, list[dict[str, Any]]] = {}

    def features(self, role: str) -> list[dict[str, Any]]:
        if role not in self._features:
            rows = LABELLED_SENTENCES.read(self._examples).to_pylist()
            self._rows[role] = [row for row in rows if row["role"] == role]
            self._features[role] = [self._feature(row) for row in self._rows[role]]
        return self._features[role]

    def _feature(self, row: dict[str, Any]) -> dict[str, Any]:
        encoded = self.tokenizer(
            *row["texts"],
            truncation=True,
            max_length=self.options.max_length,
            return_attention_mask=False,
            split_special_tokens=True,
        )
        label = self.labels.index(row["label"]) if classes_of(self._task) else float(row["label"])
        return {**encoded, "labels": label}

    def predictions(self, role: str, outputs: Any) -> dict[str, str]:
        """Return the label (or a regression's number) of every example of a role, from float32 [examples, labels]."""
        names = [row["example_id"] for row in self._rows[role]]
        if classes_of(self._task):
            chosen = [self.labels[label] for label in outputs.argmax(1)]
        else:
            chosen = [f"{value:.6f}" for value in np.ravel(outputs)]
        return dict(zip(names, chosen, strict=True))

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        rows = self._rows[role]
        predicted = [predictions[row["example_id"]] for row in rows]
        return score_labels(self._task, predicted, [row["label"] for row in rows])

    @staticmethod
    def chosen_by(measures: dict[str, float]) -> float:
        """Return what chooses an epoch: GLUE's score of the task, the mean of its measures."""
        return sum(measures.values()) / len(measures)


# Warm-up and decay of BERT's fine-tuning (google-research/bert, run_squad.py and optimization.py).
WARMUP = 0.1
WEIGHT_DECAY = 0.01
PREDICTION_BATCH = 32
LOG_EVERY = 50

# Keys of config.json on the model's own output layer.
NOT_OF_THE_ENCODER = ("architectures", "id2label", "label2id", "num_labels", "problem_type")


def options_of(task: DownstreamTaskConfig, values: dict[str, Any]) -> DownstreamTrainingConfig:
    kind = QuestionAnsweringConfig if task.kind == "questions" else SentenceTasksConfig
    return kind(**values)


def finetune_downstream(
    model: str | Path,  # Hugging Face directory of the model whose encoder is taken
    examples: str | Path,  # SPAN_QUESTIONS or LABELLED_SENTENCES table
    task: DownstreamTaskConfig,
    options: DownstreamTrainingConfig,
    seed: int,  # of the output layer, data order and dropout
    # JSON to write: example → answer, label or number. For questions, the official evaluations read it.
    predictions: str | Path,
    # JSON to write: what was chosen, the measures of every epoch, and those of the test examples.
    metrics: str | Path,
    checkpoints: str | Path,  # folder of all jobs' checkpoints
    title: str = "downstream",  # name of the job in status lines
) -> dict[str, Any]:
    """Fine-tune a model for a task and predict the test examples.

    An interrupted job resumes from Trainer's last epoch checkpoint. Equal bytes are not promised then.

    Returns:
        Counts: training sequences, steps, the choice, measures of the test examples.

    Raises:
        InputError: nothing to train on, or the inputs do not fit together.
        TrainingError: outputs are NaN, or memory ran out.
    """
    work: QuestionAnswering | SentenceLabels
    if isinstance(options, QuestionAnsweringConfig):
        work = QuestionAnswering(model, examples, options)
    else:
        assert task.sentences is not None
        work = SentenceLabels(model, examples, task.sentences.task, options)  # type: ignore[arg-type]
    training, choosing = work.features(TRAIN), work.features(CHOOSE)
    if not training:
        raise InputError(examples, "no training example can be used", remedy="Give more of them.")
    job = {
        "stage": "downstream",
        "from": sha256(model),
        "examples": sha256(examples),
        "task": task.sentences.task if task.sentences else "questions",
        "options": deciding(options, options.model_dump(exclude={"learning_rates"})),
        "seed": seed,
        "versions": versions(),
        "output": str(predictions),
    }
    best: Trainer | None = None
    tried = []
    with reproducible(options.compute) as device, ExitStack() as held:
        folders = []
        for rate in options.learning_rates:
            folder = held.enter_context(
                Checkpoints(checkpoints, {**job, "rate": rate, "device": device.type}, title, 0)
            )
            folders.append(folder)
            trainer = Trainer(
                model=_network(work, options.dropout, seed),
                args=_arguments(folder.directory, options, rate, seed, device),
                data_collator=DataCollatorWithPadding(work.tokenizer),
                train_dataset=training,
                eval_dataset=choosing,
                compute_metrics=lambda outputs: _chosen_by(work, outputs.predictions),
                callbacks=[_StatusLines(f"{title}, rate {rate:g}")],
            )
            trainer.remove_callback(PrinterCallback)
            with quiet():
                trainer.train(resume_from_checkpoint=_last_checkpoint(folder.directory))
            tried.append({"learning_rate": rate, "epochs": _epochs(trainer)})
            # A Trainer holds a model and its optimiser: keep the best one alone.
            if best is None or _best_metric(trainer) > _best_metric(best):
                best, chosen_rate = trainer, rate
        assert best is not None
        best.compute_metrics = None  # which `predict` would call
        predicted, tested = dict[str, str](), {}
        for role in (TEST, MISMATCHED):
            if features := work.features(role):
                outputs = best.predict(features).predictions  # type: ignore[arg-type]
                answers = work.predictions(role, outputs)
                predicted |= answers
                tested[role] = work.measures(answers, role)
        steps = best.state.max_steps
        chosen = {
            "learning_rate": chosen_rate,
            "epoch": (best.state.best_global_step or steps) * options.epochs // steps,
            "chosen_by": _best_metric(best),
        }
        counts = {**work.counts, "training_sequences": len(training)}
        write_text(predictions, json.dumps(predicted, ensure_ascii=False, indent=0) + "\n")
        report = {"chosen": chosen, "tested": tested, "tried": tried, "counts": counts}
        write_text(metrics, json.dumps(report, indent=1, sort_keys=True) + "\n")
        for folder in folders:
            folder.discard()
    return {**counts, "steps": steps, "chosen": chosen, "tested": tested}


def _network(work: QuestionAnswering | SentenceLabels, dropout: float | None, seed: int) -> Any:
    """Load the encoder of a saved model, with a fresh output layer that depends on the seed alone."""
    directory = work.directory
    given = {key: value for key, value in read_config(directory).items() if key not in NOT_OF_THE_ENCODER}
    names = {"id2label": dict(enumerate(work.labels)), "label2id": {n: i for i, n in enumerate(work.labels)}}
    with refusing(directory, "config.json cannot be used", REMEDY):
        config = AutoConfig.for_model(given.pop("model_type", "bert"), **given, **names)
    for name in [name for name in config.to_dict() if "dropout" in name] if dropout is not None else []:
        setattr(config, name, dropout)
    network, missing = load_network(work.architecture, directory, REMEDY, config=config)
    prefix = f"{network.base_model_prefix}."
    refuse_missing(
        directory, {name for name in missing if name.startswith(prefix) and ".pooler." not in name}
    )
    check_types(network, directory)
    initialise(network, missing, deviation_of(config), seed)
    most = positions(network)
    if most is not None and work.options.max_length > most:
        raise ConfigError(
            f"{work.section}.max_length: {work.options.max_length} is longer than the encoder's {most} positions; "
            "lower it"
        )
    return network


class _OneGpu(TrainingArguments):
    """Arguments of a job that has one GPU, as all jobs do here; Trainer would take every visible one."""

    @property
    def device(self) -> torch.device:
        device = super().device
        # `reproducible` has made the job's GPU the current one.
        return torch.device("cuda", torch.cuda.current_device()) if device.type == "cuda" else device

    @property
    def n_gpu(self) -> int:
        return min(super().n_gpu, 1)


def _arguments(
    folder: Path, options: DownstreamTrainingConfig, rate: float, seed: int, device: torch.device
) -> TrainingArguments:
    precision = precision_on(device, options.compute)
    return _OneGpu(
        output_dir=str(folder),
        seed=seed,
        use_cpu=device.type == "cpu",
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        per_device_train_batch_size=options.batch_size,
        per_device_eval_batch_size=PREDICTION_BATCH,
        learning_rate=rate,
        warmup_steps=WARMUP,
        weight_decay=WEIGHT_DECAY,
        num_train_epochs=options.epochs,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,  # and the best one
        load_best_model_at_end=True,
        metric_for_best_model="chosen_by",
        greater_is_better=True,
        logging_steps=LOG_EVERY,
        disable_tqdm=True,
        dataloader_pin_memory=device.type == "cuda",
        report_to="none",
    )


def _chosen_by(work: QuestionAnswering | SentenceLabels, outputs: Any) -> dict[str, float]:
    if not all(np.isfinite(array).all() for array in (outputs if isinstance(outputs, tuple) else (outputs,))):
        raise TrainingError("the model's outputs are NaN; lower the learning rate, or set precision to fp32")
    measures = work.measures(work.predictions(CHOOSE, outputs), CHOOSE)
    return {**measures, "chosen_by": work.chosen_by(measures)}


def _best_metric(trainer: Trainer) -> float:
    metric = trainer.state.best_metric
    return -math.inf if metric is None else float(metric)


def _epochs(trainer: Trainer) -> list[dict[str, Any]]:
    records = [record for record in trainer.state.log_history if "eval_chosen_by" in record]
    dropped = ("_loss", "_runtime", "_per_second")
    return [
        {"epoch": number}
        | {
            key.removeprefix("eval_"): value
            for key, value in record.items()
            if key.startswith("eval_") and not key.endswith(dropped)
        }
        for number, record in enumerate(records, start=1)
    ]


def _last_checkpoint(folder: Path) -> str | None:
    """Return the newest checkpoint that is whole: Trainer writes trainer_state.json last."""
    checkpoints = [path.parent for path in folder.glob("checkpoint-*/trainer_state.json")]
    return str(max(checkpoints, key=lambda path: int(path.name.partition("-")[2]))) if checkpoints else None


class _StatusLines(TrainerCallback):
    def __init__(self, title: str) -> None:
        self.title = title

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        names = ("loss", "eval_EM", "eval_F1", "eval_chosen_by")
        values = [f"{n.removeprefix('eval_')} {logs[n]:.4g}" for n in names if logs and n in logs]
        if values:
            print_line(f"[{self.title}] step {state.global_step}/{state.max_steps}: {', '.join(values)}")
