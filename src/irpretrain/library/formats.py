"""Files of a user as the workflow reads them: their format, known by their beginning, and topics and judgements."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from irpretrain.config.base import explain
from irpretrain.config.corpora import CorpusConfig, QrelsConfig, TopicsConfig
from irpretrain.corpora.embedded import materialise, read_manifest, resolve
from irpretrain.corpora.file_lists import list_files, refuse_topics, require_file
from irpretrain.corpora.policy import RecordTally, unread_fields
from irpretrain.corpora.registry import FORMATS, Kind, format_of
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.files import DAMAGE, GET_AGAIN, damage_text, open_bytes, refuse_utf16
from irpretrain.foundation.progress import notice
from irpretrain.foundation.resources import resources_directory
from irpretrain.library.tables import guess_table, header_separator, json_command, ungraded_command

if TYPE_CHECKING:
    from irpretrain.corpora.topics_and_judgements import Judgements
    from irpretrain.evaluation.runs import Run

# Bytes of a file that its format is known by.
BEGINNING_BYTES = 1 << 14
SQUAD = r'\s*\{\s*("version"\s*:\s*"[^"]*"\s*,\s*)?"data"\s*:\s*\['
OBJECTS_BY_QUERY = r'\s*\{\s*("([^"\\]|\\.)*"\s*:\s*\{|\}\s*$)'
NO_JSON = r"(?!\s*[\[{])"
TAB = "\t"
SPACE = r"[^\S\n]+"
# Digits are read once, whatever follows them.
NUMBER = r"[^\S\n]*[+-]?(\d++(\.\d*+)?|\.\d++)"
# Kind → formats, each with what a file of it begins with; the first that fits counts.
BEGINNINGS: Mapping[Kind, Sequence[tuple[str, str]]] = {
    "documents": (
        ("parquet", r"PAR1"),
        ("warc", r"WARC/"),
        ("wikipedia-dump", r"\s*<mediawiki"),
        ("squad", SQUAD),
        ("jsonl", r"\s*[\[{]"),
        ("trecweb", r"\s*<DOC>[\s\S]*<DOCHDR>"),
        ("trectext", r"\s*<(?i:DOC)\b"),
        ("smart", r"\.I "),
        ("cord19", r"cord_uid,"),
        ("tsv", r"[^\n]*\t"),
    ),
    "topics": (
        ("squad", SQUAD),
        ("jsonl", r"\s*[\[{]"),
        ("smart", r"\.I "),
        ("trec", r"\s*<"),
        ("tsv", r"[^\n]*\t"),
        ("colon", r"[0-9]+:"),
    ),
    "judgements": (
        ("squad", SQUAD),
        ("json", OBJECTS_BY_QUERY),
        ("letor", r"\S+ qid:"),
        ("trec", rf"([^\t\n]+\t){{3}}{NUMBER}\s*(\n|$)"),
        ("tsv", rf"{NO_JSON}[^\t\n]+\t[^\t\n]+\t[^\t\n]*[a-z]"),
        ("trec", rf"{NO_JSON}(\S+{SPACE}){{2}}\S"),
    ),
    "runs": (
        ("letor", r"\S+ qid:"),
        ("json", OBJECTS_BY_QUERY),
        ("lecard", r"\s*\{"),
        ("trec", rf"{NO_JSON}(\S+{SPACE}){{5}}\S"),
        ("tsv", rf"{NO_JSON}[^\t\n]+\t[^\t\n]+\t"),
        ("trec", rf"{NO_JSON}(\S+{SPACE}){{2}}\S"),
    ),
}

# Kind → what messages call the description, and ir_datasets' name of the part.
PARTS: Mapping[Kind, tuple[str, str]] = {
    "documents": ("documents", "docs"),
    "topics": ("queries", "queries"),
    "judgements": ("qrels", "qrels"),
}
FileSection = TypeVar("FileSection", CorpusConfig, TopicsConfig, QrelsConfig)


class Reading(NamedTuple):
    """How a file is read."""

    format: str
    options: dict[str, Any]  # of the format, as far as the beginning shows that they are needed

    def __str__(self) -> str:
        option_texts = "; ".join(
            f"{name}: {', '.join(value) if isinstance(value, list) else 'tab' if value == TAB else value}"
            for name, value in self.options.items()
        )
        return f"{self.format}; {option_texts}" if option_texts else self.format


def guess_reading(kind: Kind, source: str | Path, patterns: Sequence[str] | None = None) -> Reading:
    """Return how a file, or all files of a folder (those of `patterns`), are read, by their beginnings.

    Raises:
        InputError: there is no such file, it begins as no format does, or files of a folder are of several formats.
    """
    if resolve(str(source))[0] == "ir_datasets":
        return Reading("ir_datasets", {})
    suffixes = sorted({suffix for name in FORMATS[kind] for suffix in _suffixes(kind, name)})
    path_of_reading: dict[str, Path] = {}
    readings = list[Reading]()
    if kind == "documents":
        paths = list_files(source, suffixes, patterns)
        if patterns is None:
            refuse_topics(source, paths)
    else:
        paths = _files_or_folds(source, suffixes)
    for path in paths:
        reading = _guess_file(kind, path)
        if reading is not None and reading.format == "lecard" and path == Path(source):
            reading = None  # names of folder and file are its records
        if reading is None:
            fault = (
                f"its beginning is that of no format of {kind}"
                if path.stat().st_size
                else "the file is empty"
            )
            raise InputError(path, fault, remedy=_remedy(kind, path))
        path_of_reading.setdefault(str(reading), path)
        readings.append(reading)
        if len(path_of_reading) > 1:
            reading_texts = " and ".join(f"{path.name} ({name})" for name, path in path_of_reading.items())
            remedy = (
                "Name the format (docs/corpora.md), whose files alone count then, or give the folder of one."
            )
            raise InputError(source, f"its files are of several formats: {reading_texts}", remedy=remedy)
    return readings[0]


def _suffixes(kind: Kind, name: str) -> tuple[str, ...]:
    is_guessed = name == "csv" or name in {format_name for format_name, _ in BEGINNINGS[kind]}
    return format_of(kind, name).suffixes if is_guessed else ()


def _files_or_folds(source: str | Path, suffixes: Sequence[str]) -> list[Path]:
    """Return the file, or the files of a folder in which names have one of the suffixes, such as LETOR's folds."""
    names = (path.name for path in Path(source).rglob("*")) if os.path.isdir(source) else ()
    if any(suffix in name for name in names for suffix in suffixes):
        return list_files(source, suffixes)
    return [require_file(source)]


