"""Fine-tuning for a task beside retrieval, by transformers' `Trainer` and its example `run_qa.py`.

After each epoch the model predicts the examples that choose; the best epoch predicts the test examples, once. On a tie
the earlier epoch counts.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accelerate  # noqa: F401, which Trainer imports late
import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForQuestionAnswering,
    DataCollatorWithPadding,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from irpretrain.config.base import deciding
from irpretrain.config.experiments import QuestionAnsweringConfig
from irpretrain.evaluation.answers import CHOOSE, F1, TEST, TRAIN, means_of, score_answers
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import SPAN_QUESTIONS
from irpretrain.foundation.errors import ConfigError, InputError, TrainingError, refusing
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_batches import MIN_STEP
from irpretrain.models.encoder_files import REMEDY, read_config
from irpretrain.models.parameters import (
    deviation_of,
    initialise,
    load_network,
    max_positions,
    quiet,
    refuse_missing,
)
from irpretrain.text.pair_tokenizer import check_types, load_tokenizer
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import precision_on, reproducible, versions
from irpretrain.training.outputs import check_finite, publish

# Extractive question answering as sequences [CLS] question [SEP] window [SEP] (Devlin et al., 2019, section 4.2).
#
# A text that does not fit is read in windows that overlap by `stride` word pieces, as in transformers' `run_qa.py`.
# An answer is a target in every window that holds it whole; the target of other windows is [CLS].

ROWS_AT_ONCE = 512
# Of google-research/bert's run_squad.py: max_query_length and max_answer_length, in word pieces.
QUESTION_LENGTH = 64
ANSWER_LENGTH = 30


class QuestionAnswering:
    """The questions of a task (SPAN_QUESTIONS) for a model to start from."""

    def __init__(self, model: str | Path, examples: str | Path, options: QuestionAnsweringConfig) -> None:
        self.directory, self.options = Path(model), options
        self.tokenizer = load_tokenizer(self.directory)
        # Some tokenizers say left; targets and spans count from the left.
        self.tokenizer.padding_side = self.tokenizer.truncation_side = "right"
        self.counts = Counter[str]()
        self._examples = Path(examples)
        self._features: dict[str, list[dict[str, Any]]] = {}
        self._questions: dict[str, dict[str, dict[str, Any]]] = {}

    def features(self, role: str) -> list[dict[str, Any]]:
        if role not in self._features:
            self._questions[role] = {}
            self._features[role] = [
                window for rows in self._rows(role) for window in self._windows(rows, role)
            ]
        return self._features[role]

    def _rows(self, role: str) -> Iterator[list[dict[str, Any]]]:
        for batch in SPAN_QUESTIONS.stream(self._examples, rows=ROWS_AT_ONCE):
            yield [row for row in batch.to_pylist() if row["role"] == role]

    def _windows(self, rows: list[dict[str, Any]], role: str) -> Iterator[dict[str, Any]]:
        if not rows:
            return
        encoding = self.tokenizer(
            self._cut_questions([row["question"] for row in rows]),
            [row["context"] for row in rows],
            truncation="only_second",
            max_length=self.options.max_length,
            stride=self.options.stride,
            return_overflowing_tokens=True,
            return_attention_mask=False,
            split_special_tokens=True,  # "[SEP]" in a text of MRQA is ordinary text
        )
        if role == TRAIN:
            self.counts["questions"] += len(rows)
        else:
            self._questions[role] |= {row["question_id"]: row for row in rows}
        input_names = [name for name in self.tokenizer.model_input_names if name in encoding]
        for window_index, row_index in enumerate(encoding["overflow_to_sample_mapping"]):
            row, window = rows[row_index], encoding[window_index]
            start, end = _target(window, zip(row["starts"], row["ends"], strict=True))
            if role == TRAIN and end:
                self.counts["windows_with_answer"] += 1
            feature: dict[str, Any] = {
                name: np.array(encoding[name][window_index], np.int32) for name in input_names
            }
            feature |= {"start_positions": start, "end_positions": end}
            if role != TRAIN:
                feature |= {"question": row["question_id"], "spans": _text_spans(window)}
            yield feature

    def collator(self, device: torch.device) -> DataCollatorWithPadding:
        """Return what pads the windows of a batch, never beyond `max_length`."""
        # A GPU's libraries make a plan for each new length.
        multiple = None if device.type == "cpu" else math.gcd(MIN_STEP, self.options.max_length)
        return DataCollatorWithPadding(self.tokenizer, pad_to_multiple_of=multiple)

    def _cut_questions(self, questions: list[str]) -> list[str]:
        max_pieces = min(QUESTION_LENGTH, self.options.max_length // 2)
        encoding = self.tokenizer(
            questions,
            add_special_tokens=False,
            truncation=True,
            max_length=max_pieces,
            return_offsets_mapping=True,
            split_special_tokens=True,
        )
        spans = zip(questions, encoding["offset_mapping"], strict=True)
        return [text[: offsets[-1][1]] if len(offsets) == max_pieces else text for text, offsets in spans]

    def predictions(self, role: str, outputs: Any) -> dict[str, str]:
        """Return the answer to every question of a role from logits of starts and ends, float32 [windows, pieces]."""
        if not all(np.isfinite(logits).all() for logits in outputs):
            raise TrainingError(
                "the model's outputs are NaN; lower the learning rate, or set precision to fp32"
            )
        best_spans = dict.fromkeys(self._questions[role], (-np.inf, 0, 0))
        for feature, start_logits, end_logits in zip(self.features(role), *outputs[:2], strict=True):
            score, first, last = best_span(start_logits, end_logits, feature["spans"])
            if score > best_spans[feature["question"]][0]:
                spans = feature["spans"]
                best_spans[feature["question"]] = (score, int(spans[first][0]), int(spans[last][1]))
        contexts = {name: row["context"] for name, row in self._questions[role].items()}
        return {name: contexts[name][start:end] for name, (_, start, end) in best_spans.items()}

    def measures(self, predictions: dict[str, str], role: str) -> dict[str, float]:
        accepted_answers = {name: row["answers"] for name, row in self._questions[role].items()}
        return means_of(score_answers(predictions, accepted_answers))


def _target(window: Any, spans: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """Return the positions of first and last word piece of the first span that the window holds whole; else [CLS]'s."""
    for start, end in spans:
        first, last = window.char_to_token(start, 1), window.char_to_token(end - 1, 1)
        if first is not None and last is not None:
            return first, last
    return 0, 0


