"""What reports and model cards say of the probe: how accurate a model is on held-out groups, and what it reads."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.config import Config
from irpretrain.contracts import PROBE
from irpretrain.errors import MAKE_AGAIN, InputError
from irpretrain.report.naming import model_label

INPUTS = {
    "right": "right text",
    "swapped": "swapped text",
    "none": "no text",
    "candidates": "candidates alone",
    "before": "before training",
}
"""Input of PROBE → heading of its column."""
LEVEL = 0.05
FEW_GROUPS = 20
EXPLAINED = (
    "Share of (preferred, other) pairs of held-out groups that are scored in the right order, with its 95% interval; "
    "0.5 is chance level. The text is what all candidates of a group share (the document of pseudo-queries, the query "
    "of documents): the right one, that of another group, or none. Candidates alone: a logistic model of their words "
    "and lengths. Before training: the right text."
)


class Share(NamedTuple):
    """An accuracy, its interval, and p of its difference from that with the right text; None: nothing was tested."""

    value: float | None
    low: float | None
    high: float | None
    p_value: float | None

    def __str__(self) -> str:
        return "–" if self.value is None else f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


class ProbedTask(NamedTuple):
    """A task of a model: how many groups were tested, and the accuracy with each input."""

    objective: str
    groups: int
    shares: Mapping[str, Share]

    @property
    def reading(self) -> str:
        """What the accuracies say, in a sentence."""
        right, swapped = self.shares["right"], self.shares["swapped"]
        few = (
            f"Only {self.groups} group{'' if self.groups == 1 else 's'}. " if self.groups < FEW_GROUPS else ""
        )
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
    """Return the tasks of a model's probe, in its order.

    Raises:
        InputError: the file is no PROBE.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            if reader.fieldnames != [column.name for column in PROBE.columns]:
                raise ValueError(f"columns {reader.fieldnames}")
            names = dict.fromkeys(row["task"] for row in rows)
            return [_task(name, [row for row in rows if row["task"] == name]) for name in names]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(path, f"this is not a model's probe: {error}", remedy=MAKE_AGAIN) from None


def _task(name: str, rows: Sequence[Mapping[str, str]]) -> ProbedTask:
    numbers = ("accuracy", "low", "high", "p_value")
    shares = {row["input"]: Share(*(float(row[n]) if row[n] else None for n in numbers)) for row in rows}
    (groups,) = (int(row["groups"]) for row in rows if row["input"] == "right")
    return ProbedTask(name.partition("#")[0], groups, {name: shares[name] for name in INPUTS})


def probe_views(config: Config, paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return a line for each task of each model and seed that was probed.

    Args:
        paths: `results/metrics/pretrained/<model>/seed-<n>.probe.csv`.
    """
    return [
        {
            "model": model_label(config, path.parent.name),
            "seed": path.name.partition(".")[0].removeprefix("seed-"),
            "objective": task.objective,
            "groups": task.groups,
            "shares": [task.shares[name] for name in INPUTS],
            "reading": task.reading,
        }
        for path in map(Path, paths)
        for task in read_probe(path)
    ]


def probe_markdown(paths: Sequence[str | Path]) -> str:
    """Return the tasks of probes as a table in Markdown with its explanation; nothing without tasks."""
    tasks = [task for path in paths for task in read_probe(path)]
    heading = ["objective", "groups", *INPUTS.values(), "reading"]
    lines = [[t.objective, str(t.groups), *map(str, t.shares.values()), t.reading] for t in tasks]
    table = [f"| {' | '.join(line)} |" for line in (heading, ["---"] * len(heading), *lines)]
    return "\n".join([EXPLAINED, "", *table]) if tasks else ""
