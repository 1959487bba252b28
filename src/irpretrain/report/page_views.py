"""What the report's page shows of tables, and what it says of the run: data sets, tuned first stages, the cost of each
stage, licences."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.config.finetuning import FEWEST_GROUPS
from irpretrain.config.labels import listed, marks_text, quoted
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import used_assets
from irpretrain.foundation.atomic import load_json
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.foundation.progress import duration
from irpretrain.report.cells import Cell, Panel, Row, Table
from irpretrain.report.lineage import Lineage, Record


def displayed_panels(table: Table) -> list[Panel]:
    """Return the panels and rows with a value of ours; all rows where the paper's numbers stand beside ours. Of a
    paper's table, a panel that compares one run with nothing is left out."""
    panels = []
    for panel in filter(Panel.is_filled, table.panels):
        is_printed = any(cell.printed for row in panel.rows for cell in row.cells)
        rows = tuple(row for row in panel.rows if is_printed or row.is_filled())
        is_of_models = bool(table.paper) and table.ledger is not None  # claims are no runs
        if is_printed or not is_of_models or _has_comparison(panel):
            panels.append(replace(panel, rows=rows))
    return panels


def _has_comparison(panel: Panel) -> bool:
    cells = (cell for row in panel.rows for cell in row.cells)
    runs = [cell.ours.run for cell in cells if isinstance(cell, Cell) and cell.ours]
    # The regimes of one model are no comparison: the table is about models.
    return len({(run.dataset, run.candidates, run.model) for run in runs}) != 1


def first_table_note(table: Table, confidence: str) -> str:
    """Return what the numbers, intervals and marks of the first screen's table are."""
    values = [cell.ours for cell in table.cells() if cell.ours]
    measures = {ours.measure for ours in values}
    what = f"{measures.pop()}, mean" if len(measures) == 1 else "Mean"
    marks = "".join(ours.marks for ours in values)
    ending = f" {meaning}." if (meaning := marks_text(marks)) else ""
    return f"{what} with its {confidence} interval; those of differences are in the plot.{ending}"


def left_out(table: Table) -> str:
    """Return what of a table is not on the page, which its files have, in one line; empty for nothing."""
    displayed = displayed_panels(table)
    titles, rows = {panel.title for panel in displayed}, {row for panel in displayed for row in panel.rows}
    texts, names = list[str](), dict[str, None]()
    for panel in table.panels:
        if panel.title in titles:
            names |= dict.fromkeys(quoted(row.short_label) for row in panel.rows if row not in rows)
        else:
            texts.append(f"{panel.title} ({count_of(len(panel.rows), 'row')})")
    return "; ".join(filter(None, [*texts, ", ".join(names)]))


def displayed_letters(table: Table) -> list[tuple[str, str]]:
    """Return (letter, note) of each note on a cell of the page."""
    letters_on_page = replace(table, panels=tuple(displayed_panels(table))).letters
    return [(letter, note) for note, letter in table.letters.items() if note in letters_on_page]


def row_detail(row: Row) -> str:
    """Return what stands in brackets in a row's label, and what fills the row here."""
    _, _, bracket = row.label.partition(" (")
    filled_by = "" if row.filled_by in ("", row.label) else row.filled_by
    filled_text = f"ours: {filled_by}" if filled_by and not filled_by.startswith("ours") else filled_by
    return "; ".join(text for text in (bracket.removesuffix(")"), filled_text) if text)


# The run: data sets, stages, licences, tuned first stages.


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
        wall_seconds = [record.cost("wall_seconds") for record in records]
        cpu_seconds = sum(record.cost("cpu_seconds") for record in records)
        peak_memory = round(max(record.cost("peak_memory_mb") for record in records))
        memory = max(record.requested_memory_mb for record in records) or "–"
        times = (sum(wall_seconds), max(wall_seconds), cpu_seconds)
        rows.append((stage.replace("_", " "), len(records), *times, peak_memory, memory))
    jobs, total_wall_seconds, total_cpu_seconds = (sum(row[column] for row in rows) for column in (1, 2, 4))
    return {
        "rows": sorted(rows, key=lambda row: -row[2]),
        "total": ("All", jobs, total_wall_seconds, "", total_cpu_seconds, "", ""),
        "jobs": jobs,
        "time": duration(total_wall_seconds),
    }