def _text_spans(window: Any) -> np.ndarray:
    """Return first and end character of each position, int32 [positions, 2]; -1 outside the text."""
    is_text = np.array([sequence == 1 for sequence in window.sequence_ids])
    return np.where(is_text[:, None], np.array(window.offsets, np.int32), -1)


def best_span(start_logits: np.ndarray, end_logits: np.ndarray, spans: np.ndarray) -> tuple[float, int, int]:
    """Return score and positions of the span with the largest sum of logits; of ties the first.

    A span lies in the text and has at most ANSWER_LENGTH word pieces. Positions of logits beyond `spans` (see
    `_text_spans`) are padding.
    """
    positions, penalty = np.arange(len(spans)), np.where(spans[:, 0] < 0, -np.inf, 0)
    sums = (start_logits[: len(spans)] + penalty)[:, None] + (end_logits[: len(spans)] + penalty)
    lengths = positions - positions[:, None]
    sums[(lengths < 0) | (lengths >= ANSWER_LENGTH)] = -np.inf
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    return float(sums[first, last]), int(first), int(last)


# Warm-up and decay of BERT's fine-tuning (google-research/bert, run_squad.py and optimization.py).
WARMUP_SHARE = 0.1
WEIGHT_DECAY = 0.01
PREDICTION_BATCH = 32
LOG_STEPS = 50

# Keys of config.json on the model's own output layer.
OUTPUT_LAYER_KEYS = ("architectures", "id2label", "label2id", "num_labels", "problem_type")


