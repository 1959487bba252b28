"""What the report's page says of the run: data sets, tuned first stages, probes, the cost of each stage, licences."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.config import Config
from irpretrain.config.labels import dataset_label, first_stage_labels, listed, model_label
from irpretrain.config.usage import tested_datasets
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.foundation.atomic import read_csv, read_given_json
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.foundation.progress import duration
from irpretrain.report.table_files import pipe_table
from irpretrain.report.table_views import Lineage, Record

PREPARED = ("prepare_dataset", "prepare_questions")
SEARCHED = ("search", "search_first_stage", "search_structured", "take_run")
# Share of queries without candidates from which on they are a warning.
WORTH_A_WARNING = 0.01
FINETUNED = "finetune"
# Data set and model of a fine-tuning, in its output.
FINETUNED_OUTPUT = re.compile(r"runs/([^/]+)/[^/]+/([^/]+)/[^/]+/seed-\d+/fold-")


def stages(lineage: Lineage) -> dict[str, Any]:
    """Return one row per stage, the longest first: jobs, wall time (sum and longest), processor time, peak memory and
    the memory asked for; and what all stages come to."""
    rows: list[tuple[Any, ...]] = []
    for stage, records in _by_stage(lineage.records).items():
        wall = [record.cost("wall_seconds") for record in records]
        cpu = sum(record.cost("cpu_seconds") for record in records)
        memory = max(record.cost("peak_memory_mb") for record in records)
        requested = max(record.requested("memory_mb") for record in records)
        rows.append(
            (stage.replace("_", " "), len(records), sum(wall), max(wall), cpu, memory, requested or "–")
        )
    jobs, wall_all, cpu_all = (sum(row[column] for row in rows) for column in (1, 2, 4))
    return {
        "rows": sorted(rows, key=lambda row: -row[2]),
        "total": ("All", jobs, wall_all, "", cpu_all, "", ""),
        "jobs": jobs,
        "time": duration(wall_all),
    }


def _by_stage(records: Iterable[Record]) -> dict[str, list[Record]]:
    by_stage: dict[str, list[Record]] = {}
    for record in records:
        by_stage.setdefault(record.stage, []).append(record)
    return by_stage


def licences(config: Config, manifest: str | Path) -> list[tuple[str, str, str, str]]:
    assets = read_manifest(manifest)
    used = ((name, assets.asset(name)) for name in used_assets(config))
    return [(name, f"{asset.package} {asset.version}", asset.licence, asset.remark) for name, asset in used]


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
        folder = Path(record.outputs[0]).parent
        if (line := lines.get(folder.parent.name)) is None:
            continue
        stage = first_stages.get(folder.name, folder.name)
        sentence = f"{stage} finds no candidate for {lost:,} of {queries:,} queries"
        line.summary += f"; {sentence}"
        if lost > WORTH_A_WARNING * queries:
            line.warnings.append(f"{sentence} ({100 * lost / queries:.1f} %): they score 0.")
    for name, labels in _below_random(config, lineage).items():
        if name in lines:
            lines[name].warnings.append(
                f"Fine-tuned, {listed(labels)} ranks its own training queries below a random order of their "
                "candidates: do not use these scores."
            )
    return [lines[name] for name in tested_datasets(config) if name in lines]


def _below_random(config: Config, lineage: Lineage) -> dict[str, list[str]]:
    """Return the labels of the models of which a fine-tuning ranks its training queries below a random order, by data
    set."""
    labels: dict[str, dict[str, None]] = {}
    for record in lineage.records:
        if record.stage == FINETUNED and record.counts.get("training_order", {}).get("below_random"):
            match = FINETUNED_OUTPUT.search(record.outputs[0])
            if match is not None:
                dataset, model = match.groups()
                labels.setdefault(dataset, {})[model_label(config, model)] = None
    return {dataset: list(models) for dataset, models in labels.items()}


# Parameter of a first stage → its symbol.
SYMBOLS = {"k1": "k₁", "b": "b", "mu": "μ", "smoothing": "λ"}


def tunings(config: Config, sweeps: Sequence[str | Path]) -> list[tuple[Any, ...]]:
    """Return one row per tuned first stage; InputError for a file that is no JSON."""
    rows = []
    for path in map(Path, sweeps):
        stage, tuning = config.first_stages[path.stem], read_given_json(path, MAKE_AGAIN)
        dataset = f"{dataset_label(config, str(stage.tuned_on))}, {tuning['queries']:,} queries"
        parameters = ", ".join(f"{SYMBOLS[name]} = {value:g}" for name, value in tuning["parameters"].items())
        at_edge = " and ".join(SYMBOLS[name] for name in tuning["at_edge"]) or "no"
        rows.append((stage.label, dataset, parameters, at_edge, tuning["measure"], float(tuning["value"])))
    return rows


# What reports and model cards say of the probe: how accurate a model is on held-out groups, and what it reads.


# Input of PROBE → heading of its column.
INPUTS = {
    "right": "right text",
    "swapped": "swapped text",
    "none": "no text",
    "before": "before training",
}
LEVEL = 0.05
FEW_GROUPS = 20
EXPLAINED = (
    "Share of (preferred, other) pairs of held-out groups that are scored in the right order, with its 95% interval; "
    "0.5 is chance level. The text is what all candidates of a group share (the document of pseudo-queries, the query "
    "of documents): the right one, that of another group, or none. Before training: the right text."
)


class TimeShare(NamedTuple):
    """An accuracy, its interval, and p of its difference from that with the right text; None: nothing was tested."""

    value: float | None
    low: float | None
    high: float | None
    p_value: float | None

    def __str__(self) -> str:
        return "–" if self.value is None else f"{self.value:z.2f} [{self.low:z.2f}, {self.high:z.2f}]"


class ProbedTask(NamedTuple):
    """A task of a model: how many groups were tested, and the accuracy with each input."""

    objective: str
    groups: int
    shares: Mapping[str, TimeShare]

    @property
    def reading(self) -> str:
        """What the accuracies say, in a sentence."""
        right, swapped = self.shares["right"], self.shares["swapped"]
        few = f"Only {count_of(self.groups, 'group')}. " if self.groups < FEW_GROUPS else ""
        if right.value is None or right.low is None or right.high is None:
            return "No held-out group was tested."
        if right.low <= 0.5:
            return f"{few}Not above chance level."
        if swapped.value is None or swapped.p_value is None:
            return f"{few}No text of another document."
        if swapped.p_value <= LEVEL and swapped.value < right.value:
            return f"{few}The text is used (p = {swapped.p_value:.2g})."
        if swapped.value >= right.low:
            return f"{few}This task is solved without the text."
        return f"{few}Undecided whether the text is used."


def read_probe(path: str | Path) -> list[ProbedTask]:
    """Return the tasks of a model's probe, in its order; InputError for a file that is no PROBE."""
    with refusing(path, "this is not a model's probe", MAKE_AGAIN):
        rows = read_csv(path)
        names = dict.fromkeys(row["task"] for row in rows)
        return [_task(name, [row for row in rows if row["task"] == name]) for name in names]


