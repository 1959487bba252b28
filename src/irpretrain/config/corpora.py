"""Sections `corpora` and `datasets`: files, formats, malformed records, folds and measures."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from filecmp import cmp
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from irpretrain.config.base import LISTED_ONCE, Section, needing, option
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.file_lists import document_files
from irpretrain.corpora.formats.ir_datasets import FORMAT, PARTS, PREFIX, corpus_identifier, dataset_with
from irpretrain.corpora.registry import Kind, format_of, read_options
from irpretrain.evaluation.measures import parse_measure
from irpretrain.foundation.errors import ConfigError, InputError, IRPretrainError, count_of

# Short for a share.
SHARE_OF_WORD = {"refuse": 0.0, "skip": 1.0}


class MalformedConfig(Section):
    """Limit of malformed records; `skip` is short for {skip: 1}, `refuse` for {skip: 0}."""

    skip: float = option(
        0.0,
        "Share of records that may be malformed; a larger share stops the run. Below 1, damaged archives stop it too.",
        ge=0,
        le=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in SHARE_OF_WORD:
                raise ValueError(
                    f"{value!r} must be refuse, skip, or a share of the records such as {{skip: 0.001}}"
                )
            return {"skip": SHARE_OF_WORD[value]}
        return value


ENTRY = "Filled in by the program: the entry of resources/datasets."
NonEmptyPath = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


class SourceConfig(Section):
    """What is read from files of some format; `kind` says which formats there are."""

    kind: ClassVar[Kind]

    @model_validator(mode="before")
    @classmethod
    def _take_format_from_path(cls, values: Any) -> Any:
        paths = values.get("path") if isinstance(values, dict) else None
        first_path = paths[0] if isinstance(paths, list) and paths else paths
        is_ir_datasets = isinstance(first_path, str) and first_path.startswith(PREFIX)
        return {"format": FORMAT, **values} if is_ir_datasets else values

    @field_validator("format", check_fields=False)
    @classmethod
    def _check_format(cls, name: str) -> str:
        format_of(cls.kind, name)
        return name

    @field_validator("path", check_fields=False)
    @classmethod
    def _check_ir_datasets(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a data set that ir_datasets has not, and a format that cannot read what the path names."""
        is_ir_datasets = info.data.get("format") == FORMAT
        for path in [value] if isinstance(value, str) else value:
            if "format" in info.data and path.startswith(PREFIX) != is_ir_datasets:
                raise ValueError(
                    f"{path!r} is not of format {info.data['format']}; {FORMAT} reads {PREFIX}<id>"
                )
            if is_ir_datasets:
                try:
                    dataset_with(path.removeprefix(PREFIX), PARTS[cls.kind])
                except IRPretrainError as error:
                    raise ValueError(str(error)) from None
        return value

    @field_validator("options", check_fields=False)
    @classmethod
    def _check_options(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Return the options with the format's defaults filled in; an unknown format is reported by its own key."""
        if "format" not in info.data:
            return options
        return read_options(cls.kind, info.data["format"], options).model_dump()


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
    files: Annotated[list[str], LISTED_ONCE] | None = option(
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
        MalformedConfig(skip=0.001), "How many unreadable records are skipped before the run stops."
    )
    options: dict[str, Any] = option({}, "Options of the format, see docs/corpora.md.")
    about: Count | None = option(
        None,
        "Approximate number of documents (of passages, where `passage_words` cuts them), for the cost estimate; "
        "null: `expected`, where nothing is cut.",
    )
    expected: Count | None = option(
        None, "Exact number of records, skipped records included; another number is refused.", unit="records"
    )
    entry: SkipJsonSchema[str | None] = option(None, ENTRY)

    def files_in(self, source: str | Path) -> list[Path]:
        """Return the files of its format in a place, in their order; InputError where there is none."""
        return document_files(source, self.format, self.files)

    @property
    def option_files(self) -> list[str]:
        """The files that its options name, such as spam rankings."""
        reader = format_of("documents", self.format)
        return reader.option_files(reader.options(**self.options))

    @property
    def text(self) -> CorpusText:
        """What is read, whatever documents it is cut into."""
        defaults = format_of("documents", self.format).options().model_dump()
        options = []
        for name, value in self.options.items():
            if name != FORM_KEY and value != defaults.get(name):
                separator = " to " if name == RANGE_KEY else ", "
                text = separator.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
                options.append((name, text))
        patterns = tuple(self.files or ())
        files = _files_of(self.path, self.format, patterns, os.getcwd())
        return CorpusText(files, tuple(options), " ".join([self.path, *patterns]))

    def overlaps(self, other: CorpusConfig) -> bool:
        """Whether both are read from a common file, with articles in common."""
        (start, end), (other_start, other_end) = (
            corpus.options.get(RANGE_KEY) or (0, math.inf) for corpus in (self, other)
        )
        has_common_file = not set(self.text.files).isdisjoint(other.text.files)
        return has_common_file and start < other_end and other_start < end


# Options of a corpus: one reads a range of its files, one cuts the same text into other documents.
RANGE_KEY, FORM_KEY = "articles", "unit"


@dataclass(frozen=True, order=True)
class CorpusText:
    """The text of a corpus: equal to another one that is the same part of the same files, however it is spelled."""

    # What it is read from, as `_files_of` returns it; of files with the same content the first one.
    files: tuple[str, ...]
    # Of its format, where they are not the defaults, without `FORM_KEY`.
    options: tuple[tuple[str, str], ...] = ()
    path: str = field(default="", compare=False)  # as the configuration spells it, with its patterns of files

    def __str__(self) -> str:
        return f"{self.path} {self.part}".rstrip()

    @property
    def part(self) -> str:
        """Which part of the files is read: "articles 0 to 200"; empty for all of them."""
        return " ".join(map(" ".join, self.options))


@cache
def _files_of(path: str, format_name: str, patterns: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """Return the files behind a path relative to a folder, links resolved; a path that is not there as it is."""
    kind, name = resolve(path)
    if kind == "ir_datasets":
        return (f"{kind}:{corpus_identifier(name)}",)
    if kind == "embedded":
        return (path,)
    try:
        files = document_files(os.path.join(folder, path), format_name, patterns or None)
    except InputError:
        return (os.path.realpath(os.path.join(folder, path)),)
    return tuple(sorted(map(_first_equal_file, map(os.path.realpath, files))))


# Files of corpora by their size, none of them a copy of another.
_DISTINCT_FILES: dict[int, list[str]] = {}


def _first_equal_file(file: str) -> str:
    """Return the first file that had the same content: a copy is the same text."""
    size = os.path.getsize(file)
    files_of_size = _DISTINCT_FILES.setdefault(size, [])
    for earlier_file in filter(os.path.isfile, files_of_size if size else ()):
        if cmp(file, earlier_file, shallow=False):
            return earlier_file
    files_of_size.append(file)
    return file


class FileConfig(SourceConfig):
    """Files of topics or judgements."""

    format: str = option(
        "trec",
        "topics: trec, tsv, jsonl, squad; judgements: trec, tsv, squad; or another one in docs/corpora.md.",
    )
    path: Annotated[
        NonEmptyPath | Annotated[list[NonEmptyPath], Field(min_length=1), LISTED_ONCE],
        needing("a path, or a list of paths that differ,"),
    ] = option(
        ..., "The file, or several that are read in this order; or embedded:<asset>, or ir_datasets:<id>."
    )
    malformed: MalformedConfig = option(
        MalformedConfig(), "How many unreadable lines are skipped before the run stops."
    )
    options: dict[str, Any] = option({}, "Options of the format, see docs/corpora.md.")
    expected: Count | None = option(
        None, "Exact number of records, duplicates included; another number is refused.", unit="records"
    )

    @property
    def paths(self) -> list[str]:
        """The file, or the several."""
        return [self.path] if isinstance(self.path, str) else self.path


class TopicsConfig(FileConfig):
    """A file of queries (topics)."""

    kind: ClassVar[Kind] = "topics"

    about: Count | None = option(
        None,
        "Approximate number of queries kept, for the cost estimate.",
        unit="records",
    )


class QrelsConfig(FileConfig):
    """A file of relevance judgements."""

    kind: ClassVar[Kind] = "judgements"

    about: Count | None = option(
        None,
        "Approximate number of relevant judgements, for the cost estimate.",
        unit="records",
    )


def check_measures(value: Any) -> Any:
    """Return one or more measures by their names in tables (`RR` for `recip_rank` or `MRR`); ValueError on a fault."""

    names = dict[str, str]()
    for name in [value] if isinstance(value, str) else value:
        try:
            measure = str(parse_measure(name))
        except ConfigError as error:
            raise ValueError(str(error).removeprefix("measures: ")) from None
        if measure in names:
            earlier_name = f" (as {names[measure]})" if names[measure] != name else ""
            raise ValueError(f"{name!r} is listed twice{earlier_name}; list each measure once")
        names[measure] = name
    return next(iter(names)) if isinstance(value, str) else list(names)


Measure = Annotated[str, AfterValidator(check_measures)]
Measures = Annotated[list[str], AfterValidator(check_measures)]

# One to train, one to validate, one to test.
FEWEST_FOLDS = 3


def folds_fault(folds: int, query_count: int | None, queries_text: str = "") -> str:
    """Return why queries cannot be dealt into so many folds, and the remedy; empty if they can.

    `query_count` is the number of distinct queries, None before they are counted; `queries_text` describes them.
    """
    queries_text = queries_text or count_of(query_count or 0, "query")
    if query_count is not None and query_count < FEWEST_FOLDS:
        return (
            f"{queries_text} cannot be parted into training, validation and test; give {FEWEST_FOLDS} or more, name "
            "another data set under train_on, or test without fine-tuning (zero-shot, or first stages alone)"
        )
    if folds < FEWEST_FOLDS:
        return f"{folds} folds leave no room for training, validation and test; give {FEWEST_FOLDS} or more"
    if query_count is not None and folds > query_count:
        return f"{folds} folds cannot be made of {queries_text}; lower folds, or give more queries"
    return ""


class DatasetConfig(Section):
    """A test collection: corpus, queries and judgements."""

    label: str = option("", "Name in tables; null: the key.")
    corpus: str = option(..., "Key of the corpus to search.")
    queries: TopicsConfig = option(..., "Queries (topics).")
    qrels: QrelsConfig = option(..., "Relevance judgements.")
    sample_queries: int | None = option(None, "Number of queries (random); null: all.", unit="queries", ge=1)
    folds: Annotated[
        int | str | list[list[str | int]], needing("a number of folds, lists of queries, or a file")
    ] = option(
        5,
        "Cross-validation folds: their number, lists of queries, a JSON or TSV file with each query's "
        "fold, or a folder with LETOR's Fold1, Fold2 …",
    )
    train_on: str | None = option(
        None,
        "Key of the data set that fine-tunes models for this one: its first fold validates, "
        "the others train. null: cross-validation here.",
    )
    depth: int | None = option(
        None,
        "Documents of a query that first stages find, and that are taken of others' runs; null: `retrieval.depth`.",
        unit="documents",
        ge=1,
    )
    measures: Measures = option(
        ["nDCG@10", "RR@10"],
        "Measures, in ir_measures' or trec_eval's notation. None may look deeper than rankings are long: "
        "`depth`, and `reranking.depth` where models re-rank.",
        min_length=1,
    )
    validation_measure: Measure = option("nDCG@20", "Measure that decides on validation folds.")
    queries_are_documents: bool = option(
        False,
        "Each query is the document of its own identifier (ArguAna, Quora): drop that document from rankings and "
        "judgements, as BEIR does.",
    )
    entry: SkipJsonSchema[str | None] = option(None, ENTRY)

    @property
    def is_cross_validated(self) -> bool:
        """Whether its own queries fine-tune the models that it tests: fold by fold, not as a whole."""
        return self.train_on is None

    @property
    def by_answers(self) -> bool:
        """Whether what is retrieved is judged by the answers that it holds."""
        return format_of("judgements", self.qrels.format).gives_answers