def examples(config: Config, paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return the examples of objectives that have one, and of weightings of words, each with its name and what is
    learnt."""
    views = []
    for path in map(Path, paths):
        content = load_json(path, MAKE_AGAIN)
        with refusing(path, "this is no example of what models learn from", MAKE_AGAIN):
            if "words" in content:
                views.append(_example_of_weighting(config.term_weights[path.stem], content))
            elif content:
                for sequence in content["sequences"][1:]:
                    sequence.update(_shared_sides(sequence, content["sequences"][0]))
                explanation = " ".join((type(config.objectives[path.stem]).__doc__ or "").split())
                views.append({"name": path.stem, "about": explanation, "path": [], "axioms": {}, **content})
    return views


def _example_of_weighting(weighting: TermWeightsConfig, content: Mapping[str, Any]) -> dict[str, Any]:
    counterpart = "relevant query" if weighting.kind == "passages" else "relevant document"
    counterparts_text = count_of(content["judged"], counterpart)
    explanation = f"Target of a word: the share of the text's {counterparts_text} that have the word."
    return {"name": weighting.label, "about": explanation, **content}


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
    first_stages = config.stage_labels
    lines: dict[str, DataLine] = {}
    for record in lineage.records:
        if "summary" in record.counts:  # of a prepared data set
            name = Path(record.outputs[0]).parent.name
            summary, warnings = record.counts["summary"], list(record.counts["warnings"])
            lines[name] = DataLine(config.dataset_label(name), summary, warnings)
    for record in lineage.records:
        lost_queries = record.counts.get("queries_without_candidates", 0)
        if record.stage not in SEARCHED or not lost_queries:
            continue
        folder = Path(record.outputs[0]).parent
        if (line := lines.get(folder.parent.name)) is None:
            continue
        stage, queries = first_stages.get(folder.name, folder.name), record.counts.get("queries", 0)
        sentence = f"{stage} finds no candidate for {lost_queries:,} of {count_of(queries, 'query')}"
        line.summary += f"; {sentence}"
        if lost_queries > WORTH_A_WARNING * queries:
            line.warnings.append(f"{sentence} ({100 * lost_queries / queries:.1f} %): they score 0.")
    finetunings = [
        (*run, record)
        for record in lineage.records
        if record.stage == FINETUNED
        for run in {*FINETUNED_OUTPUT.findall("\n".join(record.outputs))}
    ]
    for name, line in lines.items():
        line.warnings += _finetuning_warnings(
            config,
            [(model, regime, record) for dataset, model, regime, record in finetunings if dataset == name],
        )
    return [lines[name] for name in config.tested_datasets if name in lines]


def _finetuning_warnings(config: Config, finetunings: Sequence[tuple[str, str, Record]]) -> Iterator[str]:
    """Yield warnings on fine-tunings on one data set, each with its model and regime."""
    full = [(model, record) for model, regime, record in finetunings if regime == "full"]
    groups = ((record, record.counts.get("training_groups", FEWEST_GROUPS)) for _, record in full)
    if few_groups := [record for record, count in groups if count < FEWEST_GROUPS]:
        yield few_groups_text(few_groups)
    endings = (
        (
            "nothing_learned",
            "Fine-tuning taught hardly anything, its loss stayed at that of equal scores",
            "A lead over them says little; judge more queries.",
        ),
        (
            "still_learning",
            "The loss was still falling when fine-tuning ended",
            "With more questions or epochs, comparisons with them may end otherwise.",
        ),
    )
    for count, fault, advice in endings:
        if numbers := Counter(model for model, record in full if record.counts.get(count)):
            trainings = [
                f"{config.configured_label(model)} ({count_of(number, 'training')})"
                for model, number in numbers.items()
            ]
            yield f"{fault}: {listed(trainings)}. {advice}"
    orders = ((model, record.counts.get("training_order", {})) for model, _, record in finetunings)
    if models := dict.fromkeys(
        config.model_label(model) for model, order in orders if order.get("below_random")
    ):
        yield (
            f"Fine-tuned, {listed(list(models))} ranks its own training queries below a random order of their "
            "candidates: do not use these scores."
        )


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
        stage, tuning = config.first_stages[path.stem], load_json(path, MAKE_AGAIN)
        dataset = f"{config.dataset_label(str(stage.tuned_on))}, {count_of(tuning['queries'], 'query')}"
        parameters = ", ".join(f"{SYMBOLS[name]} = {value:g}" for name, value in tuning["parameters"].items())
        at_edge = " and ".join(SYMBOLS[name] for name in tuning["at_edge"]) or "no"
        rows.append((stage.label, dataset, parameters, at_edge, tuning["measure"], float(tuning["value"])))
    return rows
