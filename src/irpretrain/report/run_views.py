"""What the report's page says of the run: cost and counts of each stage, where it was made, licences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.corpora.embedded import Asset, read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.report.lineage import Lineage, flat_counts
from irpretrain.report.sampling_figures import SampleCounts

JOBS_SHOWN = 40
"""Most outputs of one stage whose counts are listed."""


def stages(lineage: Lineage) -> list[dict[str, Any]]:
    """Return one line a stage: jobs, wall time (sum and longest), peak memory and the memory asked for."""
    records_by_stage: dict[str, list[Any]] = {}
    for record in lineage.records:
        records_by_stage.setdefault(record.stage, []).append(record)
    views = []
    for stage, records in records_by_stage.items():
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


def samples(counts: Mapping[str, SampleCounts]) -> list[dict[str, Any]]:
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
        for name, sampled in counts.items()
    ]


def counts(lineage: Lineage) -> list[dict[str, Any]]:
    """Return the stages and their outputs' counts, at most JOBS_SHOWN outputs a stage."""
    records_by_stage: dict[str, list[Any]] = {}
    for record in lineage.records:
        if record.counts:
            records_by_stage.setdefault(record.stage, []).append(record)
    return [
        {
            "stage": stage.replace("_", " "),
            "jobs": [
                {"output": (record.outputs or [record.path])[0], "counts": list(flat_counts(record.counts))}
                for record in records[:JOBS_SHOWN]
            ],
            "more": max(0, len(records) - JOBS_SHOWN),
        }
        for stage, records in records_by_stage.items()
    ]


def licences(config: Config, manifest: str | Path) -> list[tuple[str, Asset]]:
    """Return the embedded assets in use, with their package and licence."""
    assets = read_manifest(manifest)
    return [(name, assets.asset(name)) for name in used_assets(config)]