def _remedy(kind: Kind, path: Path) -> str:
    """Return what to do about a file without a known format; a tab is what lists of topics most often lack."""
    formats = f"{', '.join(FORMATS[kind])} (docs/corpora.md)."
    beginning = _beginning(path)
    lines = beginning.splitlines()[:3]
    if kind not in ("documents", "topics"):  # no command and no function takes their format
        command = json_command(kind, beginning)
        if not command and kind == "judgements":
            command = ungraded_command(beginning)
        if kind == "judgements" and re.search(r"""1["}]' FILE$""", command):
            command = f"Each judgement needs a grade. If each document here is relevant: {command}"
        advice = f"{command} makes TREC's columns of it. Else give" if command else "Give"
        return f"{advice} a file of one of these formats: {formats}"
    if not lines or not all(re.match(r"\w|$", line) and line.isprintable() for line in lines):
        return f"Name the format: {formats}"
    if separator := header_separator(kind, lines[0]):
        pattern = " +" if separator == " " else f" *[{separator}] *"
        return (
            rf"Its first line names columns. Put a tab between them: sed -E 's/{pattern}/\t/' FILE > {kind}.tsv. "
            f"Else name the format: {formats}"
        )
    number_lines = f"""If lines are texts, number them: awk '{{print NR "\\t" $0}}' FILE > {kind}.tsv."""
    # A text may hold a comma after its first word.
    are_named_texts = all(re.match(r"[^\s,;|]+ *[;|]|\s*$", line) for line in lines)
    if kind == "topics" or are_named_texts:
        other_case = (
            "If they are identifier and text, put a tab between them: "
            rf"sed -E 's/[ ,;|]+/\t/' FILE > {kind}.tsv."
        )
    else:
        other_case = (
            """If each file is a document: for f in *.txt; do jq -Rsc --arg id "$f" '{id: $id, text: .}' "$f"; done """
            "> documents.jsonl."
        )
    cases = f"{other_case} {number_lines}" if are_named_texts else f"{number_lines} {other_case}"
    return f"{cases} Else name the format: {formats}"


def _guess_file(kind: Kind, path: Path) -> Reading | None:
    if path.is_file():
        with open(path, "rb") as raw:
            if raw.read(4) == b"PAR1":
                return Reading("parquet", {}) if kind == "documents" else None
    text = _beginning(path)
    name = next((name for name, sign in BEGINNINGS[kind] if re.match(sign, text)), None)
    if name in (None, "trec", "tsv") and (table := guess_table(kind, path.name, text, name)):
        return Reading(*table)
    return None if name is None else Reading(name, {})


