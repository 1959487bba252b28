"""What the report's page shows of tables and cells, what its provenance dialog says of each value of ours, and what the
page says of the run: data sets, tuned first stages, probes, the cost of each stage, licences."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from irpretrain.config import Config
from irpretrain.config.finetuning import FEWEST_GROUPS
from irpretrain.config.labels import (
    configured_label,
    dataset_label,
    first_stage_labels,
    listed,
    model_label,
    regime_label,
)
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.usage import tested_datasets
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.significance import bounds_text
from irpretrain.foundation.atomic import read_csv, read_given_json
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.foundation.progress import duration
from irpretrain.foundation.provenance import read_record
from irpretrain.report.cells import Cell, Ours, Panel, Row, Table, difference_text, p_text, value_text
from irpretrain.report.scores import RunName
from irpretrain.report.table_files import pipe_table

# Where a number comes from: the sidecars of all stages, joined by the files that one makes and another reads.


@dataclass(frozen=True)
class Record:
    path: str
    content: dict[str, Any]

    @property
    def stage(self) -> str:
        return str(self.content.get("stage", ""))

    @property
    def outputs(self) -> list[str]:
        return list(self.content.get("outputs", {}))

    @property
    def counts(self) -> dict[str, Any]:
        """What it read, skipped and made."""
        return dict(self.content.get("counts", {}))

    def cost(self, key: str) -> float:
        """wall_seconds, cpu_seconds or peak_memory_mb; 0 where it was not recorded."""
        return float(self.content.get("cost", {}).get(key, 0) or 0)

    def requested(self, key: str) -> int:
        """What it asked the scheduler for, threads or memory_mb; 0 where it was not recorded."""
        return int(self.content.get("cost", {}).get("asked", {}).get(key, 0) or 0)


class Lineage:
    """All records, and which of them made a file."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self._maker = {output: i for i, record in enumerate(self.records) for output in record.outputs}

    @classmethod
    def read(cls, sidecars: Iterable[str | Path]) -> Lineage:
        records = []
        for path in sorted(map(str, sidecars)):
            with refusing(path, "this is not a sidecar", "Delete it with its output and run again."):
                records.append(Record(path, read_record(path)))
        return cls(records)

    def maker(self, path: str) -> int | None:
        """Return the number of the record that made `path`, or the directory it lies in; None if unknown."""
        for candidate in (path, *(str(parent) for parent in PurePosixPath(path).parents)):
            if candidate in self._maker:
                return self._maker[candidate]
        return None

    def runs(self, run: RunName, seeds: Sequence[int]) -> list[int]:
        """Return the records of the files of one run, all folds and seeds."""
        if run.regime == FIRST_STAGE:
            stems = [f"/runs/{run.dataset}/{run.model}/first-stage."]
        else:
            base = f"/runs/{run.dataset}/{run.candidates}/{run.model}/{run.regime}/seed-"
            stems = [f"{base}{seed}{end}" for seed in seeds for end in "./"]
        makers = {i for output, i in self._maker.items() if any(stem in f"/{output}" for stem in stems)}
        return sorted(makers)

    def sources(self, number: int) -> list[int]:
        """Return the records that made the inputs of record `number`."""
        makers = (self.maker(path) for path in self.records[number].content.get("inputs", {}))
        return sorted({maker for maker in makers if maker is not None and maker != number})

    def reachable(self, numbers: Iterable[int]) -> list[int]:
        """Return the records that lead to `numbers`, themselves included."""
        pending, reached = list(numbers), set()
        while pending:
            number = pending.pop()
            if number not in reached:
                reached.add(number)
                pending += self.sources(number)
        return sorted(reached)

    def leading_to(self, paths: Iterable[str]) -> Lineage:
        makers = (self.maker(path) for path in paths)
        return Lineage([self.records[i] for i in self.reachable(m for m in makers if m is not None)])

    def payload(self, numbers: Iterable[int], most_bytes: int) -> dict[str, Any]:
        """Return the records as plain values for the report's page.

        Versions and hardware, which many records share, are listed once. Where the whole would be larger than
        `most_bytes`, inputs are left out; the sidecars hold everything.
        """
        environments: dict[str, dict[str, Any]] = {}
        records = {}
        for number in numbers:
            record, content = self.records[number], self.records[number].content
            environment = {key: content.get(key) or {} for key in ("commit", "versions", "hardware")}
            key = json.dumps(environment, sort_keys=True)
            environments.setdefault(key, environment)
            records[number] = {
                "stage": record.stage,
                "sidecar": record.path,
                "outputs": list(content.get("outputs", {}).items()),
                "inputs": list(content.get("inputs", {}).items()),
                "sources": self.sources(number),
                "hash": content.get("parameters_hash", ""),
                "seed": content.get("parameters", {}).get("seed"),
                "counts": record.counts,
                "cost": content.get("cost", {}),
                "environment": list(environments).index(key),
            }
        payload = {"records": records, "environments": list(environments.values()), "left_out": False}
        if len(json.dumps(payload)) > most_bytes:
            without_inputs = {number: {**record, "inputs": []} for number, record in records.items()}
            payload |= {"records": without_inputs, "left_out": True}
        return payload


