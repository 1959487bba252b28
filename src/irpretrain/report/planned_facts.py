"""The facts of runs for the ledger: what the configuration says of them (what a run reads, how it searches, is trained
and chosen), and what its jobs counted."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from filecmp import cmp
from functools import cache
from typing import TYPE_CHECKING, Any

from irpretrain.config.base import leaves
from irpretrain.config.retrieval import MODEL_PARAMETERS, IndriOptions
from irpretrain.config.run import Pretraining, Run, weighting_reads
from irpretrain.config.term_weights import DEFAULT_EPOCHS
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.file_lists import document_files
from irpretrain.corpora.formats.ir_datasets import corpus_identifier
from irpretrain.corpora.registry import format_of
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.ledger import (
    BETWEEN_VALUES,
    READING_LABELS,
    STAGE_PARAMETERS,
    PretrainingText,
    RunFacts,
    cell_text,
    counted_facts,
    describe_differences,
    parameters_text,
    reading_notes,
    shorten,
    stages_text,
    teaching_text,
    totals_by_objective,
)
from irpretrain.foundation.errors import InputError
from irpretrain.report.cells import Table
from irpretrain.report.scores import RunName, Scores
from irpretrain.workflow.plan.paths import FIRST_STAGE_RUN

if TYPE_CHECKING:
    from irpretrain.config import Config
    from irpretrain.config.base import Section
    from irpretrain.config.text import EncoderConfig

# Options of a corpus: one reads a range of its files, one cuts the same text into other documents.
RANGE_KEY, FORM_KEY = "articles", "unit"
# Options that change no result, or only set others.
NOT_COMPARED = {"log_every", "accumulation", "recipe", "keep_models", "batch_tokens", "type"}
# Options of pre-training that are facts of their own.
LENGTH_KEYS = {"steps", "epochs", "epochs_of", "snapshots"}
# `pretraining.head` in words.
HEADS = {"mlp": "fresh", "pooled": "pooler kept", "cedr-knrm": "CEDR-KNRM's", "kept": "the encoder's own"}
# What is read, which is a fact of its own.
READING = {"max_length", "query_length", "passages"}
# Options of pre-training that each task may override.
TASK_KEYS = {"loss", "masking"}


def compared_runs(table: Table) -> list[list[RunName]]:
    """Return the runs of each column of a table, with those that its marks compare them with."""
    columns: dict[tuple[str, ...], dict[RunName, None]] = {}
    for cell in table.cells():
        if cell.run is not None:
            runs = columns.setdefault((cell.dataset, cell.candidates, cell.regime), {})
            runs |= dict.fromkeys([cell.run, *(baseline.run for baseline in cell.baselines)])
    return [list(runs) for runs in columns.values()]


def facts_of(config: Config, scores: Scores, run: RunName) -> RunFacts:
    """Return the facts of a run: those of the configuration, and those that its jobs counted."""
    facts = planned_facts(config, run.dataset, run.candidates, run.model, run.regime)
    job_counts, candidates = scores.job_counts, run.candidates.partition("@")[0]
    file = FIRST_STAGE_RUN.format(dataset=run.dataset, candidates=candidates)
    facts = replace(facts, lists=job_counts.inputs.get(file, ""))
    results = scores.any_measure(run)
    if results is None:
        return facts
    query_hash = hashlib.sha256("\0".join(results.query_ids).encode()).hexdigest()[:8]
    facts = replace(facts, queries=f"{len(results.query_ids)} ({query_hash})")
    if sizes := job_counts.sizes.get(run):
        # What the lists hold counts, not what is planned; the least of several seeds.
        answered, deepest, scored_count = (min(sizes_of_seeds) for sizes_of_seeds in zip(*sizes, strict=True))
        seen = None if facts.seen is None else min(facts.seen, deepest)
        facts = replace(facts, depth=deepest, seen=seen, answered=answered, scored=scored_count)
    name, _, step = run.model.partition("@")
    if run.regime == FIRST_STAGE:
        tuned_parameters: Mapping[str, Any] = job_counts.tunings.get(name, {})
        return replace(facts, **tuned_parameters)
    stages = Run(config, run.dataset, candidates, name, run.regime).pretrainings
    counts = counted_facts(
        [job_counts.trainings.get((stage.name, results.seeds[0]), {}) for stage in stages],
        [str(stage.model.collection) for stage in stages],
    )
    if step:  # a snapshot has read only a part
        counts = {key: counts[key] for key in ("documents", "text_pieces") if key in counts}
    return replace(facts, seeds=results.seeds, **counts)


def with_ledger(table: Table, config: Config, scores: Scores) -> Table:
    """Return a table with the facts of its runs, and, as its first note, what differs beyond the experiment."""
    measured_runs = set(scores.runs())
    columns = [
        [facts_of(config, scores, run) for run in runs if run in measured_runs]
        for runs in compared_runs(table)
    ]
    # Rows are called by their ranking models. What they read, their parameters and who teaches them have notes that are
    # not shortened.
    with_own_notes = (
        *READING_LABELS,
        "tuning",
        "training_queries",
        "finetuning_queries",
        "predictor_queries",
    )
    left_out: dict[str, Any] = dict.fromkeys(("ranker", *with_own_notes), "")
    left_out |= dict.fromkeys(STAGE_PARAMETERS)
    compared_rows = [[replace(row, **left_out) for row in rows] for rows in columns]
    note = shorten(describe_differences(config, compared_rows), f"; {table.name}.ledger.csv has the rest")
    ledger = tuple(dict.fromkeys(row for rows in columns for row in rows))
    notes = [
        *reading_notes(config, ledger),
        parameters_text(config, ledger),
        teaching_text(config, ledger),
        f"Not equal between rows: {note}." if note else "",
    ]
    return replace(table, notes=(*filter(None, notes), *table.notes), ledger=ledger)


def planned_facts(config: Config, dataset: str, candidates: str, model: str, regime: str) -> RunFacts:
    """Return what the configuration says of a run.

    Args:
        candidates: a first stage, or its first documents, "bm25@20"; a first stage's run has its own name.
        model: key of `models`, or a snapshot, "prop@60".
    """
    first_stage, _, cut_depth = candidates.partition("@")
    name, _, step = model.partition("@")
    run = Run(config, dataset, first_stage, "" if regime == FIRST_STAGE else name, regime)
    facts: dict[str, Any] = {"depth": run.depth, "seen": run.seen_depth}
    if cut_depth:
        facts = dict.fromkeys(facts, int(cut_depth))
    if regime == FIRST_STAGE:
        facts |= _search_facts(run)
    elif name in config.models:
        facts |= _pretraining_facts(run, int(step) if step else None)
        facts |= {key: getattr(run, key) for key in READING_LABELS}
        if config.models[name].neural is None:
            facts["reranking"] = _option_texts([_compared_options(config.reranking, READING | {"depth"})])
        if regime != "zero-shot" and dataset in config.datasets:
            facts |= _finetuning_facts(run)
    return RunFacts(dataset, candidates, model, regime, **facts)


def weighting_facts(config: Config, weighting: str) -> dict[str, Any]:
    """Return what the configuration says of a weighting of words: a key of `term_weights`, or an index."""
    facts: dict[str, Any] = {"test_reads": weighting_reads(config, weighting)}
    if weighting in config.indexes:
        index = config.indexes[weighting]
        return facts | {"weighting": _option_texts([{index.type: _compared_options(index)}])}
    if weighting not in config.term_weights:
        return facts
    entry = config.term_weights[weighting]
    predictor = config.term_weights[entry.same_as] if entry.same_as is not None else entry
    options: dict[str, Any] = {}
    if entry.kind == "passages" and (entry.same_as is not None or entry.model != "tf"):
        options["square_root"] = entry.square_root
    if predictor.model != "tf":
        labels = predictor.labels.model_dump(exclude_defaults=True).items()
        label_texts = (f"{key} {value}" for key, value in labels)
        facts["training_queries"] = ", ".join([str(predictor.dataset), *label_texts])
    if predictor.model == "regressor":
        facts["encoder"] = _encoder_text(predictor.encoder or config.encoder)
        options["inference"] = _compared_options(predictor.inference)
        if predictor.window_overlap is not None:
            options["window_overlap"] = predictor.window_overlap
        training = predictor.training
        epochs = DEFAULT_EPOCHS if training.steps is None and training.epochs is None else training.epochs
        options |= {"training": _compared_options(training) | {"epochs": epochs}, "seed": predictor.seed}
    if predictor.model == "word-vectors":
        corpora = config.collections[str(predictor.collection)]
        facts["texts"] = _pretraining_texts(config, corpora)
    return facts | {"weighting": _option_texts([options])}


def _search_facts(run: Run) -> dict[str, Any]:
    config, stage = run.config, run.search
    if stage is None:
        return {"test_reads": run.test_reads}
    facts = weighting_facts(config, stage.query_weights or stage.index)
    facts["ranker"] = f"{stage.model}{' with dependence' if stage.dependence else ''}"
    facts["ranker"] += f" over candidates of {stage.candidates}" if stage.candidates else ""
    facts["words"] = config.index_words(stage.index)
    if stage.model == "indri":
        facts["words"] = f"{config.text.word_kind}, Krovetz' stemmer, INQUERY's stop words"
    if stage.tuned_on is not None:
        return facts | {"tuning": f"tuned on {stage.tuned_on} by {config.retrieval.sweep.measure}"}
    defaults = {"mu": IndriOptions().mu}
    if stage.model != "indri":
        defaults = config.retrieval.parameters_of(stage.model)
    configured = stage.parameters.model_dump(exclude_none=True)
    facts |= {name: configured.get(name, defaults.get(name)) for name in MODEL_PARAMETERS[stage.model]}
    return facts | {"tuning": "not tuned"}


def _pretraining_facts(run: Run, step: int | None) -> dict[str, Any]:
    config, stages = run.config, run.pretrainings
    model_config = config.models[run.model]
    facts: dict[str, Any] = {}
    if model_config.has_encoder:
        facts["encoder"] = _encoder_text(config.encoder_of(run.model))
        # A model that starts from another one goes on with its head.
        facts["head"] = HEADS[config.training_of(config.first_start(run.model)).head]
    corpora = [corpus for stage in stages for corpus in config.collections[str(stage.model.collection)]]
    facts["texts"] = _pretraining_texts(config, corpora)
    if run.dataset in config.datasets:
        tested_corpus = config.datasets[run.dataset].corpus
        shared_corpora = (corpus for corpus in corpora if _overlap(config, corpus, tested_corpus))
        facts["tested_texts"] = _pretraining_texts(config, shared_corpora)
    facts["training"] = _training_options(run)
    objectives = [config.objectives[task.objective] for stage in stages for task in stage.model.tasks]
    predictor_names = {getattr(objective, "predictor", None) for objective in objectives}
    teachers = {config.predictors[name].dataset for name in predictor_names if name in config.predictors}
    facts["predictor_queries"] = " and ".join(sorted(filter(None, teachers)))
    if step is not None:
        return facts | {"steps": step}
    facts["chosen"] = ", then ".join(_unless_equal([_choice_text(stage) for stage in stages]))
    if all(stage.options.steps is not None and not stage.model.select_on for stage in stages):
        # The jobs count those of other models: epochs, and up to the chosen snapshot.
        steps = [stage.options.steps or 0 for stage in stages]
        facts["steps"] = sum(steps) or None
        facts["stages"] = stages_text(steps)
        facts["groups"] = totals_by_objective(
            (task.objective, step_count * stage.options.batch_groups)
            for stage, step_count in zip(stages, steps, strict=True)
            for task in stage.model.tasks
        )
    return facts


def _training_options(run: Run) -> tuple[str, ...]:
    sections: list[dict[str, Any]] = []
    for _, model, training in run.pretrainings:
        sections.append(_compared_options(training, LENGTH_KEYS | TASK_KEYS | READING | {"head"}))
        if (selection := model.select_on) is not None:
            candidates = selection.model_dump(include={"candidates"})
            sections.append({"snapshots": training.snapshots, "select_on": candidates})
        for task in model.tasks:
            objective: Any = run.config.objectives[task.objective]
            sections += [
                training.of_task(task).model_dump(include=TASK_KEYS),
                task.model_dump(include={"weight", "mlm_weight"}),
                {objective.type: _compared_options(objective)},
            ]
    return _option_texts(sections)


def _choice_text(stage: Pretraining) -> str:
    selection = stage.model.select_on
    if selection is None:
        return "last step"
    snapshot_count = len({*stage.options.snapshots, stage.options.steps} - {None})
    return f"chosen on {selection.dataset} by {selection.measure} among {snapshot_count} snapshots"


def _encoder_text(encoder: EncoderConfig) -> str:
    return f"{encoder.path}, {encoder.layers} layers" if encoder.layers else encoder.path


def _finetuning_facts(run: Run) -> dict[str, Any]:
    config = run.config
    teachers = config.trained_on(run.dataset), config.training_candidates(run.dataset, run.candidates)
    options = config.finetuning_of(run.model)
    recipe = _compared_options(options, READING | {"few_shot_batch_sizes"}) | {
        "batch_sizes": options.batch_sizes_of(run.regime)
    }
    del recipe["optimiser"]["learning_rate"]  # `learning_rates` has those that are tried
    sections = [recipe]
    if (neural := config.models[run.model].neural) is not None:
        sections.append({neural.type: _compared_options(neural)})
    return {
        "training_queries": ", ".join(teachers),
        "finetuning_queries": run.finetuning_queries,
        "recipe": _option_texts(sections),
    }


def _compared_options(section: Section, excluded: Iterable[str] = ()) -> dict[str, Any]:
    """Return the options of a section that change results; of how a job computes, its precision alone."""
    options = section.model_dump(exclude=NOT_COMPARED.union(excluded))
    if "compute" in options:
        options["compute"] = {"precision": options["compute"]["precision"]}
    return options


def _option_texts(sections: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    # Values of several sections are joined by " / ", in their order, where they are not all equal.
    values: dict[str, list[str]] = {}
    for section in sections:
        for key, value in leaves(section):
            values.setdefault(key, []).append(cell_text(value) or "null")
    return tuple(f"{key} {BETWEEN_VALUES.join(_unless_equal(texts))}" for key, texts in values.items())


def _unless_equal(texts: list[str]) -> list[str]:
    """Return texts, or the one that all of them are."""
    return texts if len(set(texts)) > 1 else texts[:1]


def _pretraining_texts(config: Config, corpora: Iterable[str]) -> tuple[PretrainingText, ...]:
    return tuple(sorted({_pretraining_text(config, corpus) for corpus in corpora}))


def _pretraining_text(config: Config, corpus: str) -> PretrainingText:
    corpus_config = config.corpora[corpus]
    defaults = format_of("documents", corpus_config.format).options().model_dump()
    options = []
    for name, value in corpus_config.options.items():
        if name != FORM_KEY and value != defaults.get(name):
            separator = " to " if name == RANGE_KEY else ", "
            text = separator.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            options.append((name, text))
    patterns = tuple(corpus_config.files or ())
    files = _files_of(corpus_config.path, corpus_config.format, patterns, os.getcwd())
    return PretrainingText(files, tuple(options), " ".join([corpus_config.path, *patterns]))


@cache
def _files_of(path: str, format_name: str, patterns: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """Return the files behind a path relative to a folder, links resolved; a path that is not there as it is."""
    kind, name = resolve(path)
    if kind == "ir_datasets":
        return (f"{kind}:{corpus_identifier(name)}",)
    if kind == "embedded":
        return (path,)
    try:
        files = document_files(os.path.join(folder, path), format_name, patterns or None)
    except InputError:
        return (os.path.realpath(os.path.join(folder, path)),)
    return tuple(sorted(map(_first_equal_file, map(os.path.realpath, files))))


# Files of corpora by their size, none of them a copy of another.
_DISTINCT_FILES: dict[int, list[str]] = {}


def _first_equal_file(file: str) -> str:
    """Return the first file that had the same content: a copy is the same text."""
    size = os.path.getsize(file)
    files_of_size = _DISTINCT_FILES.setdefault(size, [])
    for earlier_file in filter(os.path.isfile, files_of_size if size else ()):
        if cmp(file, earlier_file, shallow=False):
            return earlier_file
    files_of_size.append(file)
    return file


def _overlap(config: Config, corpus: str, other_corpus: str) -> bool:
    (start, end), (other_start, other_end) = (
        config.corpora[name].options.get(RANGE_KEY) or (0, math.inf) for name in (corpus, other_corpus)
    )
    files, other_files = (_pretraining_text(config, name).files for name in (corpus, other_corpus))
    return not set(files).isdisjoint(other_files) and start < other_end and other_start < end
