"""All figures of the report, as SVG and PNG."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Drawing, Published, load_published
from irpretrain.report import curves, other_figures, series
from irpretrain.report.drawing import save
from irpretrain.report.lineage import Lineage
from irpretrain.report.result_files import ResultFiles


def make_figures(
    papers: Sequence[str | Path],
    config: Config,
    files: ResultFiles,
    metrics: Sequence[str | Path],
    group_sidecars: Sequence[str | Path],
    output_directory: str | Path,
) -> dict[str, Any]:
    """Draw every figure of `papers`; return how many.

    Args:
        papers: files of published numbers, `resources/published/<paper>.yaml`.
        metrics: training metrics, `results/metrics/pretrained/<model>/seed-<n>.jsonl`.
        group_sidecars: sidecars of the groups' shards,
            `results/groups/<collection>/<objective>/<corpus>-<shard>.parquet.meta.json`.
        output_directory: where `<paper>_<figure>.svg` and `.png` go.
    """
    results = files.read()
    counts = other_figures.sample_counts(Lineage.read(group_sidecars).records)
    measured = files.read_axioms()
    draw: dict[Drawing, tuple[Callable[[Published, str, Config, Any], Any], Any]] = {
        "loss-curves": (curves.loss_curves, metrics),
        "step-curves": (curves.step_curves, results),
        "few-shot-curves": (curves.few_shot_curves, results),
        "query-curves": (curves.query_curves, results),
        "compared-curves": (curves.compared_curves, results),
        "series": (series.series_figure, results),
        "paired-bars": (series.paired_bars, results),
        "importance": (other_figures.importance_bars, measured.predictors),
        "diagnosis": (other_figures.diagnosis_dots, measured.diagnoses),
        "weight-curves": (other_figures.weight_curves, files.distributions),
        "set-sizes": (other_figures.set_size_figure, counts),
        "words-outside": (other_figures.words_figure, counts),
    }
    drawn = 0
    for path in papers:
        published = load_published(path)
        for name, kind in published.drawings().items():
            figure, source = draw[kind]
            made = figure(published, name, config, source)
            save(made, output_directory, f"{published.paper}_{name}")
            drawn += 1
    return {"figures": drawn}
