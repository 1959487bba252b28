"""What needs files of the catalogue that are not there: left out, and remembered with the reason."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.catalogue.entry import LISTING
from irpretrain.catalogue.folders import searched
from irpretrain.catalogue.needed import Needed, catalogue_paths, missing_by_entry, missing_files
from irpretrain.catalogue.read import read_catalogue
from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.downstream import DownstreamConfig
from irpretrain.config.experiments import AbsenceConfig, ExperimentConfig
from irpretrain.config.query_pages import QueryPageConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import active_downstream, active_experiments, shown_predictors
from irpretrain.config.weight_views import TermWeightPageConfig
from irpretrain.errors import ConfigError
from irpretrain.papers.files import show_axioms, show_term_weights

HOW = f"{LISTING} says how to get them"
VIEWS: dict[str, tuple[Callable[[Iterable[str]], bool] | None, str]] = {
    "predictors": (show_axioms, "predictor"),
    "diagnoses": (show_axioms, "diagnosis"),
    "weight_distributions": (show_term_weights, "distribution of weights"),
    "attributions": (None, "page of attributions"),
    "query_pages": (None, "page of queries"),
    "term_weight_pages": (None, "page of weights"),
}
"""Sections that need data without an experiment, with which papers show them (null: they are targets), and
what an entry is called."""


def refuse_absent(config: Config) -> None:
    """Raise ConfigError where files of the catalogue are missing, unless what needs them may be left out.

    Raises:
        ConfigError: what needs missing files, which these are, and where to get them.
    """
    if config.skip_absent:
        return
    left = without_absent(config)
    if left is config:
        return
    names = [f"experiments.{name}" for name in left.absent]
    names += [f"downstream_tasks.{task}" for task in left.absent_tasks]
    names += [f"{section}.{name}" for section, name, _ in _absent_views(config)]
    lines = [
        f"{', '.join(names)}: files that {'this needs' if len(names) == 1 else 'these need'} are missing.",
        *_where_to_get(config, missing_by_entry(config)),
        "  `skip_absent: true` in the configuration leaves out what needs them; `make plan` plans it all the same.",
    ]
    raise ConfigError("\n".join(lines))


def absent_file(config: Config, path: str, remedy: str = "") -> ConfigError:
    """Return what is said where a file that the configuration names is not there, and a target of the command line
    needs it: which keys name it, where it was looked for, and where to get it, if that is known; else `remedy`."""
    keys = ", ".join(_keys_of(config.model_dump(), path)) or "the configuration"
    fault = f"{keys}: {path}: there is no such file or folder"
    if entry := catalogue_paths(config.data_folder).get(path):
        return ConfigError("\n".join([fault, *_where_to_get(config, {entry: [path]})]))
    return ConfigError(f"{fault}\n  Paths are relative to {Path.cwd()}.{remedy}")


def _keys_of(value: Any, path: str, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _keys_of(inner, path, f"{key}.{name}" if key else str(name))
    elif value == path or (isinstance(value, list) and path in value):
        yield key


def _where_to_get(config: Config, missing: Mapping[str, Sequence[str]]) -> Iterator[str]:
    catalogue = read_catalogue()
    for entry, paths in missing.items():
        yield from (f"  {entry}, from {catalogue[entry].source}", *(f"    {path}" for path in paths))
    yield f"  Looked for in {searched(config.data_folder)}."
    yield f"  `{LISTING}` says where each belongs, on which terms, and how to get it;"
    yield '  `make run ARGS="datasets --configfile …"`, with your overlay, does so of these alone.'


def without_absent(config: Config) -> Config:
    """Return the configuration without the experiments, tasks and views that need a missing file of the catalogue.

    Why is kept in `absent` and `absent_tasks`, for the tables, and among the report's notes. Of any other file that the
    configuration names it is a fault that it is missing (`corpora.sources`).
    """
    absent = dict[str, AbsenceConfig]()
    for name, experiment in active_experiments(config).items():
        if missing := missing_files(_alone(config, experiment=name)):
            absent[name] = AbsenceConfig(
                dataset=experiment.dataset, candidates=experiment.candidates, reason=_reason(missing)
            )
    tasks = {(name, task): reason for name, task, reason in _absent_tasks(config)}
    absent_tasks = {task: reason for (_, task), reason in tasks.items()}
    views = {(section, name): reason for section, name, reason in _absent_views(config)}
    if not absent and not tasks and not views:
        return config
    notes = _notes("Not run", [*absent, *absent_tasks])
    notes += _notes("Not made", [f"{VIEWS[section][1]} {name}" for section, name in views])
    report = config.report.model_copy(update={"notes": [*config.report.notes, *notes]})
    kept = {name: entry for name, entry in config.experiments.items() if name not in absent}
    changed = {"experiments": kept, "absent": absent, "report": report}
    if absent_tasks:
        changed |= {"downstream": dict(_present(config, tasks)), "absent_tasks": absent_tasks}
    changed["absent_predictors"] = {
        name: reason for (section, name), reason in views.items() if section == "predictors"
    }  # objectives name them, so that they stay
    for section in {section for section, _ in views} - {"predictors"}:
        entries = getattr(config, section)
        changed[section] = {name: entry for name, entry in entries.items() if (section, name) not in views}
    return config.model_copy(update=changed)


def _reason(missing: list[Needed]) -> str:
    others = f" and {len(missing) - 1} more files are" if len(missing) > 1 else " is"
    return f"{missing[0].path}{others} missing; {HOW}"


def _notes(what: str, names: list[str]) -> list[str]:
    """One note at most: every table has it, and cells have the reasons."""
    return [f"{what}, as files are missing: {', '.join(names)}; {HOW}."] if names else []


def _absent_tasks(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (entry of `downstream`, task, reason) of the tasks that need a missing file, or whose models do."""
    for name, entry in active_downstream(config).items():
        for task in entry.tasks:
            alone = entry.model_copy(update={"papers": None, "tasks": [task]})
            if missing := missing_files(_alone(config).model_copy(update={"downstream": {name: alone}})):
                yield name, task, _reason(missing)


