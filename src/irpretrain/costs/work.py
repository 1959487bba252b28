"""What a job does, counted."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from irpretrain.config.base import Section, option
from irpretrain.config.root import Config
from irpretrain.costs.sizes import Size
from irpretrain.errors import InputError
from irpretrain.resources import parse_yaml, resources_directory

Device = Literal["cpu", "gpu"]
Unit = Literal["documents", "queries", "words", "word pieces"]
Wildcards = Mapping[str, str]


class Computing(Section):
    """What a rate of an encoder holds for: no other encoder, arithmetic or device is guessed from it."""

    encoder: str = option(..., "Its name, as `encoder.label` gives it.")
    layers: int | None = option(..., "As `encoder.layers`.")
    precision: str = option(..., "As `compute.precision`.")
    device: Device = option(..., "cpu, or gpu for jobs that ask for one.")


class Throughput(Section):
    """How much one core, or one GPU, did in a second of its time."""

    stage: str = option(..., "A rule, with what its speed depends on, as `costs.work` calls it.")
    per_second: float = option(..., "Units in a second of one core or GPU.", gt=0)
    unit: Unit = option(..., "What is counted.")
    computing: Computing | None = option(None, "null where no encoder computes.")
    of: str = option(..., "What it was measured on, in a few words.")
    date: datetime.date = option(..., "When.")
    section: str = option(..., "Heading in docs/benchmarks.md under which the figure stands.")
    row: str = option(..., "How the row of that table begins.")


def read_throughputs(path: str | Path | None = None) -> list[Throughput]:
    """Return the measured rates of a file, by default those of `resources/throughput.yaml`.

    Raises:
        InputError: the file is no list of rates, or gives one twice.
    """
    path = resources_directory() / "throughput.yaml" if path is None else Path(path)
    try:
        entries: Any = parse_yaml(path.read_text(encoding="utf-8"))
        rates = [Throughput.model_validate(entry) for entry in entries]
    except (OSError, yaml.YAMLError, ValidationError, TypeError) as error:
        raise InputError(path, f"is no list of rates: {error}") from None
    keys = [(rate.stage, rate.computing) for rate in rates]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise InputError(path, f"gives the rate of {twice[0][0]} twice; keep the later one")
    return rates


@dataclass(frozen=True)
class Work:
    """A part of a job's work.

    Attributes:
        stage: its rule, with what the speed depends on; as in `resources/throughput.yaml`.
        unit: what is counted.
        amount: how much; None where it is not known.
        computing: encoder, arithmetic and device; None where no encoder computes.
    """

    stage: str
    unit: Unit
    amount: Size
    computing: Computing | None = None


Describe = Callable[[Config, Wildcards], list[Work]]
"""From the configuration and a job's wildcards to the parts of its work; none where it is not estimated."""
