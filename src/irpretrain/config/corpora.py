"""Sections `corpora`, `collections` and `datasets`: what is read."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from irpretrain.config.base import Section, option
from irpretrain.config.malformed import MalformedConfig
from irpretrain.corpora.ir_datasets_library import FORMAT, PARTS, PREFIX, dataset_with
from irpretrain.corpora.registry import Kind, format_module, gives_answers, read_options
from irpretrain.errors import ConfigError, IRPretrainError
from irpretrain.evaluation.measures import parse_measure

ENTRY = "Filled in by the program: the entry of resources/datasets."
Path = Annotated[str, Field(min_length=1)]
Expected = Annotated[int, Field(ge=1)]
About = Annotated[int, Field(ge=1)]


class SourceConfig(Section):
    """What is read from files of some format; `kind` says which formats there are."""

    kind: ClassVar[Kind]

    @model_validator(mode="before")
    @classmethod
    def _take_format_from_path(cls, given: Any) -> Any:
        paths = given.get("path") if isinstance(given, dict) else None
        first = paths[0] if isinstance(paths, list) and paths else paths
        named = isinstance(first, str) and first.startswith(PREFIX)
        return {"format": FORMAT, **given} if named else given

    @field_validator("format", check_fields=False)
    @classmethod
    def _check_format(cls, name: str) -> str:
        format_module(cls.kind, name)
        return name

    @field_validator("path", check_fields=False)
    @classmethod
    def _check_ir_datasets(cls, given: Any, info: ValidationInfo) -> Any:
        """Refuse a data set that ir_datasets has not, and a format that cannot read what the path names."""
        of_ir_datasets = info.data.get("format") == FORMAT
        for path in [given] if isinstance(given, str) else given:
            if "format" in info.data and path.startswith(PREFIX) != of_ir_datasets:
                raise ValueError(
                    f"{path!r} is not of format {info.data['format']}; {FORMAT} reads {PREFIX}<id>"
                )
            if of_ir_datasets:
                try:
                    dataset_with(path.removeprefix(PREFIX), PARTS[cls.kind])
                except IRPretrainError as error:
                    raise ValueError(str(error)) from None
        return given

    @field_validator("options", check_fields=False)
    @classmethod
    def _check_options(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Return the options with the format's defaults filled in; an unknown format is reported by its own key."""
        if "format" not in info.data:
            return given
        return read_options(cls.kind, info.data["format"], given).model_dump()


class CorpusConfig(SourceConfig):
    """One corpus of documents."""

    kind: ClassVar[Kind] = "documents"

    format: str = option(
        ..., "Reader: wikipedia-dump, squad, jsonl, tsv, parquet, or another one in docs/corpora.md."
    )
    path: str = option(
        ...,
        "File or folder, relative to the working directory; embedded:<asset> is an asset of "
        "resources/embedded.yaml, ir_datasets:<id> a data set of ir_datasets (docs/corpora.md).",
        min_length=1,
    )
    files: list[str] | None = option(
        None,
        "Patterns of files in a folder, such as FT/*/FT*: * matches anything except /, **/ any folders; "
        "case is ignored. null: the format's endings.",
        min_length=1,
    )
    shards: int = option(1, "Pieces that are processed independently. No effect on results.", ge=1)
    passage_words: int | None = option(
        None,
        "Cut documents into passages of this many words, with ids <id>#<n>.",
        unit="words",
        ge=1,
    )
    malformed: MalformedConfig = option(
        description="How many unreadable records are skipped before the run stops.",
        default_factory=lambda: MalformedConfig(skip=0.001),
    )
    options: dict[str, Any] = option(
        description="Options of the format, see docs/corpora.md.", default_factory=dict
    )
    about: About | None = option(
        None,
        "Approximate number of records, for the cost estimate; null: `expected`.",
        unit="records",
    )
    expected: Expected | None = option(
        None, "Exact number of records, skipped records included; another number is refused.", unit="records"
    )
    entry: str | None = option(None, ENTRY)


