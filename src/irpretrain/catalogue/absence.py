"""Experiments on data sets of the catalogue whose files are not there: left out, and remembered with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.downstream import DownstreamConfig
from irpretrain.config.experiments import AbsenceConfig, Paper
from irpretrain.config.root import Config
from irpretrain.config.usage import (
    active_downstream,
    active_experiments,
    used_corpora,
    used_datasets,
    used_runs,
)
from irpretrain.corpora.sources import corpus_aids

HOW = "snakemake --cores 1 datasets says how to get them"


def without_absent(config: Config) -> Config:
    """Return the configuration without the experiments and tasks that need a file of the catalogue which is missing.

    Why is kept in `absent` and `absent_tasks`, for the tables, and among the report's notes. A file that the
    configuration names itself is not looked at here: that it is missing is a fault (`corpora.sources`).
    """
    absent = dict[str, AbsenceConfig]()
    for name, experiment in active_experiments(config).items():
        if missing := list(dict.fromkeys(_missing_files(_alone(config, name)))):
            absent[name] = AbsenceConfig(
                dataset=experiment.dataset, candidates=experiment.candidates, reason=_reason(missing)
            )
    tasks = {(name, task): reason for name, task, reason in _absent_tasks(config)}
    absent_tasks = {task: reason for (_, task), reason in tasks.items()}
    if not absent and not absent_tasks:
        return config
    notes = [f"Experiment {name} is not run: {absence.reason}." for name, absence in absent.items()]
    if absent_tasks:
        notes.append(f"Not run, as files are missing: {', '.join(absent_tasks)}; {HOW}.")
    report = config.report.model_copy(update={"notes": [*config.report.notes, *notes]})
    kept = {name: one for name, one in config.experiments.items() if name not in absent}
    changed = {"experiments": kept, "absent": absent, "report": report}
    if absent_tasks:
        changed |= {"downstream": dict(_present(config, tasks)), "absent_tasks": absent_tasks}
    return config.model_copy(update=changed)


def _reason(missing: list[str]) -> str:
    others = f" and {len(missing) - 1} more files are" if len(missing) > 1 else " is"
    return f"{missing[0]}{others} missing; {HOW}"


def _absent_tasks(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (entry of `downstream`, task, reason) of the tasks that need a file of the catalogue that is not there, or
    whose models do."""
    for name, one in active_downstream(config).items():
        alone = config.model_copy(update={"downstream": {name: one}})
        of_models = list(_missing_files(_alone(alone)))
        for task in one.tasks:
            described = config.downstream_tasks[task]
            paths = [path for files in described.files.values() for path in files.paths]
            own = [path for path in paths if described.entry and not Path(path).exists()]
            if missing := list(dict.fromkeys([*own, *of_models])):
                yield name, task, _reason(missing)


def _present(config: Config, absent: Collection[tuple[str, str]]) -> Iterator[tuple[str, DownstreamConfig]]:
    """Yield the entries of `downstream` with the tasks whose files are there, those without any left out."""
    for name, one in config.downstream.items():
        if tasks := [task for task in one.tasks if (name, task) not in absent]:
            yield name, one.model_copy(update={"tasks": tasks})


def _alone(config: Config, experiment: str | None = None) -> Config:
    """The configuration with one experiment or none, and with nothing that is made without it."""
    papers: list[Paper] = ["prop"]  # no table of PROP needs more than experiments
    update: dict[str, Any] = {
        "attributions": {},
        "query_pages": {},
        "report": config.report.model_copy(update={"papers": papers}),
    }
    if experiment is None:
        shown = {name: one.model_copy(update={"papers": None}) for name, one in config.downstream.items()}
        return config.model_copy(update={**update, "experiments": {}, "downstream": shown})
    alone = config.experiments[experiment].model_copy(update={"papers": None})
    return config.model_copy(update={**update, "experiments": {experiment: alone}, "downstream": {}})


def _missing_files(config: Config) -> Iterator[str]:
    """Yield the files of the catalogue that a configuration needs and that are not there."""
    corpora = {name: config.corpora[name] for name in used_corpora(config) if config.corpora[name].entry}
    paths = [corpus.path for corpus in corpora.values()]
    paths += [path for name in corpora for path in corpus_aids(config, name)]
    for name in used_datasets(config):
        dataset = config.datasets[name]
        if dataset.entry:
            paths += [*dataset.queries.paths, *dataset.qrels.paths]
            paths += [dataset.folds] if isinstance(dataset.folds, str) else []
    for stage, name in used_runs(config):
        run = config.first_stages[stage].runs[name]
        paths += run.paths if run.entry else []
    yield from (path for path in paths if not Path(path).exists())
