"""What reports and model cards say of the probe: how accurate a model is on held-out groups, and what it reads."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.config import Config
from irpretrain.evaluation.significance import bounds_text
from irpretrain.foundation.atomic import read_csv
from irpretrain.foundation.errors import MAKE_AGAIN, count_of, refusing
from irpretrain.report.table_files import pipe_table

# Input of PROBE → heading of its column.
INPUT_HEADINGS = {
    "right": "right text",
    "swapped": "swapped text",
    "none": "no text",
    "before": "before training",
}
SIGNIFICANCE_LEVEL = 0.05
FEW_GROUPS = 20
EXPLANATION = (
    "Share of (preferred, other) pairs of held-out groups that are scored in the right order, with its 95% interval; "
    "0.5 is chance level. The text is what all candidates of a group share (the document of pseudo-queries, the query "
    "of documents): the right one, that of another group, or none. Before training: the right text."
)


class ProbeAccuracy(NamedTuple):
    """An accuracy, its interval, and p of its difference from that with the right text; NaN: nothing was tested."""

    value: float
    low: float
    high: float
    p_value: float

    def __str__(self) -> str:
        return "–" if math.isnan(self.value) else f"{self.value:z.3f} {bounds_text(self.low, self.high)}"


class ProbedTask(NamedTuple):
    """A task of a model: how many groups were tested, and the accuracy with each input."""

    objective: str
    groups: int
    accuracies: Mapping[str, ProbeAccuracy]

    @property
    def reading(self) -> str:
        """What the accuracies say, in a sentence."""
        right, swapped = self.accuracies["right"], self.accuracies["swapped"]
        few_note = f"Only {count_of(self.groups, 'group')}. " if self.groups < FEW_GROUPS else ""
        if math.isnan(right.value):
            return "No held-out group was tested."
        if right.low <= 0.5:
            return f"{few_note}Not above chance level."
        if math.isnan(swapped.value):
            return f"{few_note}No text of another document."
        if swapped.p_value <= SIGNIFICANCE_LEVEL and swapped.value < right.value:
            return f"{few_note}The text is used (p = {swapped.p_value:.2g})."
        if swapped.value >= right.low:
            return f"{few_note}This task is solved without the text."
        return f"{few_note}Undecided whether the text is used."


def read_probe(path: str | Path) -> list[ProbedTask]:
    """Return the tasks of a model's probe, in its order; InputError for a file that is no PROBE."""
    with refusing(path, "this is not a model's probe", MAKE_AGAIN):
        rows = read_csv(path)
        names = dict.fromkeys(row["task"] for row in rows)
        return [_probed_task(name, [row for row in rows if row["task"] == name]) for name in names]


def _probed_task(name: str, rows: Sequence[Mapping[str, str]]) -> ProbedTask:
    accuracies = {}
    for row in rows:
        numbers = (row[column] for column in ("accuracy", "low", "high", "p_value"))
        accuracies[row["input"]] = ProbeAccuracy(*(float(number or "nan") for number in numbers))
    (groups,) = (int(row["groups"]) for row in rows if row["input"] == "right")
    return ProbedTask(name.partition("#")[0], groups, {name: accuracies[name] for name in INPUT_HEADINGS})


def probe_views(config: Config, paths: Sequence[str | Path]) -> list[tuple[Any, ...]]:
    """Return a row for each task of each model and seed that was probed."""
    return [
        (
            config.model_label(path.parent.name),
            int(path.name.partition(".")[0].removeprefix("seed-")),
            task.objective,
            task.groups,
            *(str(task.accuracies[name]) for name in INPUT_HEADINGS),
            task.reading,
        )
        for path in map(Path, paths)
        for task in read_probe(path)
    ]


def probe_markdown(paths: Sequence[str | Path]) -> str:
    """Return the tasks of probes as a table in Markdown with its explanation; nothing without tasks."""
    tasks = [task for path in paths for task in read_probe(path)]
    heading = ["objective", "groups", *INPUT_HEADINGS.values(), "reading"]
    rows = (
        [task.objective, str(task.groups), *map(str, task.accuracies.values()), task.reading]
        for task in tasks
    )
    return f"{EXPLANATION}\n\n{pipe_table(heading, rows)}" if tasks else ""