def finetune_downstream(
    model: str | Path,  # Hugging Face directory of the model whose encoder is taken
    examples: str | Path,  # SPAN_QUESTIONS table
    options: QuestionAnsweringConfig,
    seed: int,  # of the output layer, data order and dropout
    # JSON to write: question → answer. The official evaluations read it.
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
    task = QuestionAnswering(model, examples, options)
    training_windows, validation_windows = task.features(TRAIN), task.features(CHOOSE)
    if not training_windows:
        raise InputError(examples, "no training example can be used", remedy="Give more of them.")
    with reproducible(options.compute) as device:
        job = {
            "stage": "downstream",
            "from": sha256(model),
            "examples": sha256(examples),
            "options": deciding(options),
            "seed": seed,
            "device": device.type,
            "versions": versions(),
            "output": str(predictions),
        }
        with Checkpoints(checkpoints, job, title, 0) as job_checkpoints:
            trainer = Trainer(
                model=_network(task, options.dropout, seed),
                args=_arguments(job_checkpoints.directory, options, seed, device),
                data_collator=task.collator(device),
                train_dataset=training_windows,
                eval_dataset=validation_windows,
                compute_metrics=lambda evaluation: task.measures(
                    task.predictions(CHOOSE, evaluation.predictions), CHOOSE
                ),
                callbacks=[_StatusLines(title)],
            )
            trainer.remove_callback(PrinterCallback)
            with quiet():
                trainer.train(resume_from_checkpoint=_last_checkpoint(job_checkpoints.directory))
            trainer.compute_metrics = None  # which `predict` would call
            logits: Any = trainer.predict(task.features(TEST)).predictions  # type: ignore[arg-type]
            predicted_answers = task.predictions(TEST, logits)
            test_measures = {TEST: task.measures(predicted_answers, TEST)}
            steps, state = trainer.state.max_steps, trainer.state
            choice = {
                "epoch": (state.best_global_step or steps) * options.epochs // steps,
                F1: state.best_metric,
            }
            counts = {**task.counts, "training_sequences": len(training_windows)}
            answers_json = json.dumps(predicted_answers, ensure_ascii=False, indent=0) + "\n"
            report = {"chosen": choice, "tested": test_measures, "epochs": _epochs(trainer), "counts": counts}
            report_json = json.dumps(report, indent=1, sort_keys=True) + "\n"
            files = {
                predictions: lambda path: write_text(path, answers_json),
                metrics: lambda path: write_text(path, report_json),
            }
            publish({}, files, job_checkpoints)
            job_checkpoints.discard()
    return {**counts, "steps": steps, "chosen": choice, "tested": test_measures}


def _network(task: QuestionAnswering, dropout: float | None, seed: int) -> Any:
    directory = task.directory
    encoder_config = {
        key: value for key, value in read_config(directory).items() if key not in OUTPUT_LAYER_KEYS
    }
    label_names = {"id2label": {0: "start", 1: "end"}, "label2id": {"start": 0, "end": 1}}
    with refusing(directory, "config.json cannot be used", REMEDY):
        config = AutoConfig.for_model(
            encoder_config.pop("model_type", "bert"), **encoder_config, **label_names
        )
    for name in [name for name in config.to_dict() if "dropout" in name] if dropout is not None else []:
        setattr(config, name, dropout)
    network, missing_names = load_network(AutoModelForQuestionAnswering, directory, REMEDY, config=config)
    prefix = f"{network.base_model_prefix}."
    refuse_missing(
        directory, {name for name in missing_names if name.startswith(prefix) and ".pooler." not in name}
    )
    check_types(network, directory)
    initialise(network, missing_names, deviation_of(config), seed)
    encoder_positions = max_positions(network)
    if encoder_positions is not None and task.options.max_length > encoder_positions:
        raise ConfigError(
            f"question_answering.max_length: {task.options.max_length} is longer than the encoder's "
            f"{encoder_positions} positions; lower it"
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
    folder: Path, options: QuestionAnsweringConfig, seed: int, device: torch.device
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
        learning_rate=options.learning_rate,
        warmup_steps=WARMUP_SHARE,
        weight_decay=WEIGHT_DECAY,
        num_train_epochs=options.epochs,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,  # and the best one
        load_best_model_at_end=True,
        metric_for_best_model=F1,
        greater_is_better=True,
        logging_steps=LOG_STEPS,
        disable_tqdm=True,
        dataloader_pin_memory=device.type == "cuda",
        report_to="none",
    )


def _epochs(trainer: Trainer) -> list[dict[str, Any]]:
    records = [record for record in trainer.state.log_history if f"eval_{F1}" in record]
    dropped_suffixes = ("_loss", "_runtime", "_per_second")
    return [
        {"epoch": epoch}
        | {
            key.removeprefix("eval_"): value
            for key, value in record.items()
            if key.startswith("eval_") and not key.endswith(dropped_suffixes)
        }
        for epoch, record in enumerate(records, start=1)
    ]


def _last_checkpoint(folder: Path) -> str | None:
    """Return the newest checkpoint that is whole: Trainer writes trainer_state.json last."""
    checkpoints = [path.parent for path in folder.glob("checkpoint-*/trainer_state.json")]
    return str(max(checkpoints, key=lambda path: int(path.name.partition("-")[2]))) if checkpoints else None


class _StatusLines(TrainerCallback):
    """Prints how the training goes on, and stops one whose weights are broken before anything is saved."""

    def __init__(self, title: str) -> None:
        self.title = title

    def on_epoch_end(
        self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **_: Any
    ) -> None:
        check_finite(model, optimizer)

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        names = ("loss", "eval_EM", "eval_F1")
        values = [f"{n.removeprefix('eval_')} {logs[n]:.4g}" for n in names if logs and n in logs]
        if values:
            print_line(f"[{self.title}] step {state.global_step}/{state.max_steps}: {', '.join(values)}")
