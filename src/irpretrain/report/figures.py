"""All figures of the report, as SVG and PNG; and how the report's page shows them."""

import base64
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.papers.published import Drawing, Published, load_published
from irpretrain.report.drawing import heading, reason_of_emptiness
from irpretrain.report.result_files import ResultFiles

# All figures of the report, as SVG and PNG.


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
    from irpretrain.report.curves import (
        compared_curves,
        few_shot_curves,
        loss_curves,
        query_curves,
        step_curves,
    )
    from irpretrain.report.drawing import save
    from irpretrain.report.lineage import Lineage
    from irpretrain.report.other_figures import (
        diagnosis_dots,
        importance_bars,
        sample_counts,
        set_size_figure,
        weight_curves,
        words_figure,
    )
    from irpretrain.report.series import paired_bars, series_figure

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


# The figures as the report's page shows them: pictures inside the page with their captions.


# Ratio of width to height from which a figure takes the page's whole width.
WIDE = 2.2


def figure_views(paper: Published, directory: Path) -> list[dict[str, Any]]:
    """Return what the template needs of each figure of a paper."""
    views = []
    for name in paper.drawings():
        if name in paper.figures:
            figure = paper.figures[name]
            title = heading(paper, figure)
            caption = (
                f"{figure.published} ({paper.location(figure.page, figure.section)}. The paper's curves are printed as "
                "pictures only, so none is copied here.)"
            )
        else:
            title = caption = paper.own_figures[name].caption
        key = f"{paper.paper}_{name}"
        path = directory / f"{key}.svg"
        picture = {"image": svg_uri(path), "wide": _is_wide(path), "reason": reason_of_emptiness(path)}
        views.append({"name": key, "title": title, "caption": caption, **picture})
    return views


def _is_wide(path: Path) -> bool:
    """Whether a picture is so much wider than high (several panels) that half the page is too little for it."""
    size = re.search(r'<svg[^>]*\sviewBox="\S+ \S+ (\S+) (\S+)"', path.read_text(encoding="utf-8"))
    return size is not None and float(size[1]) > WIDE * float(size[2])


def svg_uri(path: Path) -> str:
    """An SVG as a data URI: shown as an image, so nothing inside it can run or reach the network."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            path, f"cannot be read: {error.strerror}", remedy="Run the workflow again."
        ) from None
    if b"<svg" not in content:
        raise InputError(path, "this is not an SVG picture", remedy=MAKE_AGAIN)
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()
