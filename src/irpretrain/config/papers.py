"""The numbers printed in a paper, and how its rows map to our models: `resources/published/<paper>.yaml`, checked.

Values are kept as printed ("0.502*†‡", ".4601†"); they are parsed here, so that the file can be compared with the
page.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from irpretrain.config.base import Section, deep_merge, leaves
from irpretrain.config.printed import (
    NO_NUMBER,
    Direction,
    PublishedAxioms,
    PublishedDepths,
    PublishedPlace,
    PublishedValue,
    load_paper_yaml,
)
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.resources import resources_directory

# Wins, ties and losses as printed; of a row that is compared with nothing, dashes.
OUTCOMES = re.compile(r"[0-9]+/[0-9]+/[0-9]+|-/-/-")
# Regime of the candidates' own run.
FIRST_STAGE = "first-stage"


class PublishedDataset(Section):
    """A data set of the paper and why a configuration may lack it."""

    label: str
    queries: int = Field(ge=1)
    documents: str
    absent: str


class PublishedColumn(Section):
    """A column of a table: data set, measure (in ir_measures' notation), the candidates that are re-ranked, and the
    regime, which is named where one table reports several; else it is the rows' own."""

    dataset: str
    measure: str
    candidates: str = "bm25"
    regime: str | None = None


class PublishedMark(Section):
    """A significance mark: the row has one where it is significantly better (or worse) than the row `over`.

    A mark that speaks of several rows is given once for each of them. `rows` names the rows that can have it, where
    the paper marks its own model alone.
    """

    mark: str = Field(min_length=1, max_length=1)
    over: str
    direction: Direction = "better"
    rows: list[str] = Field(default_factory=list)


class PublishedOutcomes(Section):
    """Wins, ties and losses beside every value of a measure, against the row that a mark speaks of."""

    measure: str
    mark: str


class PublishedRow(Section):
    """A row: its label and values as printed, and the model of ours that fills it.

    `models` are keys of our configuration (or first stages), of which the first one present is taken; `by_dataset` has
    others for single data sets. `regimes` begins with the one that the paper reports. A row without values stands for
    others on other data. Of a row that `is_best`, each column has the best of its models. `outcomes` are printed wins,
    ties and losses, one for each column whose values have them.
    """

    key: str
    label: str
    models: list[str]
    by_dataset: dict[str, list[str]] = Field(default_factory=dict)
    regimes: list[str] = Field(default_factory=lambda: ["full"], min_length=1)
    absent: str
    values: list[str] = Field(default_factory=list)
    stands_for: list[str] = Field(default_factory=list)
    is_best: bool = False
    outcomes: list[str] = Field(default_factory=list)

    @property
    def all_models(self) -> list[str]:
        return [*self.models, *(model for models in self.by_dataset.values() for model in models)]

    @property
    def is_first_stage(self) -> bool:
        """Whether nothing of the row is trained, so that its numbers are the same in every regime."""
        return self.regimes[0] == FIRST_STAGE

    def regime_in(self, column: str | None) -> str:
        """Return the regime of the row's cell in a column that may have one."""
        return column or self.regimes[0]


class PublishedTable(PublishedPlace):
    """A table of the paper.

    `test` says how the paper tests, in words; `tested_by` and `level` are the same for our own tests. `superscripts`
    explains marks that are no test's outcome.
    """

    number: int
    test: str
    tested_by: Literal["t-test", "randomisation"] = "t-test"
    level: float = Field(0.05, gt=0, lt=1)
    columns: list[PublishedColumn] = Field(min_length=1)
    marks: list[PublishedMark]
    superscripts: dict[str, str] = Field(default_factory=dict)
    outcomes: PublishedOutcomes | None = None
    rows: list[PublishedRow] = Field(min_length=1)

    def faults(self) -> Iterator[str]:
        keys = [row.key for row in self.rows]
        if len(set(keys)) != len(keys):
            yield "two rows have the same key"
        named_keys = {key for mark in self.marks for key in (mark.over, *mark.rows)}
        named_keys |= {key for row in self.rows for key in row.stands_for}
        if named_keys - set(keys):
            yield f"no row has the key {', '.join(sorted(named_keys - set(keys)))}"
        known_marks = {mark.mark for mark in self.marks} | set(self.superscripts)
        for row in self.rows:
            if unknown_datasets := set(row.by_dataset) - {column.dataset for column in self.columns}:
                yield f"row {row.key}: by_dataset names {min(unknown_datasets)}, of which there is no column"
            yield from self._row_faults(row, known_marks)

    def _row_faults(self, row: PublishedRow, known_marks: set[str]) -> Iterator[str]:
        if bool(row.values) == bool(row.stands_for):
            yield f"row {row.key}: give either values or stands_for"
        if row.values and len(row.values) != len(self.columns):
            yield f"row {row.key}: {len(row.values)} values for {len(self.columns)} columns"
        for cell in row.values:
            value = self.parse(cell)
            if value is not None and not set(value.marks) <= known_marks:
                yield f"row {row.key}: {cell!r} has a mark that the table does not explain"
        expected = sum(self.counts_outcomes(column.measure) for column in self.columns) if row.values else 0
        if len(row.outcomes) != expected:
            yield f"row {row.key}: {len(row.outcomes)} outcomes for {expected} columns that have them"
        for cell in row.outcomes:
            if not OUTCOMES.fullmatch(cell):
                yield f"row {row.key}: {cell!r} is not wins/ties/losses"

    def counts_outcomes(self, measure: str) -> bool:
        return self.outcomes is not None and self.outcomes.measure == measure

    def printed_outcomes(self, row: str, dataset: str, measure: str) -> str:
        """Return printed wins, ties and losses beside a value; empty where there are none."""
        datasets_with_outcomes = [
            column.dataset for column in self.columns if self.counts_outcomes(column.measure)
        ]
        by_dataset = dict(zip(datasets_with_outcomes, self.row(row).outcomes, strict=False))
        return by_dataset.get(dataset, "") if self.counts_outcomes(measure) else ""

    def row(self, key: str) -> PublishedRow:
        return next(row for row in self.rows if row.key == key)

    def value(
        self, row: str, dataset: str, measure: str, candidates: str | None = None, regime: str | None = None
    ) -> PublishedValue | None:
        """Return the printed value of a cell, or None where none is printed; candidates and regime may be any."""
        cell = self._printed(row, dataset, measure, candidates, regime)
        return None if cell is None else self.parse(cell)

    def gap(
        self, row: str, dataset: str, measure: str, candidates: str | None = None, regime: str | None = None
    ) -> str:
        """Return what a table shows in place of a number that the paper's cell lacks; empty for one without a cell."""
        return NO_NUMBER.get(self._printed(row, dataset, measure, candidates, regime) or "", "")

    def _printed(
        self, row: str, dataset: str, measure: str, candidates: str | None, regime: str | None
    ) -> str | None:
        published_row = self.row(row)
        for column, cell in zip(self.columns, published_row.values, strict=False):
            if (
                (column.dataset, column.measure) == (dataset, measure)
                and candidates in (None, column.candidates)
                and (
                    regime is None
                    or published_row.is_first_stage
                    or published_row.regime_in(column.regime) == regime
                )
            ):
                return cell
        return None

    def parse(self, printed: str) -> PublishedValue | None:
        """Return the value of a printed cell, or None for one without a number."""
        return PublishedValue.parse(printed)

    def can_have(self, row: str, mark: PublishedMark) -> bool:
        return not mark.rows or not {row, *self.row(row).stands_for}.isdisjoint(mark.rows)


class PublishedAnswers(PublishedTable):
    """The table of question answering, in percent; `tasks` names the columns' tasks, keys of `downstream_tasks`."""

    tasks: dict[str, str]

    def parse(self, printed: str) -> PublishedValue | None:
        """Return printed percent as a share."""
        return PublishedValue.of_percent(printed)


# How a figure is drawn; report/figures.py has the functions.
Drawing = Literal[
    "loss-curves",
    "step-curves",
    "few-shot-curves",
    "series",
    "with-and-without",
    "importance",
    "weight-curves",
]


class PublishedFigure(Section):
    """A figure of the paper: what it shows, how it is drawn, and which models of ours are drawn in its place.

    What the keys of `models` mean depends on how the figure is drawn. `counts` says what the
    numbers at the end of the models' names count, where the figure is a series of models; `regimes` which ones count.
    `measures` are those of data sets that have another than `measure`. `overlays` are the configurations that fill the
    figure.
    """

    number: str
    drawn: Drawing
    title: str
    page: int | None = None
    section: str
    published: str
    measure: str = ""
    measures: dict[str, str] = Field(default_factory=dict)
    counts: Literal["", "pairs", "negatives", "anchor-percent"] = ""
    regimes: list[str] = Field(default_factory=lambda: ["zero-shot"])
    models: dict[str, list[str]]
    overlays: str = ""

    @property
    def overlays_hint(self) -> str:
        """Where the figure's runs can be had, to follow the reason for their absence."""
        return f" (the overlays {self.overlays} do)" if self.overlays else ""


class PublishedRecipe(Section):
    """How the paper fine-tuned: keys of `finetuning`, and the lengths of query and document, of `reranking` too."""

    lengths: dict[str, int]
    finetuning: dict[str, Any]

    @property
    def sections(self) -> dict[str, dict[str, Any]]:
        """What the recipe gives of each section of the configuration."""
        return {"finetuning": {**self.finetuning, **self.lengths}, "reranking": dict(self.lengths)}


PresetName = Literal["paper", "released"]
# Keys that `preset` fills where the user leaves them out: `text`, `pseudo_queries` and `pretraining`; `<name>` of
# `term_weights`; objectives by their type; the `training` of models by the type of their objectives.
Preset = dict[str, dict[str, Any]]


class Published(Section):
    """All that is taken from one paper."""

    paper: str  # the file's name
    name: str
    summary: str
    citation: str
    doi: str
    datasets: dict[str, PublishedDataset]
    candidates: dict[str, str] = Field(default_factory=dict)
    tables: dict[str, PublishedTable]
    axioms: PublishedAxioms | None = None
    depths: PublishedDepths | None = None
    answers: PublishedAnswers | None = None
    figures: dict[str, PublishedFigure] = Field(default_factory=dict)
    recipes: dict[str, PublishedRecipe] = Field(default_factory=dict)
    presets: dict[PresetName, Preset] = Field(default_factory=dict)

    def faults(self) -> Iterator[str]:
        for name, table in self.tables.items():
            unknown_datasets = {column.dataset for column in table.columns} - set(self.datasets)
            if unknown_datasets:
                yield f"tables.{name}: unknown data set {', '.join(sorted(unknown_datasets))}"
            unknown_candidates = {column.candidates for column in table.columns} - {"bm25", *self.candidates}
            if unknown_candidates:
                yield f"tables.{name}: unknown candidates {', '.join(sorted(unknown_candidates))}"
        for name in self.recipes:
            if name.partition("-")[0] != self.paper:
                yield f"recipes: {name} must be called {self.paper} or {self.paper}-<something>"
        if self.depths is not None and self.depths.dataset not in self.datasets:
            yield f"depths: unknown data set {self.depths.dataset}"

    def table_names(self) -> list[str]:
        """Return the names of the paper's tables in the report's order, those of axioms, depths and answers among
        them."""
        numbers = {name: paper_table.number for name, paper_table in self.tables.items()}
        for table in (self.depths, self.answers):
            if table is not None:
                numbers[table.key] = table.number
        names = sorted(numbers, key=lambda name: numbers[name])
        if self.axioms is None:
            return names
        return [self.axioms.predictors.key, self.axioms.rank_intervals.key, *names]

    def compares_runs(self, name: str) -> bool:
        """Whether a table of `table_names` compares runs, and not predictors or axioms."""
        other_keys = [table.key for table in (self.depths, self.answers) if table is not None]
        return name in self.tables or name in other_keys

    def location(self, page: int | None, section: str) -> str:
        """Return where something stands: "Page 288, section 4.5", or without a page where it is not known."""
        return f"Page {page}, section {section}" if page is not None else f"Section {section}"


def load_published(path: str | Path) -> Published:
    """Read and check a file of published numbers; raise InputError with every fault."""
    return load_paper_yaml(path, Published, "published numbers")


# Which papers there are, and what is printed in each: `resources/published/<paper>.yaml`.


@cache
def known_papers() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _published_folder().glob("*.yaml")))


