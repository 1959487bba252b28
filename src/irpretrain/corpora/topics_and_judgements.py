"""Files of topics and judgements as the configuration describes them: what is repeated, contradicts, or is missing."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import FileConfig
from irpretrain.corpora.file_lists import given_files
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.records import Answers, Judgement, Malformed, Query
from irpretrain.corpora.registry import Kind, format_of
from irpretrain.errors import InputError

# Query id → document id → relevance.
Judgements = dict[str, dict[str, int]]

REPEATED_QUERY, REPEATED_JUDGEMENT = "repeated query", "repeated judgement"

# A file, or several that are read one after the other.
Sources = str | Path | Sequence[str | Path]


def source_files(kind: Kind, config: FileConfig, sources: Sources) -> list[Path]:
    """Return the files that are given, those of folders included."""
    return given_files(sources, format_of(kind, config.format).suffixes)


def read_records(kind: Kind, config: FileConfig, path: Path) -> Any:
    """Return an iterator over the records of one file: the kind's, `Skipped` and `Malformed` ones."""
    reader = format_of(kind, config.format)
    return reader.read(path, reader.options(**config.options))


def _sound_records(
    kind: Kind, config: FileConfig, files: list[Path], tally: RecordTally
) -> Iterator[tuple[Path, Any]]:
    """Yield the sound records of some files, each with its file; `tally` counts or refuses the others."""
    for path in files:
        for record in tally.sound(path, read_records(kind, config, path)):
            yield path, record


def check_number(config: FileConfig, files: list[Path], found: int, what: str) -> None:
    """Raise InputError where files hold another number of records than the configuration expects."""
    if config.expected not in (None, found):
        others = f" (and {len(files) - 1} more files)" if len(files) > 1 else ""
        raise InputError(
            files[0],
            f"there are {found:,} {what} here{others}, expected {config.expected:,}",
            remedy="Get the data again. If your data are right, change `expected` of their section.",
        )


def read_queries(config: FileConfig, files: list[Path], tally: RecordTally) -> list[Query]:
    """Read the queries; one that is repeated word for word counts once, one with another text is malformed."""
    first = dict[str, Query]()
    for path, query in _sound_records("topics", config, files, tally):
        earlier = first.setdefault(query.query_id, query)
        if earlier is query:
            continue
        if earlier.text == query.text:
            tally.skipped[REPEATED_QUERY] += 1
        else:
            detail = f"{query.query_id} was {earlier.text[:60]!r} before"
            tally.report(path, Malformed(query.position, "query id occurs twice", detail, query.line))
    tally.settle()
    return list(first.values())


def read_judgements(config: FileConfig, files: list[Path], tally: RecordTally) -> Judgements:
    """Read the judgements; a repeated one counts once, one with another relevance is malformed."""
    read = Judgements()
    for path, entry in _sound_records("judgements", config, files, tally):
        _add(read, entry, path, tally)
    tally.settle()
    return read


def _add(read: Judgements, entry: Judgement, path: Path, tally: RecordTally) -> None:
    pairs = read.setdefault(entry.query_id, {})
    earlier = pairs.get(entry.document_id)
    if earlier is None:
        pairs[entry.document_id] = entry.relevance
    elif earlier == entry.relevance:
        tally.skipped[REPEATED_JUDGEMENT] += 1
    else:
        detail = f"{entry.query_id} {entry.document_id} was {earlier} before and is {entry.relevance} here"
        tally.report(path, Malformed(entry.position, "judged twice", detail, entry.line))


def read_answers(config: FileConfig, files: list[Path], tally: RecordTally) -> dict[str, tuple[str, ...]]:
    """Read the answers of each query; a query that comes again is malformed unless its answers are the same."""
    read = dict[str, tuple[str, ...]]()
    for path, entry in _sound_records("judgements", config, files, tally):
        _add_answers(read, entry, path, tally)
    tally.settle()
    return read


def _add_answers(read: dict[str, tuple[str, ...]], entry: Answers, path: Path, tally: RecordTally) -> None:
    if read.setdefault(entry.query_id, entry.answers) is entry.answers:
        return
    if read[entry.query_id] == entry.answers:
        tally.skipped[REPEATED_JUDGEMENT] += 1
    else:
        detail = f"{entry.query_id} had other answers before"
        tally.report(path, Malformed(entry.position, "answered twice", detail, entry.line))