def _present(config: Config, absent: Collection[tuple[str, str]]) -> Iterator[tuple[str, DownstreamConfig]]:
    """Yield the entries of `downstream` with the tasks whose files are there, those without any left out."""
    for name, entry in config.downstream.items():
        if tasks := [task for task in entry.tasks if (name, task) not in absent]:
            yield name, entry.model_copy(update={"tasks": tasks})


def _absent_views(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (section, entry, reason) of what is shown without an experiment and needs a missing file."""
    bare: dict[str, Any] = {section: {} for section in VIEWS}
    for section, (is_shown_by, _) in VIEWS.items():
        papers = [paper for paper in config.report.papers if is_shown_by is not None and is_shown_by([paper])]
        if is_shown_by is not None and not papers:
            continue
        views: Mapping[str, Any] = (
            shown_predictors(config) if section == "predictors" else getattr(config, section)
        )
        for name, view in views.items():
            alone = _alone(config, papers).model_copy(update=bare)
            if (page := _as_experiment(config, view)) is not None:
                alone = alone.model_copy(update={"experiments": {name: page}})
            elif section == "diagnoses":
                kept = {"diagnoses": {name: view}, "predictors": config.predictors}
                alone = _with_models(alone.model_copy(update=kept), view.models)
            else:  # without objectives: a predictor that none names is shown for its own sake
                alone = alone.model_copy(update={section: {name: view}, "objectives": {}})
            if missing := missing_files(alone):
                yield section, name, _reason(missing)


def _as_experiment(config: Config, view: Any) -> ExperimentConfig | None:
    """What a page of a target needs, as an experiment; None for what is no such page."""
    match view:
        case AttributionConfig():
            return ExperimentConfig(
                dataset=view.dataset, candidates=view.candidates, models=view.models, regimes=["zero-shot"]
            )
        case QueryPageConfig():
            shown = [side for side in (view.left, view.right) if side.model in config.models]
            return ExperimentConfig(
                dataset=view.dataset,
                candidates=view.candidates,
                first_stages=[side.model for side in (view.left, view.right) if side not in shown],
                models=[side.model for side in shown],
                regimes=[side.regime or "zero-shot" for side in shown],
            )
        case TermWeightPageConfig():
            return ExperimentConfig(dataset=view.dataset, first_stages=view.first_stages)
    return None


def _with_models(config: Config, models: Iterable[str]) -> Config:
    """The configuration with some models in use, as if they were fine-tuned for no task."""
    used = DownstreamConfig.model_construct(papers=None, tasks=[], models=list(models))
    return config.model_copy(update={"downstream": {"models": used}})


def _alone(config: Config, papers: Sequence[str] = (), experiment: str | None = None) -> Config:
    """The configuration with one experiment or none, and with nothing that is made without it."""
    update: dict[str, Any] = {
        "attributions": {},
        "query_pages": {},
        "downstream": {},
        "experiments": {},
        "report": config.report.model_copy(update={"papers": list(papers)}),
    }
    if experiment is not None:
        # Without papers, depths would hide it; they need no files.
        alone = config.experiments[experiment].model_copy(update={"papers": None, "depths": []})
        update["experiments"] = {experiment: alone}
    return config.model_copy(update=update)
