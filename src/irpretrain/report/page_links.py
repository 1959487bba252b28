"""Links from the report to what lies beside it: pages of queries, tables of scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from irpretrain.config import Config
from irpretrain.config.query_pages import ShownRankingConfig
from irpretrain.report.naming import dataset_label, first_stage_labels, regime_label


def address(path: str | Path, report: str | Path) -> str:
    """Return what leads from the report's folder to a file."""
    return Path(os.path.relpath(path, Path(report).parent)).as_posix()


def page_views(config: Config, pages: Sequence[str | Path], report: str | Path) -> list[dict[str, str]]:
    """Return address, title and description of each page; addresses lead from the report's folder to the file."""
    return [
        {
            "address": address(path, report),
            "title": " and ".join(
                _label(config, shown)
                for shown in (config.query_pages[name].left, config.query_pages[name].right)
            ),
            "dataset": dataset_label(
                config, config.query_pages[name].dataset, config.query_pages[name].candidates
            ),
        }
        for path in pages
        for name in (Path(path).stem,)
    ]


def _label(config: Config, shown: ShownRankingConfig) -> str:
    stages = first_stage_labels(config)
    if shown.model in stages:
        return stages[shown.model]
    return f"{config.models[shown.model].label} ({regime_label(shown.regime or 'zero-shot')})"