def _task(name: str, rows: Sequence[Mapping[str, str]]) -> ProbedTask:
    numbers = ("accuracy", "low", "high", "p_value")
    shares = {row["input"]: TimeShare(*(float(row[n]) if row[n] else None for n in numbers)) for row in rows}
    (groups,) = (int(row["groups"]) for row in rows if row["input"] == "right")
    return ProbedTask(name.partition("#")[0], groups, {name: shares[name] for name in INPUTS})


def probe_views(config: Config, paths: Sequence[str | Path]) -> list[tuple[Any, ...]]:
    """Return a row for each task of each model and seed that was probed."""
    return [
        (
            model_label(config, path.parent.name),
            int(path.name.partition(".")[0].removeprefix("seed-")),
            task.objective,
            task.groups,
            *(str(task.shares[name]) for name in INPUTS),
            task.reading,
        )
        for path in map(Path, paths)
        for task in read_probe(path)
    ]


def probe_markdown(paths: Sequence[str | Path]) -> str:
    """Return the tasks of probes as a table in Markdown with its explanation; nothing without tasks."""
    tasks = [task for path in paths for task in read_probe(path)]
    heading = ["objective", "groups", *INPUTS.values(), "reading"]
    rows = ([t.objective, str(t.groups), *map(str, t.shares.values()), t.reading] for t in tasks)
    return f"{EXPLAINED}\n\n{pipe_table(heading, rows)}" if tasks else ""
