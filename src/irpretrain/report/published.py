"""The numbers printed in a paper, and how its rows map to our models: `resources/published/<paper>.yaml`, checked.

Values are kept as printed ("0.502*†‡"); they are parsed here, so that the file can be compared with the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from irpretrain.errors import InputError

PRINTED = re.compile(r"(?P<value>[0-9]+\.[0-9]+)(?P<marks>[^0-9.\s]*)")
NOTHING_PRINTED = "-"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PublishedValue(_Strict):
    """One printed number: its value, its significance marks, and the text on the page."""

    value: float
    marks: str
    printed: str

    @classmethod
    def parse(cls, printed: str) -> PublishedValue | None:
        """Return the value of a printed cell, or None for one without a number."""
        if printed == NOTHING_PRINTED:
            return None
        match = PRINTED.fullmatch(printed)
        if match is None:
            raise ValueError(f"{printed!r} is not a number with marks, nor {NOTHING_PRINTED!r}")
        return cls(value=float(match["value"]), marks=match["marks"], printed=printed)


class PublishedDataset(_Strict):
    """A data set of the paper and why a configuration may lack it."""

    label: str
    queries: int = Field(ge=1)
    documents: str
    absent: str


class PublishedColumn(_Strict):
    """A column of a table: data set and measure (in ir_measures' notation)."""

    dataset: str
    measure: str


class PublishedMark(_Strict):
    """A significance mark: the row has one where it is significantly better than the row `over`."""

    mark: str = Field(min_length=1, max_length=1)
    over: str


class PublishedRow(_Strict):
    """A row: its label and values as printed, and the model of ours that fills it.

    `models` are keys of our configuration (or first stages), of which the first one present is taken; `regimes`
    begins with the one that the paper reports. A row without values stands for others on other data.
    """

    key: str
    label: str
    models: list[str]
    regimes: list[str] = Field(default_factory=lambda: ["full"], min_length=1)
    absent: str
    values: list[str] = Field(default_factory=list)
    stands_for: list[str] = Field(default_factory=list)


class PublishedTable(_Strict):
    """A table of the paper."""

    number: int
    title: str
    page: int
    section: str
    test: str
    protocol: str
    columns: list[PublishedColumn] = Field(min_length=1)
    marks: list[PublishedMark]
    rows: list[PublishedRow] = Field(min_length=1)
    remarks: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> PublishedTable:
        keys = [row.key for row in self.rows]
        if len(set(keys)) != len(keys):
            raise ValueError("two rows have the same key")
        unknown = {mark.over for mark in self.marks} | {k for row in self.rows for k in row.stands_for}
        if unknown - set(keys):
            raise ValueError(f"no row has the key {', '.join(sorted(unknown - set(keys)))}")
        known_marks = {mark.mark for mark in self.marks}
        for row in self.rows:
            self._check_row(row, known_marks)
        return self

    def _check_row(self, row: PublishedRow, known_marks: set[str]) -> None:
        if bool(row.values) == bool(row.stands_for):
            raise ValueError(f"row {row.key}: give either values or stands_for")
        if row.values and len(row.values) != len(self.columns):
            raise ValueError(f"row {row.key}: {len(row.values)} values for {len(self.columns)} columns")
        for printed in row.values:
            value = PublishedValue.parse(printed)
            if value is not None and not set(value.marks) <= known_marks:
                raise ValueError(f"row {row.key}: {printed!r} has a mark that the table does not explain")

    def row(self, key: str) -> PublishedRow:
        """Return the row called `key`."""
        return next(row for row in self.rows if row.key == key)

    def value(self, row: str, dataset: str, measure: str) -> PublishedValue | None:
        """Return the printed value of a cell, or None where none is printed."""
        values = self.row(row).values
        for column, printed in zip(self.columns, values, strict=False):
            if (column.dataset, column.measure) == (dataset, measure):
                return PublishedValue.parse(printed)
        return None

    def constant_marks(self, row: str) -> str:
        """Return the marks that every printed value of `row`, or of the rows it stands for, carries.

        Such a mark is a claim of the paper that can be tested on any data set: "better than that baseline".
        """
        keys = self.row(row).stands_for or [row]
        parsed = [PublishedValue.parse(text) for key in keys for text in self.row(key).values]
        found = [value.marks for value in parsed if value is not None]
        return "".join(m.mark for m in self.marks if found and all(m.mark in marks for marks in found))


class PublishedFigure(_Strict):
    """A figure of the paper: what it shows, and which models of ours are drawn in its place."""

    number: str
    title: str
    page: int
    section: str
    published: str
    measure: str = ""
    models: dict[str, list[str]]


class Verdict(_Strict):
    """When a number counts as reproduced."""

    tolerance: float = Field(gt=0)


class Published(_Strict):
    """All that is taken from one paper."""

    paper: str
    name: str
    summary: str
    citation: str
    doi: str
    verdict: Verdict
    datasets: dict[str, PublishedDataset]
    tables: dict[str, PublishedTable]
    figures: dict[str, PublishedFigure] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Published:
        for name, table in self.tables.items():
            unknown = {column.dataset for column in table.columns} - set(self.datasets)
            if unknown:
                raise ValueError(f"tables.{name}: unknown data set {', '.join(sorted(unknown))}")
        return self


def load_published(path: str | Path) -> Published:
    """Read and check a file of published numbers; raise InputError with every fault."""
    try:
        content: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        return Published.model_validate(content)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(path, f"cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(str(p) for p in f['loc'])}: {f['msg']}" for f in error.errors())
        raise InputError(path, f"these published numbers cannot be used: {faults}") from None
