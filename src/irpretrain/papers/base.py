"""What every file of published numbers is made of: strict sections, printed numbers, and places in a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from irpretrain.config.base import listed_faults
from irpretrain.errors import InputError
from irpretrain.resources import parse_yaml

PRINTED = re.compile(r"(?P<value>[0-9]*\.(?P<decimals>[0-9]+))(?P<marks>[^0-9.\s]*)")
PERCENT = re.compile(r"(?P<value>[0-9]+(?:\.(?P<decimals>[0-9]+))?)(?P<marks>[^0-9.\s]*)")
# What a mark says of its row against another.
Direction = Literal["better", "worse"]
ILLEGIBLE = "illegible"
# Cells without a number, and what a table shows in their place: none is printed; printed as not available; printed,
# but illegible in the text at hand.
NO_NUMBER = {"-": "", "NA": "NA", "?": ILLEGIBLE}


class Strict(BaseModel):
    """A section; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedValue(Strict):
    """One printed number: its value, its significance marks, and the text on the page."""

    value: float
    marks: str
    printed: str

    @property
    def number(self) -> str:
        """The number with as many decimals as printed and a zero before the point, without marks."""
        match = PRINTED.fullmatch(self.printed)
        return f"{self.value:.{len(match['decimals']) if match else 3}f}"

    @classmethod
    def parse(cls, printed: str) -> PublishedValue | None:
        """Return the value of a printed cell, or None for one without a number."""
        if printed in NO_NUMBER:
            return None
        match = PRINTED.fullmatch(printed)
        if match is None:
            raise ValueError(f"{printed!r} is not a number with marks, nor one of {', '.join(NO_NUMBER)}")
        return cls(value=float(match["value"]), marks=match["marks"], printed=printed)

    @classmethod
    def of_percent(cls, printed: str) -> PublishedValue:
        """Return printed percent as a share with all its digits: 77.93† as 0.7793†."""
        match = PERCENT.fullmatch(printed)
        if match is None:
            raise ValueError(f"{printed!r} is not percent")
        share = f"{float(match['value']) / 100:.{len(match['decimals'] or '') + 2}f}"
        return cls(value=float(share), marks=match["marks"], printed=f"{share}{match['marks']}")


def different_keys(keys: Sequence[str]) -> Sequence[str]:
    """Return the keys of a table's rows; ValueError where two rows have the same."""
    if len(set(keys)) != len(keys):
        raise ValueError("two rows have the same key")
    return keys


class PublishedPlace(Strict):
    """Where something stands in the paper, what it shows, and how its numbers came about.

    `page` is left out where it is not known.
    """

    number: int | None = None
    title: str
    page: int | None = None
    section: str
    protocol: str
    remarks: list[str] = Field(default_factory=list)

    @property
    def heading(self) -> str:
        """Return "Table 2", or the section where it is no table."""
        return f"Section {self.section}" if self.number is None else f"Table {self.number}"

    @property
    def key(self) -> str:
        """What its files are called after the paper."""
        return f"table{self.number}"


# A paper's YAML files in the resources: read, checked, and called after the paper.


Content = TypeVar("Content", bound=BaseModel)


def load_paper_yaml(path: str | Path, shape: type[Content], what: str) -> Content:
    """Read and check a file, whose content is called `what`; raise InputError with every fault."""
    try:
        content: Any = parse_yaml(Path(path).read_text(encoding="utf-8"))
        return shape.model_validate(content)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(path, f"cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise InputError(path, f"these {what} cannot be used: {listed_faults(error)}") from None


def check_paper(path: Path, paper: str) -> None:
    """Raise InputError where a file is called after another paper than its content names."""
    if paper != path.stem:
        raise InputError(
            path,
            f"`paper` is {paper!r}, but the file's name says {path.stem!r}",
            remedy="Give both the same name.",
        )
