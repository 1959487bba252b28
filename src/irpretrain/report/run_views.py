"""What the report's page says of the run: its data sets, chosen snapshots, tuned first stages and indexes; cost and
counts of each stage, where it was made, licences."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.config.usage import tested_datasets
from irpretrain.corpora.embedded import Asset, read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.errors import MAKE_AGAIN
from irpretrain.given_json import read_given_json
from irpretrain.plan.paths import SELECTION_SCORES, SWEEP_FIGURE
from irpretrain.report.figure_views import svg_uri
from irpretrain.report.lineage import Lineage, Record, flat_counts
from irpretrain.report.naming import dataset_label, first_stage_labels, model_label
from irpretrain.report.sampling_figures import SampleCounts
from irpretrain.report.sweep_figure import NAMES
from irpretrain.retrieval.index_costs import search_shown

JOBS_SHOWN = 40
"""Most outputs of one stage whose counts are listed."""
PREPARED = ("prepare_dataset", "prepare_questions")
SEARCHED = ("search", "search_first_stage", "search_structured", "take_run")
WORTH_A_WARNING = 0.01
"""Share of queries without candidates from which on they are a warning."""
CHOOSING = "select_model"
RESULTS = "results/"
CHOICE = re.compile(SELECTION_SCORES.removeprefix(RESULTS).format(model="([^/]+)", seed=r"(\d+)"))
"""Output of that stage with the choice and all scores, inside the results directory."""
RATIOS = ("terms", "postings", "bytes", "median_ms", "mean_ms")
"""What is also shown as a multiple of the first index's."""


def stages(lineage: Lineage) -> list[dict[str, Any]]:
    """Return one line a stage: jobs, wall time (sum and longest), peak memory and the memory asked for."""
    views = []
    for stage, records in _by_stage(lineage.records).items():
        wall = [record.cost("wall_seconds") for record in records]
        views.append(
            {
                "stage": stage.replace("_", " "),
                "jobs": len(records),
                "wall": sum(wall),
                "longest": max(wall),
                "cpu": sum(record.cost("cpu_seconds") for record in records),
                "memory": max(record.cost("peak_memory_mb") for record in records),
                "asked": max(record.asked("memory_mb") for record in records),
            }
        )
    return sorted(views, key=lambda view: -view["wall"])


def environments(lineage: Lineage) -> list[dict[str, Any]]:
    """Return the distinct (commit, versions, hardware), with the number of outputs made with each."""
    entries: dict[str, dict[str, Any]] = {}
    for record in lineage.records:
        facts = {key: record.content.get(key) or {} for key in ("commit", "versions", "hardware")}
        entry = entries.setdefault(json.dumps(facts, sort_keys=True, default=str), {**facts, "jobs": 0})
        entry["jobs"] += 1
    return sorted(entries.values(), key=lambda entry: -int(entry["jobs"]))


def samples(by_name: Mapping[str, SampleCounts]) -> list[dict[str, Any]]:
    """Return one line a collection and objective whose word sets were sampled."""
    return [
        {
            "name": name,
            "documents": sampled.documents,
            "skipped": ", ".join(
                f"{number:,} {reason.replace('_', ' ')}"
                for reason, number in sampled.skipped.items()
                if number
            ),
            "pairs": sampled.pairs,
            "ties": sampled.ties,
            "words": sampled.words_drawn,
            "outside": sampled.words_outside,
            "share": sampled.words_outside / sampled.words_drawn if sampled.words_drawn else 0.0,
        }
        for name, sampled in by_name.items()
    ]


def counts(lineage: Lineage) -> list[dict[str, Any]]:
    """Return the stages and their outputs' counts, at most JOBS_SHOWN outputs a stage."""
    return [
        {
            "stage": stage.replace("_", " "),
            "jobs": [
                {"output": (record.outputs or [record.path])[0], "counts": list(flat_counts(record.counts))}
                for record in records[:JOBS_SHOWN]
            ],
            "more": max(0, len(records) - JOBS_SHOWN),
        }
        for stage, records in _by_stage(record for record in lineage.records if record.counts).items()
    ]


