"""What the report's page says of first stages: parameters that were tuned, and what indexes cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.given_json import read_given_json
from irpretrain.report.figure_views import svg_uri
from irpretrain.report.naming import dataset_label, first_stage_labels
from irpretrain.report.sweep_figure import NAMES
from irpretrain.retrieval.index_table import search_shown

REMEDY = "Delete it and run the workflow again."
RATIOS = ("terms", "postings", "bytes", "median_ms", "mean_ms")
"""What is also shown as a multiple of the first index's."""


def tunings(config: Config, sweeps: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return one line a tuned first stage.

    Args:
        config: the configuration.
        sweeps: `results/tuning/<first stage>.json`; the picture is `results/figures/sweep-<first stage>.svg`.

    Raises:
        InputError: a file is not what tuning writes.
    """
    views = []
    for path in map(Path, sweeps):
        stage, tuning = config.first_stages[path.stem], read_given_json(path, REMEDY)
        chosen = tuning["parameters"].items()
        views.append(
            {
                "label": first_stage_labels(config)[path.stem],
                "dataset": dataset_label(config, str(stage.tuned_on)),
                "queries": tuning["queries"],
                "measure": tuning["measure"],
                "value": tuning["value"],
                "parameters": ", ".join(f"{NAMES[name]} = {value:g}" for name, value in chosen),
                "at_edge": " and ".join(NAMES[name] for name in tuning["at_edge"]),
                "image": svg_uri(path.parents[1] / "figures" / f"sweep-{path.stem}.svg"),
            }
        )
    return views


def index_costs(config: Config, costs: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return, for each data set, one line an index with its sizes and query times, and their ratios to the first's.

    Args:
        config: the configuration.
        costs: `results/index_costs/<dataset>.json`.

    Raises:
        InputError: a file is not what measuring indexes writes.
    """
    views = []
    for path in map(Path, costs):
        rows = read_given_json(path, REMEDY)
        first = rows[0]
        for row in rows:
            row["search"] = search_shown(row)
            row["ratios"] = {name: _ratio(row, first, name) for name in RATIOS}
        views.append(
            {
                "dataset": dataset_label(config, path.stem),
                "first": first["index"],
                "queries": max(row["queries"] for row in rows),
                "rows": rows,
            }
        )
    return views


def _ratio(row: dict[str, Any], first: dict[str, Any], name: str) -> float | None:
    is_comparable = row is not first and row[name] is not None and first[name]
    return row[name] / first[name] if is_comparable else None
