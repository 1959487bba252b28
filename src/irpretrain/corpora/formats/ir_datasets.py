"""Documents, queries, judgements and scored documents of a data set of the package ir_datasets."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from irpretrain.config.base import Names, Section, option
from irpretrain.corpora import checked
from irpretrain.corpora.checked import NoOptions, judgement, query, retrieved
from irpretrain.corpora.embedded import IR_DATASETS as PREFIX
from irpretrain.corpora.registry import Format, Kind
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.errors import (
    MAKE_AGAIN,
    ConfigError,
    InputError,
    IRPretrainError,
    SetupError,
    instead_of,
    one_line,
    refusing_damage,
)
from irpretrain.foundation.records import (
    WHOLE_FILE,
    AnyDocument,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    Share,
)

# ir_datasets (MacAvaney et al., SIGIR 2021), an optional package: data sets by identifier, read without network.
#
# Its files, with checksums, lie in the folder IR_DATASETS_HOME, by default ~/.ir_datasets.

FORMAT = "ir_datasets"
VERSION = "0.6.3"

# Kind of a format → what ir_datasets calls that part of a data set.
PARTS: dict[Kind, str] = {
    "documents": "docs",
    "topics": "queries",
    "judgements": "qrels",
    "runs": "scoreddocs",
}


def load_dataset(identifier: str) -> Any:
    """Return a data set; SetupError without the package, ConfigError where the package has no such identifier."""
    library = _library()
    try:
        return library.load(identifier)
    except KeyError:
        suggestion = instead_of(identifier, library.registry)
        raise ConfigError(f"{PREFIX}{identifier}: ir_datasets has no such data set; {suggestion}") from None


def dataset_with(identifier: str, part: str) -> Any:
    """Return a data set that has a part, such as docs; ConfigError, with its subsets that have it, where it has not."""
    dataset = load_dataset(identifier)
    if dataset.has(part):
        return dataset
    subsets = [name for name in _library().registry if name.startswith(f"{identifier}/")]
    subsets_with_part = [f"{PREFIX}{name}" for name in subsets if load_dataset(name).has(part)]
    hint = (
        f"; {', '.join(subsets_with_part[:8])} {'have' if len(subsets_with_part) > 1 else 'has'} some"
        if subsets_with_part
        else ""
    )
    raise ConfigError(f"{PREFIX}{identifier}: this data set has no {part}{hint}")


def corpus_identifier(identifier: str) -> str:
    """Return the shortest identifier of a data set with the same documents."""
    dataset_with(identifier, "docs")
    return str(_library().docs_parent_id(identifier))


def home() -> Path:
    return Path(_library().util.home_path())


def download_command(identifier: str, part: str) -> str:
    """Return the command that downloads a part of a data set, and checks it."""
    return f"ir_datasets export {identifier} {part} > /dev/null"


def read_records(
    identifier: str, part: str, first_record: int = 0, end_record: int | None = None
) -> Iterator[Any]:
    """Yield the records of a part of a data set from number `first_record` to before `end_record`.

    Raises:
        InputError: they cannot be read, or are not downloaded (the message has the command).
    """
    dataset = dataset_with(identifier, part)
    with _without_network(identifier, part):
        records = getattr(dataset, f"{part}_iter")()
        if first_record or end_record is not None:
            can_slice = hasattr(records, "__getitem__")
            records = (
                records[first_record:end_record] if can_slice else islice(records, first_record, end_record)
            )
        records = iter(records)
    while True:
        # Between two records the network is the caller's again.
        with _without_network(identifier, part):
            record = next(records, None)
        if record is None:
            return
        yield record


def check_downloaded(identifier: str, part: str) -> None:
    """Raise InputError where the first record of a part cannot be read."""
    if next(read_records(identifier, part), None) is None:
        raise InputError(f"{PREFIX}{identifier}", f"there are no {part}")


def downloads_text(dataset_parts: Iterable[tuple[str, str]]) -> str:
    """Return which parts of data sets are on the disk, and how to get the others; nothing if there is none."""
    lines = list[str]()
    for identifier, part in dataset_parts:
        status = "present"
        try:
            check_downloaded(identifier, part)
        except InputError:
            status = f"missing; {download_command(identifier, part)}"
        lines.append(f"  {identifier} {part}: {status}")
    return "\n".join([f"ir_datasets, in {home()}", *lines]) if lines else ""


def describe_part(identifier: str, part: str, several_shards: bool, output: str | Path) -> dict[str, Any]:
    """Write a small file that the readers of format ir_datasets accept as a part of a data set; return its content."""
    dataset = dataset_with(identifier, part)
    check_downloaded(identifier, part)
    document_count = None
    # Where shards read documents, ir_datasets' own store of documents is made first: each shard reads its slice.
    if several_shards:
        with _without_network(identifier, part):
            build = getattr(dataset.docs_store(), "build", None)
            if build is not None:
                build()
            document_count = dataset.docs_count()
    description = {
        "identifier": identifier,
        "part": part,
        "version": _library().__version__,
        "slices": document_count,
    }
    write_text(output, json.dumps(description) + "\n")
    return description


def read_description(path: Path) -> tuple[str, str, int | None]:
    with refusing_damage(path, "this is no description of a data set", MAKE_AGAIN):
        description = json.loads(path.read_text(encoding="utf-8"))
        return description["identifier"], description["part"], description["slices"]


def text_of(record: Any, fields: Sequence[str] | None, identifier: str) -> str:
    """Return a record's text of `fields`, or ir_datasets' default; InputError if it has no such field or default."""
    field_names = ", ".join(record._fields)
    if fields is None and not hasattr(record, "default_text"):
        reason = "ir_datasets does not say what the text of its records is"
        raise InputError(
            f"{PREFIX}{identifier}", reason, remedy=f"Name some of {field_names} by option fields."
        )
    for field in fields or ():
        if field not in record._fields:
            reason = f"there is no field {field}; {instead_of(field, record._fields)}"
            raise InputError(f"{PREFIX}{identifier}", reason)
    if fields is None:
        return str(record.default_text())
    return " ".join(str(value) for name in fields if (value := getattr(record, name)) is not None)


@contextmanager
def _without_network(identifier: str, part: str) -> Iterator[None]:
    libraries = _library().lazy_libs
    load_requests = libraries.requests
    refused_downloads: list[str] = []

    def refuse() -> None:
        refused_downloads.append(identifier)
        raise FileNotFoundError("nothing is downloaded while a job runs")

    libraries.requests = refuse
    try:
        yield
    except IRPretrainError:
        raise
    except Exception as error:  # damaged files make it raise nearly anything
        if refused_downloads or isinstance(error, FileNotFoundError):
            reason, remedy = f"its {part} are not in {home()}", download_command(identifier, part)
            remedy = f"`{remedy}` downloads them, or says where you get them."
        else:
            reason, remedy = f"ir_datasets cannot read its {part}: {one_line(error)}", ""
        raise InputError(f"{PREFIX}{identifier}", reason, remedy=remedy) from error
    finally:
        libraries.requests = load_requests


def _library() -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise SetupError(
            f"{PREFIX}… needs the package ir_datasets, which cannot be imported ({one_line(error)}).\n"
            f"  python -m pip install ir_datasets=={VERSION}"
        ) from None
    return ir_datasets


class IrDatasetsTextOptions(Section):
    """Options of the format ir_datasets."""

    fields: Names | None = option(
        None,
        "Parts that make a document's body or a query, in this order; null: default_text, without a document's title.",
        min_length=1,
    )


def read_documents(
    path: Path, options: IrDatasetsTextOptions, share: Share = WHOLE_FILE
) -> Iterator[AnyDocument]:
    """Yield a share, a slice, of the documents in ir_datasets' order; a position is a document's number."""
    identifier, part, document_count = read_description(path)
    first_record, end_record, is_sliced = 0, None, document_count is not None
    if document_count is not None:
        first_record = document_count * share.index // share.count
        if share.index + 1 < share.count:
            end_record = document_count * (share.index + 1) // share.count
    for position, document in enumerate(
        read_records(identifier, part, first_record, end_record), first_record
    ):
        if is_sliced or share(position):
            text, title = text_of(document, options.fields, identifier), _text(document, "title")
            body = _without_title(text, title) if options.fields is None else text
            yield checked.document(position, document.doc_id, title, body.strip(), _text(document, "url"))


def _without_title(text: str, title: str) -> str:
    """Return a default text without the title that it begins with, which must end where a word ends."""
    text_after_title = text.removeprefix(title.rstrip())
    return text_after_title if not text_after_title or text_after_title[0].isspace() else text


def _text(record: Any, field: str) -> str:
    value = getattr(record, field, None)
    return value if isinstance(value, str) else ""


def read_topics(path: Path, options: IrDatasetsTextOptions) -> Iterator[Query | Malformed]:
    identifier, part, _ = read_description(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield query(record.query_id, text_of(record, options.fields, identifier), position)


def read_judgements(path: Path, options: NoOptions) -> Iterator[Judgement | Malformed]:
    identifier, part, _ = read_description(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield judgement(record.query_id, record.doc_id, str(record.relevance), position)


def read_runs(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    identifier, part, _ = read_description(path)
    for position, record in enumerate(read_records(identifier, part)):
        yield retrieved(record.query_id, record.doc_id, None, repr(float(record.score)), position, None)


DOCUMENTS = Format(IrDatasetsTextOptions, read_documents, suffixes=(".json",))
TOPICS = Format(IrDatasetsTextOptions, read_topics)
JUDGEMENTS = Format(NoOptions, read_judgements)
RUNS = Format(NoOptions, read_runs)
