"""Pre-training: from an encoder (or an earlier model) and ranking groups to a cross-encoder.

PROP (section 3.1) is one task with the ranking and the MLM loss; its ablations set one of the two weights to 0.
Several tasks are summed, one batch of each in every step, or take turns (`irpretrain.training.group_table`).
"""

import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from irpretrain.config.base import deciding
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.atomic import write_text, write_together
from irpretrain.foundation.errors import ConfigError
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
from irpretrain.training.outputs import publish
from irpretrain.training.probe import Probe, write_probe
from irpretrain.training.processes import in_processes, wants_processes
from irpretrain.training.ranking_tasks import RankingTask, SequenceReader
from irpretrain.training.ranks import current_ranks
from irpretrain.training.trainer import Trainer, run_steps


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
    # Leave the checkpoints: the caller removes them once it has written more.
    keeps_checkpoints: bool = False,
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
    with reproducible(options.compute) as device:
        dropout = {"dropout": options.dropout, "attention_dropout": options.attention_dropout}
        if start is not None:
            model = CrossEncoderModel.load(start, seed=seed, **dropout)
        else:
            model = CrossEncoderModel.from_encoder(
                encoder, options.head, encoder_options.layers, seed=seed, **dropout
            )
        if not tasks:
            files = {metrics: lambda path: write_text(path, ""), probe: lambda path: write_probe([], path)}
            write_together({output: model.write_files}, files)
            return {"steps": 0}
        for task in tasks:
            key_path = "pretraining" if task.max_length is None else f"task {task.objective}"
            model.check_length(options.of_task(task).max_length, f"{key_path}.max_length")
        model.trained_length = max(options.of_task(task).max_length for task in tasks)
        query_length = max(options.of_task(task).query_length for task in tasks)
        model.trained_reading = {"query_length": query_length, "passages": None}
        store = TokenStore.open(tokens)
        tokenizer = load_tokenizer(start or encoder, encoder_options.vocabulary_size)
        task_parts = _tasks(groups, tasks, options, store, tokenizer, seed)
        group_counts = [table.trained_count for table, _, _ in task_parts]
        options, steps = resolve_length(options, tasks, group_counts, title)
        job = current_ranks().from_first(
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
        with Checkpoints(checkpoints, job, title, options.compute.checkpoint_minutes) as job_checkpoints:
            log = MetricsLog(job_checkpoints.directory / "metrics.jsonl")
            snapshots = job_checkpoints.directory / SNAPSHOTS
            # Of several processes the first alone probes; the others wait for it at their next sum.
            probes_model = trainer.ranks.leads and options.held_out_share > 0
            context = replace(trainer.context, accumulation=1)
            groups_seen = steps * options.batch_groups
            probes = [
                Probe(task.name, table, builder, context, groups_seen, seed)
                for table, builder, task in task_parts
                if probes_model
            ]
            accuracies_before = [task_probe.accuracies(model.eval()) for task_probe in probes]

            def keep_snapshot(step: int) -> None:
                model.save(snapshots / snapshot_name(step))

            token_count = run_steps(
                trainer,
                [task for _, _, task in task_parts],
                options.log_every,
                job_checkpoints,
                log,
                title,
                options.snapshots,
                keep_snapshot,
            )
            if trainer.ranks.leads:
                model.eval()
                rows = [
                    row
                    for task_probe, accuracies in zip(probes, accuracies_before, strict=True)
                    for row in task_probe.rows(model, accuracies)
                ]

                def write_model(model_folder: Path) -> None:
                    model.write_files(model_folder)
                    for step in options.snapshots:
                        name = snapshot_name(step)
                        shutil.copytree(snapshots / name, model_folder / SNAPSHOTS / name)

                files = {metrics: log.publish, probe: lambda path: write_probe(rows, path)}
                publish({output: write_model}, files, job_checkpoints)
            if not keeps_checkpoints:
                job_checkpoints.discard()
    task_tables = {task.name: table for table, _, task in task_parts}
    return {
        "steps": steps,
        "groups": dict.fromkeys(task_tables, groups_seen),
        "groups_available": {name: table.trained_count for name, table in task_tables.items()},
        "epochs": {name: round(groups_seen / table.trained_count, 4) for name, table in task_tables.items()},
        "tokens": token_count,
        "groups_held_out": {name: len(table.held_out) for name, table in task_tables.items()},
        "documents": len(store),
        "text_pieces": int(store.lengths.sum()),
    }


def _tasks(
    groups: Sequence[str | Path],
    tasks: Sequence[TaskConfig],
    options: PretrainingConfig,
    store: TokenStore,
    tokenizer: WordPieceTokenizer,
    seed: int,
) -> list[tuple[GroupTable, BatchBuilder, RankingTask]]:
    task_parts = []
    for index, (path, task) in enumerate(zip(groups, tasks, strict=True)):
        # The number keeps the streams apart when one objective is used twice.
        name = f"{task.objective}/{index}"
        table = GroupTable(path, store, options.batch_groups, seed, name, options.held_out_share)
        task_options = options.of_task(task)
        masker = None
        if task.mlm_weight > 0:
            masker = Masker(task_options.masking, tokenizer, seed, task_options.max_length, stream=name)
        builder = BatchBuilder(store, tokenizer, task_options.max_length, task_options.query_length)
        reader = SequenceReader(builder, masker, options.mlm_head_steps)
        task_name = task.objective if index == 0 else f"{task.objective}#{index}"
        loss = (task_options.loss, task_options.margin)
        ranking_task = RankingTask(task_name, table, reader, *loss, task.weight, task.mlm_weight)
        task_parts.append((table, builder, ranking_task))
    return task_parts


def resolve_length(
    options: PretrainingConfig, tasks: Sequence[TaskConfig], group_counts: Sequence[int], title: str
) -> tuple[PretrainingConfig, int]:
    """Return the options with `steps` in place of `epochs`, and these steps.

    Raises:
        ConfigError: there are fewer steps than `mlm_head_steps`, which is known only now.
    """
    if options.steps is not None:
        return options, options.steps
    steps = steps_of(options, tasks, group_counts)
    resolved_options = options.model_copy(update={"steps": steps, "epochs": None, "epochs_of": None})
    counts_text = ", ".join(f"{group_counts[task]:,}" for task in _length_tasks(options, tasks))
    task_note = "" if options.epochs_of is None else f" of {options.epochs_of}"
    resolution = f"epochs {options.epochs:g} of {counts_text} groups{task_note} are steps {steps:,}"
    if fault := resolved_options.head_start_fault(tasks):
        raise ConfigError(f"{title}: {resolution}; {fault}")
    print_line(f"[{title}] {resolution}")
    return resolved_options, steps


def steps_of(options: PretrainingConfig, tasks: Sequence[TaskConfig], group_counts: Sequence[int]) -> int:
    """Return the fewest steps in which every task_index (or `epochs_of`) passes its groups `epochs` times or more."""
    # Decimals as they were written: in floating point 0.7 epochs of 10 groups would be more than 7 groups.
    steps_per_group = Fraction(str(options.epochs)) / options.batch_groups
    return max(
        math.ceil(steps_per_group * group_counts[task_index]) for task_index in _length_tasks(options, tasks)
    )


def _length_tasks(options: PretrainingConfig, tasks: Sequence[TaskConfig]) -> list[int]:
    return [index for index, task in enumerate(tasks) if options.epochs_of in (None, task.objective)]