class FileConfig(SourceConfig):
    """Files of topics or judgements."""

    format: str = option(
        "trec",
        "topics: trec, tsv, jsonl, squad; judgements: trec, tsv, squad; or another one in docs/corpora.md.",
    )
    path: Path | Annotated[list[Path], Field(min_length=1)] = option(
        ..., "The file, or several that are read in this order; or embedded:<asset>, or ir_datasets:<id>."
    )
    malformed: MalformedConfig = option(
        description="How many unreadable lines are skipped before the run stops.",
        default_factory=MalformedConfig,
    )
    options: dict[str, Any] = option(
        description="Options of the format, see docs/corpora.md.", default_factory=dict
    )
    about: About | None = option(
        None,
        "Approximate number of queries kept or relevant judgements, for the cost estimate.",
        unit="records",
    )
    expected: Expected | None = option(
        None, "Exact number of records, duplicates included; another number is refused.", unit="records"
    )

    @property
    def paths(self) -> list[str]:
        """The file, or the several."""
        return [self.path] if isinstance(self.path, str) else self.path


class TopicsConfig(FileConfig):
    """A file of queries (topics)."""

    kind: ClassVar[Kind] = "topics"


class QrelsConfig(FileConfig):
    """A file of relevance judgements."""

    kind: ClassVar[Kind] = "judgements"


def check_measures(given: Any) -> Any:
    """Return a measure or a list of measures, each by the one name that tables have: trec_eval's `recip_rank` and
    ir_measures' `MRR` are `RR`; ValueError, which says why, where one is none or stands twice."""

    names = dict[str, str]()
    for name in [given] if isinstance(given, str) else given:
        try:
            measure = str(parse_measure(name))
        except ConfigError as error:
            raise ValueError(str(error).removeprefix("measures: ")) from None
        if measure in names:
            also = f" (as {names[measure]})" if names[measure] != name else ""
            raise ValueError(f"{name!r} is listed twice{also}; list each measure once")
        names[measure] = name
    return next(iter(names)) if isinstance(given, str) else list(names)


FEWEST_FOLDS = 3
"""One to train, one to validate, one to test."""


def folds_fault(folds: int, texts: int | None, queries: str = "") -> str:
    """Return why queries cannot be dealt into so many folds, and the way out; empty where they can.

    Args:
        texts: how many queries of different text there are; None before they are counted.
        queries: these in words, where they are not just so many queries.
    """
    queries = queries or f"{texts} {'query' if texts == 1 else 'queries'}"
    if texts is not None and texts < FEWEST_FOLDS:
        return (
            f"{queries} cannot be parted into training, validation and test; give {FEWEST_FOLDS} or more, name another "
            "data set under train_on, or test without fine-tuning (zero-shot, or first stages alone)"
        )
    if folds < FEWEST_FOLDS:
        return f"{folds} folds leave no room for training, validation and test; give {FEWEST_FOLDS} or more"
    if texts is not None and folds > texts:
        return f"{folds} folds cannot be made of {queries}; lower folds, or give more queries"
    return ""


class DatasetConfig(Section):
    """A test collection: corpus, queries and judgements."""

    label: str = option("", "Name in tables; null: the key.")
    corpus: str = option(..., "Key of the corpus to search.")
    queries: TopicsConfig = option(..., "Queries (topics).")
    qrels: QrelsConfig = option(..., "Relevance judgements.")
    sample_queries: int | None = option(None, "Number of queries (random); null: all.", unit="queries", ge=1)
    folds: int | str | list[list[str | int]] = option(
        5,
        "Cross-validation folds: their number, lists of queries, a JSON or TSV file with each query's "
        "fold, or a folder with LETOR's Fold1, Fold2 …",
    )
    train_on: str | None = option(
        None,
        "Key of the data set that fine-tunes models for this one: its first fold validates, "
        "the others train. null: cross-validation here.",
    )
    measures: list[str] = option(
        ["nDCG@20", "P@20", "AP", "RR@10"], "Measures, in ir_measures' or trec_eval's notation.", min_length=1
    )
    validation_measure: str = option("nDCG@20", "Measure that decides on validation folds.")
    unjudged_queries: Literal["drop", "refuse"] = option(
        "drop", "Queries without a relevant document: drop, or an error."
    )
    unknown_documents: Literal["ignore", "refuse"] = option(
        "ignore",
        "Judgements of documents outside the corpus: keep, or an error.",
    )
    entry: str | None = option(None, ENTRY)

    @property
    def by_answers(self) -> bool:
        """Whether what is retrieved is judged by the answers that it holds."""
        return gives_answers(self.qrels.format)

    @field_validator("measures", "validation_measure")
    @classmethod
    def _check_measures(cls, given: Any) -> Any:
        return check_measures(given)