def _by_stage(records: Iterable[Record]) -> dict[str, list[Record]]:
    by_stage: dict[str, list[Record]] = {}
    for record in records:
        by_stage.setdefault(record.stage, []).append(record)
    return by_stage


def licences(config: Config, manifest: str | Path) -> list[tuple[str, Asset]]:
    """Return the embedded assets in use, with their package and licence."""
    assets = read_manifest(manifest)
    return [(name, assets.asset(name)) for name in used_assets(config)]


@dataclass
class DataLine:
    """A data set's line in the report's head, and its warnings."""

    label: str
    summary: str
    warnings: list[str] = field(default_factory=list)


def data_lines(config: Config, lineage: Lineage) -> list[DataLine]:
    """Return a line for each data set that is tested, from the sidecars of the stages that read and searched it."""
    first_stages = first_stage_labels(config)
    lines: dict[str, DataLine] = {}
    for record in lineage.records:
        if record.stage in PREPARED and "summary" in record.counts:
            name = Path(record.outputs[0]).parent.name
            summary, warnings = record.counts["summary"], list(record.counts["warnings"])
            lines[name] = DataLine(dataset_label(config, name), summary, warnings)
    for record in lineage.records:
        lost, queries = record.counts.get("queries_without_candidates", 0), record.counts.get("queries", 0)
        if record.stage not in SEARCHED or not lost:
            continue
        place = Path(record.outputs[0]).parent
        if (line := lines.get(place.parent.name)) is None:
            continue
        told = f"{first_stages.get(place.name, place.name)} finds no candidate for {lost:,} of {queries:,} queries"
        line.summary += f"; {told}"
        if lost > WORTH_A_WARNING * queries:
            line.warnings.append(f"{told} ({100 * lost / queries:.1f} %): they score 0.")
    return [lines[name] for name in tested_datasets(config) if name in lines]


def selections(config: Config, lineage: Lineage, results: str | Path) -> list[dict[str, Any]]:
    """Return one line a model and seed whose snapshot was chosen on held-out queries.

    Args:
        lineage: sidecars of the run, whose `select_model` stages are looked up.
        results: the directory of results.

    Raises:
        InputError: the file of a choice is no JSON.
    """
    chosen_by = {name: model.select_on for name, model in config.models.items() if model.select_on}
    views = []
    for model, seed, path in _files(lineage, Path(results), list(chosen_by)):
        choosing, choice = chosen_by[model], read_given_json(path, MAKE_AGAIN)
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
    outputs = [output for record in lineage.records if record.stage == CHOOSING for output in record.outputs]
    matches = [match for output in outputs if (match := CHOICE.search(output)) and match[1] in models]
    files = [(match[1], int(match[2]), results / match[0]) for match in matches]
    return sorted(files, key=lambda file: (models.index(file[0]), file[1]))


def tunings(config: Config, sweeps: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return one line a tuned first stage.

    Args:
        sweeps: `results/tuning/<first stage>.json`; the picture is `results/figures/sweep-<first stage>.svg`.

    Raises:
        InputError: a file is no JSON.
    """
    views = []
    for path in map(Path, sweeps):
        stage, tuning = config.first_stages[path.stem], read_given_json(path, MAKE_AGAIN)
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
                "image": svg_uri(
                    path.parents[1] / SWEEP_FIGURE.removeprefix(RESULTS).format(candidates=path.stem)
                ),
            }
        )
    return views


def index_costs(config: Config, costs: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return, for each data set, one line an index with its sizes and query times, and their ratios to the first's.

    Args:
        costs: `results/index_costs/<dataset>.json`.

    Raises:
        InputError: a file is no JSON.
    """
    views = []
    for path in map(Path, costs):
        rows = read_given_json(path, MAKE_AGAIN)
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
