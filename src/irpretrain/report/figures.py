"""All figures of the report, as SVG and PNG."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.papers.published import Drawing, Published, load_published
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
    from irpretrain.report.axiom_figures import diagnosis_dots, importance_bars
    from irpretrain.report.canvas import save
    from irpretrain.report.curves import loss_curves, step_curves
    from irpretrain.report.few_shot import compared_curves, few_shot_curves, query_curves
    from irpretrain.report.lineage import Lineage
    from irpretrain.report.paired_bars import paired_bars
    from irpretrain.report.sampling_figures import sample_counts, set_size_figure, words_figure
    from irpretrain.report.series import series_figure
    from irpretrain.report.weight_curves import weight_curves

    results = files.read()
    counts = sample_counts(Lineage.read(group_sidecars).records)
    measured = files.read_axioms()
    draw: dict[Drawing, Callable[[Published, str], Any]] = {
        "loss-curves": lambda published, name: loss_curves(published, name, config, metrics),
        "step-curves": lambda published, name: step_curves(published, name, config, results),
        "few-shot-curves": lambda published, name: few_shot_curves(published, name, config, results),
        "query-curves": lambda published, name: query_curves(published, name, config, results),
        "compared-curves": lambda published, name: compared_curves(published, name, config, results),
        "series": lambda published, name: series_figure(published, name, config, results),
        "paired-bars": lambda published, name: paired_bars(published, name, config, results),
        "importance": lambda published, name: importance_bars(published, name, config, measured.predictors),
        "diagnosis": lambda published, name: diagnosis_dots(published, config, measured.diagnoses),
        "weight-curves": lambda published, name: weight_curves(published, name, config, files.distributions),
        "set-sizes": lambda published, name: set_size_figure(counts, published.name),
        "words-outside": lambda published, name: words_figure(counts, published.name),
    }
    drawn = 0
    for path in papers:
        published = load_published(path)
        for name, kind in published.drawings().items():
            save(draw[kind](published, name), output_directory, f"{published.paper}_{name}")
            drawn += 1
    return {"figures": drawn}
