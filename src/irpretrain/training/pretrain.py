"""Pre-training: from an encoder (or an earlier model) and ranking groups to a cross-encoder.

PROP (section 3.1) is one task with the ranking and the MLM loss; its ablations set one of the two weights to 0.
Several tasks are summed, one batch of each in every step, or take turns (`irpretrain.training.group_table`).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from irpretrain.config.base import deciding
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.errors import ConfigError
from irpretrain.foundation.atomic import atomic_directory, write_text
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_files import SNAPSHOTS, snapshot_name
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible, versions
from irpretrain.training.group_table import GroupTable
from irpretrain.training.masking import Masker
from irpretrain.training.metrics import MetricsLog
from irpretrain.training.probe import Probe, write_probe
from irpretrain.training.processes import in_processes, wants_processes
from irpretrain.training.ranking_tasks import Task
from irpretrain.training.ranks import here
from irpretrain.training.trainer import Setting, Trainer, run_steps


def pretrain(
    encoder: str | Path,  # Hugging Face directory of the encoder
    # Directory of a saved cross-encoder to start from instead (further pre-training); its heads and layers
    # are kept.
    start: str | Path | None,
    groups: Sequence[str | Path],  # GROUPS tables, one per task
    tokens: Sequence[str | Path],  # token stores of the collection
    # Objectives and weights. Without tasks the model is saved with its fresh heads.
    tasks: Sequence[TaskConfig],
    options: PretrainingConfig,  # length in steps or epochs, batches, loss, head, optimiser, masking, compute
    encoder_options: EncoderConfig,  # layers to keep, and the expected size of the vocabulary
    seed: int,  # of fresh parameters, data order, masking and dropout
    output: str | Path,  # model directory to write, with `snapshots/step-<n>/` inside
    metrics: str | Path,  # JSONL file to write, one line per step
    # CSV file to write, with the columns of PROBE: what the model makes of held-out groups. Without tasks, or
    # held-out documents, it has no rows.
    probe: str | Path,
    checkpoints: str | Path,  # folder of all jobs' checkpoints
    title: str = "pre-train",  # name of the job in status lines
) -> dict[str, Any]:
    """Pre-train a cross-encoder; resumes from the newest checkpoint of the same job, bit for bit.

    With several GPUs, or processes, it is started in each of them (`training.processes`); the first one writes.

    Returns:
        Counts: steps, groups seen (per task), available to train on, and held out; epochs, word pieces. Without tasks:
        steps alone.

    Raises:
        TrainingError: the loss is NaN, or memory ran out.
        ConfigError, InputError: options or inputs cannot be used.
    """
    arguments = dict(locals())
    if tasks and wants_processes(options.compute):
        return in_processes(pretrain, arguments, options.compute)
    if len(groups) != len(tasks):
        raise ValueError(f"{len(tasks)} tasks need as many group tables, not {len(groups)}")
    with reproducible(options.compute) as device:
        model = _first_model(encoder, start, options, encoder_options, seed)
        if not tasks:
            model.save(output)
            write_text(metrics, "")
            write_probe([], probe)
            return {"steps": 0}
        for task in tasks:
            where = "pretraining" if task.max_length is None else f"task {task.objective}"
            model.check_length(options.of_task(task).max_length, f"{where}.max_length")
        store = TokenStore.open(tokens)
        tokenizer = load_tokenizer(start or encoder, encoder_options.vocabulary_size)
        tables, work = _tasks(groups, tasks, options, store, tokenizer, seed)
        options, steps = resolve_length(options, tasks, [table.trained_count for table in tables], title)
        job = here().from_first(
            lambda: {
                "stage": "pretrain",
                "from": sha256(start or encoder),
                "groups": [sha256(path) for path in groups],
                "tokens": store.fingerprint,
                "tasks": [task.model_dump() for task in tasks],
                "options": deciding(options),
                "layers": encoder_options.layers,
                "seed": seed,
                "device": device.type,
                "versions": versions(),
                "output": str(output),
            }
        )
        trainer = Trainer(
            model, options.optimiser, options.compute, device, seed, steps, options.accumulation
        )
        with Checkpoints(checkpoints, job, title, options.compute.checkpoint_minutes) as folder:
            log = MetricsLog(folder.directory / "metrics.jsonl")
            # Of several processes the first alone probes; the others wait for it at their next sum.
            probed = trainer.ranks.leads and options.held_out_share > 0
            setting = Setting(device, options.compute, accumulation=1)
            probes = [
                Probe(task.name, table, task.builder, setting, steps * options.batch_groups, seed)
                for task, table in zip(work, tables, strict=True)
                if probed
            ]
            before = [part.accuracies(model.eval()) for part in probes]
            counts = _train(trainer, work, options, folder, log, title)
            counts["groups_held_out"] = {
                task.name: len(table.held_out) for task, table in zip(work, tables, strict=True)
            }
            counts |= {"documents": len(store), "text_pieces": int(store.lengths.sum())}
            if trainer.ranks.leads:
                model.eval()
                rows = [
                    row for part, was in zip(probes, before, strict=True) for row in part.rows(model, was)
                ]
                write_probe(rows, probe)
                _write_model(model, folder.directory / SNAPSHOTS, options.snapshots, Path(output))
                log.publish(metrics)
            folder.discard()
        return counts


def _first_model(
    encoder: str | Path,
    start: str | Path | None,
    options: PretrainingConfig,
    encoder_options: EncoderConfig,
    seed: int,
) -> CrossEncoderModel:
    dropout = {"dropout": options.dropout, "attention_dropout": options.attention_dropout}
    if start is not None:
        return CrossEncoderModel.load(start, seed=seed, **dropout)
    return CrossEncoderModel.from_encoder(encoder, options.head, encoder_options.layers, seed=seed, **dropout)


def _tasks(
    groups: Sequence[str | Path],
    tasks: Sequence[TaskConfig],
    options: PretrainingConfig,
    store: TokenStore,
    tokenizer: WordPieceTokenizer,
    seed: int,
) -> tuple[list[GroupTable], list[Task]]:
    tables, made = [], []
    for number, (path, task) in enumerate(zip(groups, tasks, strict=True)):
        # The number keeps the streams apart when one objective is used twice.
        name = f"{task.objective}/{number}"
        tables.append(GroupTable(path, store, options.batch_groups, seed, name, options.held_out_share))
        task_options = options.of_task(task)
        masks = task.mlm_weight > 0
        made.append(
            Task(
                name=task.objective if number == 0 else f"{task.objective}#{number}",
                source=tables[-1],
                builder=BatchBuilder(store, tokenizer, task_options.max_length, task_options.query_length),
                loss=task_options.loss,
                margin=task_options.margin,
                weight=task.weight,
                mlm_weight=task.mlm_weight,
                masker=Masker(task_options.masking, tokenizer, seed, task_options.max_length, name=name)
                if masks
                else None,
                mlm_head_steps=options.mlm_head_steps,
            )
        )
    return tables, made


def _train(
    trainer: Trainer[CrossEncoderModel],
    tasks: list[Task],
    options: PretrainingConfig,
    checkpoints: Checkpoints,
    log: MetricsLog,
    title: str,
) -> dict[str, Any]:
    def keep_snapshot(step: int) -> None:
        if step in options.snapshots:
            trainer.model.save(checkpoints.directory / SNAPSHOTS / snapshot_name(step))

    tokens = run_steps(trainer, tasks, options.log_every, checkpoints, log, title, keep_snapshot)
    available = {
        task.name: task.source.trained_count for task in tasks if isinstance(task.source, GroupTable)
    }
    seen = {task.name: trainer.steps * options.batch_groups for task in tasks}
    return {
        "steps": trainer.steps,
        "groups": seen,
        "groups_available": available,
        "epochs": {name: round(seen[name] / size, 4) for name, size in available.items()},
        "tokens": tokens,
    }


def _write_model(model: CrossEncoderModel, snapshots: Path, steps: Sequence[int], output: Path) -> None:
    with atomic_directory(output) as folder:
        model.write_files(folder)
        for step in steps:
            shutil.copytree(snapshots / snapshot_name(step), folder / SNAPSHOTS / snapshot_name(step))


# How long a pre-training is: the configured steps, or those of so many epochs of one task's or all groups.


def resolve_length(
    options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int], title: str
) -> tuple[PretrainingConfig, int]:
    """Return the options with `steps` in place of `epochs`, and these steps.

    Raises:
        ConfigError: there are fewer steps than `mlm_head_steps`, which is known only now.
    """
    if options.steps is not None:
        return options, options.steps
    steps = steps_of(options, tasks, groups)
    resolved = options.model_copy(update={"steps": steps, "epochs": None, "epochs_of": None})
    counted = ", ".join(f"{groups[position]:,}" for position in _deciding(options, tasks))
    of = "" if options.epochs_of is None else f" of {options.epochs_of}"
    reported = f"epochs {options.epochs:g} of {counted} groups{of} are steps {steps:,}"
    if fault := resolved.head_start_fault(tasks):
        raise ConfigError(f"{title}: {reported}; {fault}")
    print_line(f"[{title}] {reported}")
    return resolved, steps


def steps_of(options: PretrainingConfig, tasks: Sequence[TaskConfig], groups: Sequence[int]) -> int:
    """Return the fewest steps in which every task (or `epochs_of`) passes its groups `epochs` times or more."""
    # Decimals as they were written: in floating point 0.7 epochs of 10 groups would be more than 7 groups.
    passes = Fraction(str(options.epochs)) / options.batch_groups
    return max(math.ceil(passes * groups[position]) for position in _deciding(options, tasks))


def _deciding(options: PretrainingConfig, tasks: Sequence[TaskConfig]) -> list[int]:
    return [i for i, task in enumerate(tasks) if options.epochs_of in (None, task.objective)]
