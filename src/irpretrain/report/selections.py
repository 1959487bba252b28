"""Models that are a chosen snapshot of their pre-training: on what it was chosen, and how every snapshot scored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.given_json import read_given_json
from irpretrain.report.lineage import Lineage
from irpretrain.report.naming import dataset_label, model_label

STAGE = "select_model"
SCORES = re.compile(r"metrics/selected/([^/]+)/seed-(\d+)\.json")
"""Output of the stage with the choice and all scores, inside the results directory."""


def selections(config: Config, lineage: Lineage, results: str | Path) -> list[dict[str, Any]]:
    """Return one line a model and seed whose snapshot was chosen on held-out queries.

    Args:
        config: the configuration; says on which data set.
        lineage: sidecars of the run, whose `select_model` stages are looked up.
        results: the results directory.

    Raises:
        InputError: the file of a choice cannot be read.
    """
    chosen_by = {name: model.select_on for name, model in config.models.items() if model.select_on}
    views = []
    for model, seed, path in _files(lineage, Path(results), list(chosen_by)):
        choosing, choice = chosen_by[model], read_given_json(path)
        chosen = choice["chosen"]["step"]
        views.append(
            {
                "model": model_label(config, model),
                "seed": seed,
                "dataset": dataset_label(config, choosing.dataset, choosing.candidates),
                "measure": choice["measure"],
                "queries": choice["queries"],
                "chosen": chosen,
                "scores": [
                    (score["step"], score["score"], score["step"] == chosen) for score in choice["scores"]
                ],
            }
        )
    return views


def _files(lineage: Lineage, results: Path, models: Sequence[str]) -> list[tuple[str, int, Path]]:
    """Model, seed and file of every choice, in the order of `models` and seeds."""
    outputs = [output for record in lineage.records if record.stage == STAGE for output in record.outputs]
    matches = [match for output in outputs if (match := SCORES.search(output)) and match[1] in models]
    files = [(match[1], int(match[2]), results / match[0]) for match in matches]
    return sorted(files, key=lambda file: (models.index(file[0]), file[1]))