class CellBook:
    """Numbers the cells of ours and collects what their provenance dialog shows."""

    def __init__(self, config: Config, lineage: Lineage) -> None:
        self._config, self._lineage = config, lineage
        self.cells: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, Ours], int] = {}

    def number(self, table: Table, cell: Cell, ours: Ours) -> int:
        key = (table.name, ours)
        if key not in self._numbers:
            self._numbers[key] = len(self.cells)
            self.cells.append(self._entry(cell, ours))
        return self._numbers[key]

    def _entry(self, cell: Cell, ours: Ours) -> dict[str, Any]:
        run = ours.run
        if ours.source:
            facts = [("Model", run.model), ("Data", run.dataset), ("File", ours.source)]
        else:
            facts = [
                ("Model", model_label(self._config, run.model)),
                ("Data set", dataset_label(self._config, run.dataset, run.candidates)),
                ("Regime", regime_label(run.regime)),
            ]
        facts += [
            ("Measure", ours.measure),
            ("Value", value_text(ours, marks=False)),
            (ours.counted.capitalize(), f"{ours.queries:,}"),
        ]
        if run.regime == FIRST_STAGE:
            facts.append(("Seeds", "none: nothing is trained"))
        elif ours.seeds:
            facts.append(("Seeds", ", ".join(str(seed) for seed in ours.seeds)))
        if cell.published is not None:
            facts.append(("Published", cell.published.printed))
        facts += [
            (f"Against {c.over}", f"{difference_text(c.difference)}, {p_text(c.p)}") for c in ours.comparisons
        ]
        if cell.difference is not None:
            facts.append(("Ours minus published", difference_text(cell.difference)))
        if cell.note:
            facts.append(("Note", cell.note))
        if not ours.source:
            return {"facts": facts, "runs": self._lineage.runs(run, ours.seeds)}
        maker = self._lineage.maker(ours.source)
        return {"facts": facts, "runs": [] if maker is None else [maker]}

    def reachable(self) -> list[int]:
        """Return every record that leads to a cell."""
        return self._lineage.reachable(number for cell in self.cells for number in cell["runs"])


def displayed_panels(table: Table) -> list[Panel]:
    """Return the panels and rows with a value of ours; all rows where the paper's numbers stand beside ours."""
    panels = []
    for panel in filter(Panel.is_filled, table.panels):
        is_printed = any(cell.printed for row in panel.rows for cell in row.cells)
        panels.append(replace(panel, rows=tuple(row for row in panel.rows if is_printed or row.is_filled())))
    return panels


def left_out(table: Table) -> str:
    """Return what of a table is not on the page, which its files have, in one line; empty for nothing."""
    unfilled_panels = [
        f"{panel.title} ({count_of(len(panel.rows), 'row')})"
        for panel in table.panels
        if not panel.is_filled()
    ]
    displayed_rows = {row for panel in displayed_panels(table) for row in panel.rows}
    rows = (
        row for panel in table.panels if panel.is_filled() for row in panel.rows if row not in displayed_rows
    )
    names = ", ".join(dict.fromkeys(row.short_label for row in rows))
    return "; ".join(filter(None, [*unfilled_panels, names]))


def displayed_letters(table: Table) -> list[tuple[str, str]]:
    """Return (letter, note) of each note on a cell of the page."""
    letters_on_page = replace(table, panels=tuple(displayed_panels(table))).letters
    return [(letter, note) for note, letter in table.letters.items() if note in letters_on_page]


def row_detail(row: Row) -> str:
    """Return what stands in brackets in a row's label, and what fills the row here."""
    _, _, bracket = row.label.partition(" (")
    filled_by = "" if row.filled_by in ("", row.label) else row.filled_by
    own_text = f"ours: {filled_by}" if filled_by and not filled_by.startswith("ours") else filled_by
    return "; ".join(text for text in (bracket.removesuffix(")"), own_text) if text)


