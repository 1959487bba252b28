"""What the overlays in configs/ say of themselves, and the runs that they ask for."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from irpretrain.config import Config, load_config
from irpretrain.report.scores import Results, RunName, Scores
from overlay_commands import ROOT, layers

QUERIES = ("q1", "q2", "q3", "q4")


@cache
def load(overlay: Path, *more: Path) -> Config:
    """The configuration that the overlay's command gives."""
    config: Config = load_config(ROOT / "config.yaml", *layers(overlay), *more)
    return config


def load_all(scale: str, folder: Path) -> Config:
    """The overlays of a scale for ARES, Wikiformer, PHP and rankers without pre-training laid over each other, with the
    tables of all."""
    last = folder / f"all-{scale}.yaml"
    last.write_text("report: {papers: [ares, wikiformer, php]}\n")
    baselines = {"ablations": "baselines", "paper": "baselines-paper"}[scale]
    names = (f"php-{scale}", f"ares-{scale}", baselines)
    others = [layer for name in names for layer in layers(ROOT / f"configs/{name}.yaml")]
    return load(ROOT / f"configs/wikiformer-{scale}.yaml", *dict.fromkeys(others), last)


def runs(config: Config) -> Iterator[RunName]:
    """Every run that the experiments ask for, first stages included; those at depths have tables of their own."""
    for experiment in config.active_experiments.values():
        if experiment.depths:
            continue
        for model in experiment.models:
            for regime in experiment.regimes:
                yield RunName(experiment.dataset, experiment.candidates, model, regime)
        for method in ("bm25", "ql", experiment.candidates, *experiment.first_stages):
            yield RunName(experiment.dataset, method, method, "first-stage")


def made_scores(config: Config) -> Scores:
    return Scores(results_of_runs(config))


def results_of_runs(config: Config) -> dict[tuple[RunName, str], Results]:
    """Results as if everything that the experiments ask for had been run: other values in each run."""
    found: dict[tuple[RunName, str], Results] = {}
    for position, run in enumerate(dict.fromkeys(runs(config))):
        for measure in config.datasets[run.dataset].measures:
            values = np.array([[0.3 + 0.001 * position + 0.01 * query for query in range(len(QUERIES))]])
            found[run, measure] = Results((1,), QUERIES, values)
    return found
