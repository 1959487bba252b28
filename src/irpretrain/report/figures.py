"""All figures of the report, as SVG and PNG."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Drawing, Published, load_published
from irpretrain.report import curves, other_figures
from irpretrain.report.drawing import save
from irpretrain.report.result_files import ResultFiles


def make_figures(
    paper: str | Path,
    config: Config,
    files: ResultFiles,
    metrics: Sequence[str | Path],
    output_directory: str | Path,
) -> dict[str, Any]:
    """Draw every figure of a paper; return how many.

    Args:
        paper: file of published numbers, `resources/published/<paper>.yaml`.
        metrics: training metrics, `results/metrics/pretrained/<model>/seed-<n>.jsonl`.
        output_directory: where `<paper>_<figure>.svg` and `.png` go.
    """
    scores, axioms = files.read(), files.read_axioms()
    draw: dict[Drawing, tuple[Callable[[Published, str, Config, Any], Any], Any]] = {
        "loss-curves": (curves.loss_curves, metrics),
        "step-curves": (curves.step_curves, scores),
        "few-shot-curves": (curves.few_shot_curves, scores),
        "series": (curves.series_figure, scores),
        "with-and-without": (curves.with_and_without, scores),
        "importance": (other_figures.importance_bars, axioms.predictors),
        "weight-curves": (other_figures.weight_curves, files.distributions),
    }
    published = load_published(paper)
    for name, printed in published.figures.items():
        figure, source = draw[printed.drawn]
        save(figure(published, name, config, source), output_directory, f"{published.paper}_{name}")
    return {"figures": len(published.figures)}