# The run: data sets, stages, licences, tuned first stages, probes.


PREPARED = ("prepare_dataset", "prepare_questions")
SEARCHED = ("search", "search_first_stage", "search_structured", "take_run")
# Share of queries without candidates from which on they are a warning.
WORTH_A_WARNING = 0.01
FINETUNED = "finetune"
# Data set, model and regime of a fine-tuning, in its output.
FINETUNED_OUTPUT = re.compile(r"runs/([^/]+)/[^/]+/([^/]+)/([^/]+)/seed-\d+/fold-")


def stages(lineage: Lineage) -> dict[str, Any]:
    """Return one row per stage, the longest first: jobs, wall time (sum and longest), processor time, peak memory and
    the memory asked for; and what all stages come to."""
    by_stage: dict[str, list[Record]] = {}
    for record in lineage.records:
        by_stage.setdefault(record.stage, []).append(record)
    rows: list[tuple[Any, ...]] = []
    for stage, records in by_stage.items():
        wall = [record.cost("wall_seconds") for record in records]
        cpu = sum(record.cost("cpu_seconds") for record in records)
        memory = max(record.cost("peak_memory_mb") for record in records)
        requested_memory = max(record.requested("memory_mb") for record in records)
        rows.append(
            (
                stage.replace("_", " "),
                len(records),
                sum(wall),
                max(wall),
                cpu,
                memory,
                requested_memory or "–",
            )
        )
    jobs, wall_all, cpu_all = (sum(row[column] for row in rows) for column in (1, 2, 4))
    return {
        "rows": sorted(rows, key=lambda row: -row[2]),
        "total": ("All", jobs, wall_all, "", cpu_all, "", ""),
        "jobs": jobs,
        "time": duration(wall_all),
    }