def _beginning(path: Path) -> str:
    try:
        with open_bytes(path) as stream:
            start = stream.read(BEGINNING_BYTES)
    except DAMAGE as error:
        reason = f"damaged archive: {damage_text(path, error)}"
        raise InputError(path, reason, remedy=f"{GET_AGAIN}.") from None
    refuse_utf16(path, start)
    text = start.decode("utf-8", errors="replace")
    text = text.lstrip("\ufeff \r\n\f\v")  # not a tab: an empty first cell is no blank line
    return re.sub(r"\A(\s*(<\?xml[^>]*>|<!--[\s\S]*?-->|#[^\n]*\n))*", "", text)


def read_topics(
    path: str, format: str | None = None, options: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return query → text, as the workflow reads topics.

    Raises:
        InputError: there is no such file, or queries cannot be read.
    """
    from irpretrain.corpora.topics_and_judgements import read_queries, source_files

    with TemporaryDirectory(prefix="irpretrain-") as folder:
        config, source = describe_source(TopicsConfig, path, format, options or {}, folder)
        files = source_files(config, source)
        setting = "" if options is None else "malformed"
        tally = RecordTally(config.malformed, setting, "--topics-option")
        queries = read_queries(config, files, tally)
    if text := unread_fields(tally.counts(), config.format):
        notice(str(path), text)
    return queries


def read_relevance(path: str) -> Judgements:
    """Return query → document → relevance, as the workflow reads judgements."""
    from irpretrain.corpora.topics_and_judgements import read_judgements, source_files

    with TemporaryDirectory(prefix="irpretrain-") as folder:
        config, source = describe_source(QrelsConfig, path, None, {}, folder)
        files = source_files(config, source)
        return read_judgements(config, files, RecordTally(config.malformed, ""))


def read_ranked(path: str, query_ids: Collection[str], run_name: str, title: str, source: str) -> Run:
    """Return a run in any format, in its own order; arguments and errors as of `runs_of_others.read_ordered`."""
    from irpretrain.config.retrieval import RunConfig
    from irpretrain.retrieval.runs_of_others import read_ordered

    reading = guess_reading("runs", path)
    config = RunConfig(format=reading.format, path=path, options=reading.options)
    return read_ordered(config, Path(path), query_ids, run_name, title, source)


def describe_source(
    section: type[FileSection], path: Any, format: str | None, options: Mapping[str, Any], folder: str | Path
) -> tuple[FileSection, Path]:
    """Return the checked description of documents, topics or judgements, and the file or folder to read.

    Without `format` it is known by the beginning. Embedded data are copied into `folder`; for a data set of
    ir_datasets the file that stands for it is written there.
    """
    if not isinstance(path, str | PathLike):
        raise ConfigError(f"path: a file or a folder is needed, not {reprlib.repr(path)}")
    path_kind, name = resolve(str(path))
    source = Path(path)
    if path_kind == "embedded":
        manifest = resources_directory() / "embedded.yaml"
        first_file = next(iter(read_manifest(manifest).asset(name).files))
        source = Path(folder) / Path(first_file).name
        materialise(name, manifest, source)
    values: dict[str, Any] = {"path": str(path), "options": dict(options)}
    for key in {"malformed", "files"} & options.keys() & section.model_fields.keys():
        values[key] = values["options"].pop(key)
    patterns = values.get("files")
    is_list = isinstance(patterns, list | tuple) and all(isinstance(pattern, str) for pattern in patterns)
    if patterns is not None and not (is_list and patterns):
        raise ConfigError(f"files: a list of patterns is needed, not {reprlib.repr(patterns)}")
    if path_kind == "ir_datasets" or format is None:
        reading = guess_reading(section.kind, str(path) if path_kind == "ir_datasets" else source, patterns)
        format = reading.format
        values["options"] = {**reading.options, **values["options"]}
        if "columns" in reading.options and "columns" not in options:
            notice(str(path), f"its first line is no header; read as {reading}")
    values["format"] = format
    heading, dataset_part = PARTS[section.kind]
    config = explain(section, values, heading, top=True)
    if path_kind != "ir_datasets":
        return config, source
    from irpretrain.corpora.formats.ir_datasets import describe_part

    description = Path(folder, "ir-dataset.json")
    describe_part(name, dataset_part, False, description)
    return config, description
