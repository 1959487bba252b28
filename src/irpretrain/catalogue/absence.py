"""Experiments on data sets of the catalogue whose files are not there: left out, and remembered with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from irpretrain.config.experiments import AbsenceConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import active_experiments, used_corpora, used_datasets, used_runs
from irpretrain.corpora.sources import corpus_aids

HOW = "snakemake --cores 1 datasets says how to get them"


def without_absent(config: Config) -> Config:
    """Return the configuration without the experiments that need a file of the catalogue that is not there.

    Why is kept in `absent`, for the tables, and among the report's notes. A file that the configuration names itself is
    not looked at here: that it is missing is a fault (`corpora.sources`).
    """
    absent = {}
    for name, experiment in active_experiments(config).items():
        if missing := list(dict.fromkeys(_missing_files(_alone(config, name)))):
            others = f" and {len(missing) - 1} more files are" if len(missing) > 1 else " is"
            reason = f"{missing[0]}{others} missing; {HOW}"
            absent[name] = AbsenceConfig(
                dataset=experiment.dataset, candidates=experiment.candidates, reason=reason
            )
    if not absent:
        return config
    notes = [f"Experiment {name} is not run: {absence.reason}." for name, absence in absent.items()]
    report = config.report.model_copy(update={"notes": [*config.report.notes, *notes]})
    kept = {name: one for name, one in config.experiments.items() if name not in absent}
    return config.model_copy(update={"experiments": kept, "absent": absent, "report": report})


def _alone(config: Config, name: str) -> Config:
    """The configuration with one experiment, and with nothing that is made without it."""
    experiment = config.experiments[name].model_copy(update={"papers": None})
    report = config.report.model_copy(
        update={"papers": ["prop"]}
    )  # no table of PROP needs more than experiments
    pages: dict[str, object] = {"attributions": {}, "query_pages": {}}
    return config.model_copy(update={"experiments": {name: experiment}, "report": report, **pages})


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