def examples(config: Config, paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return the examples of objectives that have one, and of weightings of words, each with its name and what is
    learnt."""
    views = []
    for path in map(Path, paths):
        content = read_given_json(path, MAKE_AGAIN)
        with refusing(path, "this is no example of what models learn from", MAKE_AGAIN):
            if "words" in content:
                views.append(_example_of_weighting(config.term_weights[path.stem], content))
            elif content:
                for sequence in content["sequences"][1:]:
                    sequence.update(_shared_sides(sequence, content["sequences"][0]))
                about = " ".join((type(config.objectives[path.stem]).__doc__ or "").split())
                views.append({"name": path.stem, "about": about, "path": [], "axioms": {}, **content})
    return views


def _example_of_weighting(weighting: TermWeightsConfig, content: Mapping[str, Any]) -> dict[str, Any]:
    other = "relevant query" if weighting.kind == "passages" else "relevant document"
    judged = count_of(content["judged"], other)
    about = f"Target of a word: the share of the text's {judged} that have the word."
    return {"name": weighting.label, "about": about, **content}


def _shared_sides(sequence: Mapping[str, Any], preferred: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the sides of a sequence whose text, whatever its anchor, is that of the preferred one, as empty."""

    def text(group_sequence: Mapping[str, Any], side: str) -> str:
        return "".join("".join(text_part for text_part, _ in group_sequence[side]).split())

    return {side: [] for side in ("query", "document") if text(sequence, side) == text(preferred, side)}


def last_day(lineage: Lineage) -> str:
    """Return the day on which the last stage began, in UTC, such as 2026-11-28; empty where no stage says when."""
    last_start = max((record.cost("started") for record in lineage.records), default=0.0)
    return f"{datetime.fromtimestamp(last_start, UTC):%Y-%m-%d}" if last_start else ""


def licences(config: Config, manifest: str | Path) -> list[tuple[str, str, str, str]]:
    assets = read_manifest(manifest)
    named_assets = ((name, assets.asset(name)) for name in used_assets(config))
    return [
        (name, f"{asset.package} {asset.version}", asset.licence, asset.remark)
        for name, asset in named_assets
    ]


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
    below_random: list[tuple[str, str]] = []
    still_learning: dict[str, list[str]] = {}  # data set → names of models
    few_groups: dict[str, list[Record]] = {}
    for record in lineage.records:
        for dataset, model, regime in {*FINETUNED_OUTPUT.findall("\n".join(record.outputs))}:
            if record.stage != FINETUNED:
                continue
            if record.counts.get("training_order", {}).get("below_random"):
                below_random.append((dataset, model))
            if regime == "full" and record.counts.get("still_learning"):
                still_learning.setdefault(dataset, []).append(model)
            groups = record.counts.get("training_groups", FEWEST_GROUPS)
            if regime == "full" and groups < FEWEST_GROUPS:
                few_groups.setdefault(dataset, []).append(record)
        lost_queries, queries = (
            record.counts.get("queries_without_candidates", 0),
            record.counts.get("queries", 0),
        )
        if record.stage not in SEARCHED or not lost_queries:
            continue
        folder = Path(record.outputs[0]).parent
        if (line := lines.get(folder.parent.name)) is None:
            continue
        stage = first_stages.get(folder.name, folder.name)
        sentence = f"{stage} finds no candidate for {lost_queries:,} of {queries:,} queries"
        line.summary += f"; {sentence}"
        if lost_queries > WORTH_A_WARNING * queries:
            line.warnings.append(f"{sentence} ({100 * lost_queries / queries:.1f} %): they score 0.")
    for name, line in lines.items():
        if few_group_records := few_groups.get(name):
            line.warnings.append(few_groups_text(few_group_records))
        if unfinished := Counter(still_learning.get(name, [])):
            trainings = [
                f"{configured_label(config, model)} ({count_of(number, 'training')})"
                for model, number in unfinished.items()
            ]
            line.warnings.append(
                f"The loss was still falling when fine-tuning ended: {listed(trainings)}. With more questions or "
                "epochs, comparisons with them may end otherwise."
            )
        models = dict.fromkeys(
            model_label(config, model) for dataset, model in below_random if dataset == name
        )
        if models:
            line.warnings.append(
                f"Fine-tuned, {listed(list(models))} ranks its own training queries below a random order of their "
                "candidates: do not use these scores."
            )
    return [lines[name] for name in tested_datasets(config) if name in lines]


def few_groups_text(records: Sequence[Record]) -> str:
    """Return a warning on fine-tunings that learned from fewer than `FEWEST_GROUPS` groups."""
    ranges = []
    for key, unit in (("training_groups", "group"), ("steps", "optimiser step")):
        # Results of earlier code have no number of steps.
        counts = sorted({record.counts[key] for record in records if key in record.counts})
        if counts:
            range_text = f"{counts[0]:,} to {count_of(counts[-1], unit)}"
            ranges.append(range_text if len(counts) > 1 else count_of(counts[0], unit))
    return (
        f"Fine-tuned on {' in '.join(ranges)} only: from fewer than {FEWEST_GROUPS} groups (relevant documents of "
        "training queries) a model is not shown to learn. Compare the zero-shot rows, or judge more queries."
    )


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
        if self.value is None or self.low is None or self.high is None:
            return "–"
        return f"{self.value:z.3f} {bounds_text(self.low, self.high)}"


class ProbedTask(NamedTuple):
    """A task of a model: how many groups were tested, and the accuracy with each input."""

    objective: str
    groups: int
    shares: Mapping[str, TimeShare]

    @property
    def reading(self) -> str:
        """What the accuracies say, in a sentence."""
        right_text, swapped_text = self.shares["right"], self.shares["swapped"]
        few_note = f"Only {count_of(self.groups, 'group')}. " if self.groups < FEW_GROUPS else ""
        if right_text.value is None or right_text.low is None or right_text.high is None:
            return "No held-out group was tested."
        if right_text.low <= 0.5:
            return f"{few_note}Not above chance level."
        if swapped_text.value is None or swapped_text.p_value is None:
            return f"{few_note}No text of another document."
        if swapped_text.p_value <= LEVEL and swapped_text.value < right_text.value:
            return f"{few_note}The text is used (p = {swapped_text.p_value:.2g})."
        if swapped_text.value >= right_text.low:
            return f"{few_note}This task is solved without the text."
        return f"{few_note}Undecided whether the text is used."


def read_probe(path: str | Path) -> list[ProbedTask]:
    """Return the tasks of a model's probe, in its order; InputError for a file that is no PROBE."""
    with refusing(path, "this is not a model's probe", MAKE_AGAIN):
        rows = read_csv(path)
        names = dict.fromkeys(row["task"] for row in rows)
        return [_task(name, [row for row in rows if row["task"] == name]) for name in names]


def _task(name: str, rows: Sequence[Mapping[str, str]]) -> ProbedTask:
    number_columns = ("accuracy", "low", "high", "p_value")
    shares = {
        row["input"]: TimeShare(*(float(row[n]) if row[n] else None for n in number_columns)) for row in rows
    }
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
