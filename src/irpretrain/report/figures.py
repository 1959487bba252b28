"""All figures of the report, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config

FIGURES = {"prop": ("figure1a", "figure1b", "figure2", "set_sizes", "words_outside")}
"""Figures of each paper: `results/figures/<paper>_<figure>.{svg,png}`."""


def figure_names(papers: Sequence[str]) -> list[str]:
    """Return the names of the figures of `papers`, without directory and suffix."""
    return [f"{paper}_{figure}" for paper in papers for figure in FIGURES[paper]]


def make_figures(
    papers: Sequence[str | Path],
    config: Config,
    scores: str | Path,
    per_query: str | Path,
    metrics: Sequence[str | Path],
    group_sidecars: Sequence[str | Path],
    output_directory: str | Path,
) -> dict[str, Any]:
    """Draw every figure of `papers`; return how many, and which have no data.

    Args:
        papers: files of published numbers, `resources/published/<paper>.yaml`.
        config: the configuration.
        scores: `results/scores.csv`; its means are checked against the per-query values.
        per_query: `results/per_query.parquet`.
        metrics: training metrics, `results/metrics/pretrained/<model>/seed-<n>.jsonl`.
        group_sidecars: sidecars of the groups' shards,
            `results/groups/<collection>/<objective>/<corpus>-<shard>.parquet.meta.json`.
        output_directory: where `<paper>_<figure>.svg` and `.png` go.
    """
    from irpretrain.report.canvas import save
    from irpretrain.report.curves import few_shot_curves, loss_curves, step_curves
    from irpretrain.report.published import load_published
    from irpretrain.report.sampling_figures import sample_counts, set_size_figure, words_figure
    from irpretrain.report.scores import Scores

    results = Scores.read(per_query, scores)
    counts = sample_counts(group_sidecars)
    names = []
    for path in papers:
        published = load_published(path)
        drawn = {
            "figure1a": loss_curves(published, "figure1a", config, metrics),
            "figure1b": step_curves(published, "figure1b", config, results),
            "figure2": few_shot_curves(published, "figure2", config, results),
            "set_sizes": set_size_figure(counts, published.name),
            "words_outside": words_figure(counts, published.name),
        }
        for name in FIGURES[published.paper]:
            save(drawn[name], output_directory, f"{published.paper}_{name}")
            names.append(name)
    return {"figures": len(names)}
