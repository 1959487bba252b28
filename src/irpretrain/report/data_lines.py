"""What the tested data sets hold and what of it does not count, as the stages that read them said."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from irpretrain.config import Config
from irpretrain.config.usage import tested_datasets
from irpretrain.report.lineage import Lineage
from irpretrain.report.naming import dataset_label, first_stage_labels

PREPARED = ("prepare_dataset", "prepare_questions")
SEARCHED = ("search", "search_first_stage", "search_structured", "take_run")
WORTH_A_WARNING = 0.01
"""Share of queries without candidates from which on they are a warning."""


@dataclass
class DataLine:
    """A data set's line in the report's head, and its warnings."""

    label: str
    summary: str
    warnings: list[str] = field(default_factory=list)


def data_lines(config: Config, lineage: Lineage) -> list[DataLine]:
    """Return a line for each data set that is tested, from the sidecars of the stages that read and searched it."""
    stages = first_stage_labels(config)
    lines: dict[str, DataLine] = {}
    for record in lineage.records:
        if record.stage in PREPARED and "summary" in record.counts:
            name = Path(record.outputs[0]).parent.name
            counts = record.counts
            lines[name] = DataLine(dataset_label(config, name), counts["summary"], list(counts["warnings"]))
    for record in lineage.records:
        lost, queries = record.counts.get("queries_without_candidates", 0), record.counts.get("queries", 0)
        if record.stage not in SEARCHED or not lost:
            continue
        place = Path(record.outputs[0]).parent
        if (line := lines.get(place.parent.name)) is None:
            continue
        told = f"{stages.get(place.name, place.name)} finds no candidate for {lost:,} of {queries:,} queries"
        line.summary += f"; {told}"
        if lost > WORTH_A_WARNING * queries:
            line.warnings.append(f"{told} ({100 * lost / queries:.1f} %): they score 0.")
    return [lines[name] for name in tested_datasets(config) if name in lines]