def paper_file(paper: str) -> Path:
    return _published_folder() / f"{paper}.yaml"


def _published_folder() -> Path:
    return resources_directory() / "published"


@cache
def read_paper(paper: str) -> Published:
    """Return what is printed in a paper, read once a process; raise InputError where its file is wrong."""
    return load_published(paper_file(paper))


def printed_rank_shares() -> Any:
    """Return in which intervals the ranks of a paper's own pseudo-queries lie, as printed."""
    axioms_of_papers = (read_paper(paper).axioms for paper in known_papers())
    return next((axioms.rank_intervals.shares for axioms in axioms_of_papers if axioms), None)


def show_axioms(papers: Iterable[str]) -> bool:
    """Whether some of these papers has tables of axioms and preference predictors."""
    return any(read_paper(paper).axioms for paper in papers)


def show_term_weights(papers: Iterable[str]) -> bool:
    """Whether some of these papers has a figure of how term weights are distributed."""
    figures = (figure for paper in papers for figure in read_paper(paper).figures.values())
    return any(figure.drawn == "weight-curves" for figure in figures)


def papers_with_depths() -> list[str]:
    return [paper for paper in known_papers() if read_paper(paper).depths]


def figure_names(papers: Iterable[str]) -> list[str]:
    """Return the names of the figures of `papers`, without directory and suffix."""
    return [f"{paper}_{figure}" for paper in papers for figure in read_paper(paper).figures]


@cache
def read_preset(name: PresetName) -> dict[str, Any]:
    """Return the keys that a preset fills, of all papers, read once a process.

    Raises:
        InputError: two papers give the same key.
    """
    preset_values: dict[str, Any] = {}
    for paper in known_papers():
        keys = read_paper(paper).presets.get(name, {})
        if repeated_keys := dict(leaves(preset_values)).keys() & dict(leaves(keys)).keys():
            raise InputError(
                paper_file(paper),
                f"presets.{name}: another paper gives {min(repeated_keys)} too",
                remedy="Leave the key to the other paper, and set it in this paper's overlay.",
            )
        preset_values = deep_merge(preset_values, keys)
    return preset_values


def recipe_names() -> list[str]:
    return [name for paper in known_papers() for name in read_paper(paper).recipes]


def read_recipe(name: str) -> dict[str, dict[str, Any]] | None:
    """Return what a recipe gives of each section of the configuration; None where there is no such recipe."""
    paper = name.partition("-")[0]
    recipe = read_paper(paper).recipes.get(name) if paper in known_papers() else None
    return None if recipe is None else recipe.sections
