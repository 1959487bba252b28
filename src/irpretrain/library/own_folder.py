"""A folder of documents, topics and judgements: its files, and the overlay by which the workflow reads them."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from irpretrain.config.finetuning import FEWEST_GROUPS
from irpretrain.corpora.fields import QUOTED_CELL
from irpretrain.corpora.file_lists import role_of
from irpretrain.corpora.registry import Kind
from irpretrain.corpora.topics_and_judgements import (
    Judgements,
    check_queries_are_judged,
    check_something_is_relevant,
    near_hint,
)
from irpretrain.evaluation.runs import lacking, relevant
from irpretrain.foundation.characters import displayed_names
from irpretrain.foundation.errors import InputError, count_of, need_folder
from irpretrain.foundation.files import WORKBOOKS
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.yaml_scalars import dump_yaml
from irpretrain.library.documents import read_documents
from irpretrain.library.formats import Reading, guess_reading, read_relevance, read_topics

KINDS: Mapping[str, Kind] = {"qrels": "judgements", "topics": "topics", "documents": "documents"}
MEASURES = ["nDCG@20", "P@20", "AP", "RR@10"]
# Documents that are read at most, to see that the run can read them: a minute or two.
MAX_DOCUMENTS = 1_000_000
FOLDS = 5
MIN_FOLDS = 3
# Keys of a section beside the options of its format.
SECTION_KEYS = ("malformed", "files")
# As configs/my-collection.yaml: whole documents, in overlapping passages.
RERANKING = {"depth": 50, "passages": {"stride": 20}}
FINETUNING = {"batch_sizes": [4]}


class OwnFolder(NamedTuple):
    """Documents, topics and judgements of a folder, the latter two joined as `irpretrain init` describes them.

    Attributes:
        names: role → path in the folder.
        paths: role → path.
        readings: role → how it is read, known by the beginning of the file.
        queries: topic → text.
        judged: topic → document → relevance.
        message: what was found of topics and judgements, in a sentence.
    """

    names: dict[str, str]
    paths: dict[str, str]
    readings: dict[str, Reading]
    queries: dict[str, str]
    judged: Judgements
    message: str

    def relevant(self) -> dict[str, set[str]]:
        """Return topic → relevant documents, of the topics that have one."""
        relevant_documents = {query: relevant(self.judged.get(query, {})) for query in self.queries}
        return {query: documents for query, documents in relevant_documents.items() if documents}


def read_folder(
    folder: Path,
    paths: Mapping[str, str | None],
    formats: Mapping[str, str | None] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> OwnFolder:
    """Return what a folder has; of the documents only path and format.

    Args:
        folder: with documents, topics and judgements.
        paths: documents, topics, qrels → path in the folder; None for one that is found by name. Options of the
            command: a message refers to them.
        formats: documents, topics → format; None for one that is known by the beginning.
        options: documents, topics → options of the format.

    Raises:
        InputError: one of the three is missing, begins as no format does, or several files could be it; they cannot be
            read, or topics and judgements do not belong together.
    """
    need_folder(folder, "Name a folder with documents, topics and judgements.")
    names = {}
    for role in KINDS:
        remedy = f"Rename the file: its name needs the word {role}."
        if role in paths:
            remedy = f"Give the path in the folder: --{role} PATH."
        name = paths.get(role) or _find_file(folder, role, remedy)
        names[role] = name if role == "documents" else _file_in(folder, name, role, remedy)
    path_of_role = {role: str(folder / name) for role, name in names.items()}
    readings = {
        role: _reading_of(KINDS[role], path, (formats or {}).get(role), (options or {}).get(role, {}))
        for role, path in path_of_role.items()
    }
    topics = readings["topics"]
    queries, judgements = read_topics(path_of_role["topics"], *topics), read_relevance(path_of_role["qrels"])
    topics_text = str(topics)
    reads_identifiers = topics.format == "smart" and "identifiers" not in topics.options
    if reads_identifiers and _judgements_number_topics(queries, judgements):
        readings["topics"] = Reading("smart", {**topics.options, "identifiers": "counted"})
        queries = read_topics(path_of_role["topics"], *readings["topics"])
        topics_text = "smart, counted in their order, as in the judgements"
    check_queries_are_judged(queries, judgements, Path(path_of_role["topics"]), Path(path_of_role["qrels"]))
    grades_of_topics = {query: grades for query, grades in judgements.items() if query in queries}
    check_something_is_relevant(grades_of_topics, Path(path_of_role["qrels"]))
    usable_count = sum(bool(relevant(grades)) for grades in grades_of_topics.values())
    message = (
        f"{count_of(len(queries), 'topic')} in {names['topics']} ({topics_text}), {usable_count:,} with a relevant "
        f"document in {names['qrels']} ({readings['qrels']})"
    )
    queries_without_topic = judgements.keys() - queries.keys()
    if lost_text := lacking("topic", queries_without_topic, judgements):
        unjudged_topics = pa.array(sorted(queries.keys() - judgements.keys()), pa.string())
        hint = near_hint(queries_without_topic, [unjudged_topics], names["topics"])
        message += f"; {lost_text}. {hint}".rstrip(" .")
    return OwnFolder(names, path_of_role, readings, queries, grades_of_topics, message)


def _reading_of(kind: Kind, path: str, format: str | None, options: Mapping[str, Any]) -> Reading:
    if format is not None:
        return Reading(format, dict(options))
    reading = guess_reading(kind, path, options.get("files"))
    return Reading(reading.format, {**reading.options, **options})


def describe_folder(
    folder: Path,
    paths: Mapping[str, str | None],
    formats: Mapping[str, str | None] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[str, str]:
    """Return the overlay, as YAML, and what was found, in a sentence; arguments and errors as in `read_folder`.

    All documents are read, as the run reads them, or so many that the message says it. `make run` is given the folder
    as --directory.
    """
    own_folder = read_folder(folder, paths, formats, options)
    path, reading = own_folder.paths["documents"], own_folder.readings["documents"]
    if reading.format == "tsv" and not (formats or {}).get("documents"):
        reading, names = _read_table(path, reading)
        own_folder.readings["documents"] = reading
    else:
        names = _read_identifiers(path, reading)
    note = few_groups_note(own_folder)
    documents_text = _documents_text(own_folder, names)
    message = f"{own_folder.message}{documents_text}{f'. {note}' if note else ''}".rstrip(".")
    return _overlay(own_folder, note, len(names) if len(names) <= MAX_DOCUMENTS else None), message


def few_groups_note(own_folder: OwnFolder) -> str:
    """Return why nothing is fine-tuned: topics and relevant documents are too few; nothing where something is."""
    relevant_documents, folds = own_folder.relevant(), _folds(own_folder)
    # Each topic is tested by a model that learned from those of the other folds.
    groups = sum(map(len, relevant_documents.values())) * (folds - 1) // folds
    if len(relevant_documents) >= MIN_FOLDS and groups >= FEWEST_GROUPS:
        return ""
    return (
        f"Nothing is fine-tuned: {count_of(len(relevant_documents), 'topic')} with a relevant document would give "
        f"{count_of(groups, 'group')} to learn from (a group is a topic with one of its relevant documents; one of "
        f"{folds} folds is held out), and from fewer than {FEWEST_GROUPS} a model is not shown to learn."
    )


def _folds(own_folder: OwnFolder) -> int:
    return MIN_FOLDS if len(own_folder.relevant()) < FOLDS else FOLDS


def _read_identifiers(path: str, reading: Reading) -> list[str]:
    """Return the documents' identifiers, of one more than `MAX_DOCUMENTS` at most; InputError as the run has it."""
    documents = read_documents(path, reading.format, **reading.options)
    names = (document.document_id for document in progress(documents, "read", "documents"))
    return list(islice(names, MAX_DOCUMENTS + 1))


def _read_table(path: str, reading: Reading) -> tuple[Reading, list[str]]:
    """Return how a table is read that tabs separate, and its documents' identifiers.

    It is csv where quoted cells go on in the next line, far down perhaps: a run would lose some of its documents.
    """
    refusing = {"malformed": "refuse"}
    try:
        return reading, _read_identifiers(path, Reading("tsv", {**reading.options, **refusing}))
    except InputError as error:
        options = {key: value for key, value in reading.options.items() if key != "quotes"}
        csv_reading = Reading("csv", {**options, "separator": "\t"})
        if QUOTED_CELL in str(error):
            with suppress(InputError):
                names = _read_identifiers(path, Reading("csv", {**csv_reading.options, **refusing}))
                notice(
                    path,
                    "quoted cells go on in the next line, so the table is read as csv, separated by tabs",
                )
                return csv_reading, names
    return reading, _read_identifiers(path, reading)


def _documents_text(own_folder: OwnFolder, names: list[str]) -> str:
    """Return what is to be said of the documents; InputError where the run would refuse the judgements for them."""
    count_text = count_of(min(len(names), MAX_DOCUMENTS), "document")
    message = f"; {count_text} in {own_folder.names['documents']} ({own_folder.readings['documents']})"
    if len(names) > MAX_DOCUMENTS:
        return f"{message}, the first of more: the others are not read"
    query_of_document = {name: query for query, grades in own_folder.judged.items() for name in grades}
    unknown_documents = query_of_document.keys() - set(names)
    if not unknown_documents:
        return message
    example = min(unknown_documents)
    unknown_count = f"{len(unknown_documents):,} of {count_of(len(query_of_document), 'judged document')}"
    verb = "is" if len(unknown_documents) == 1 else "are"
    fault = f"{unknown_count} {verb} not among the documents, such as {example}"
    fault += f" (query {query_of_document[example]})"
    hint = near_hint(unknown_documents, [pa.array(names, pa.string())], own_folder.names["documents"])
    if len(unknown_documents) == len(query_of_document):
        remedy = hint or "Check that documents and judgements belong together."
        raise InputError(own_folder.paths["qrels"], fault, remedy=remedy)
    return f"{message}; {fault}. {hint}".rstrip(" .")


def _judgements_number_topics(queries: Collection[str], judged_queries: Collection[str]) -> bool:
    """Whether judgements count the topics from 1 where the topics' own identifiers are others, as Cranfield's do."""
    topic_numbers = {str(number) for number in range(1, len(queries) + 1)}
    return set(judged_queries) <= topic_numbers and not set(judged_queries) <= set(queries)


def _find_file(folder: Path, role: str, remedy: str) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    matching_names = [name for name in names if _role(name) == role]
    if len(matching_names) == 1:
        return matching_names[0]
    if matching_names:
        raise InputError(folder, f"{' and '.join(matching_names)} could be the {role}", remedy=remedy)
    # A workbook holds several sheets, whatever its name.
    for name in names:
        if name.lower().endswith(WORKBOOKS):
            sheets = (
                "Save each sheet as a CSV file (UTF-8), called documents, topics or qrels, into the folder."
            )
            raise InputError(folder / name, "this is a workbook, which is not read", remedy=sheets)
    folder_content = f": the folder has {displayed_names(names)}" if names else ": the folder is empty"
    meaning = f" ({KINDS[role]})" if KINDS[role] != role else ""
    raise InputError(folder, f"nothing here is named like {role}{meaning}{folder_content}", remedy=remedy)


def _file_in(folder: Path, name: str, role: str, remedy: str) -> str:
    """Return the one file of a folder of topics or judgements, such as BEIR's qrels; LETOR's folds are one source."""
    location = folder / name
    if not location.is_dir() or any(path.is_dir() for path in location.iterdir()):
        return name
    files = sorted(path.name for path in location.iterdir() if not path.name.startswith("."))
    if len(files) == 1:
        return f"{name}/{files[0]}"
    fault = f"this is a folder; {' and '.join(files)} could be the {role}" if files else "the folder is empty"
    raise InputError(location, fault, remedy=remedy)


def _role(name: str) -> str | None:
    is_other = name == "results" or name.endswith((".yaml", ".md")) or "readme" in name.lower()
    return None if is_other else role_of(name)


def _overlay(own_folder: OwnFolder, few_groups_text: str, documents: int | None) -> str:
    """Return the overlay as YAML; with the number of documents, if it is known, a plan can say what the run costs."""
    relevant_documents = own_folder.relevant()
    approximate_counts = {
        "documents": documents,
        "topics": len(relevant_documents),
        "qrels": sum(map(len, relevant_documents.values())),
    }
    sections_of_role = {
        role: _file_section(own_folder.names[role], reading, approximate_counts[role])
        for role, reading in own_folder.readings.items()
    }
    dataset: dict[str, Any] = {
        "corpus": "mine",
        "queries": sections_of_role["topics"],
        "qrels": sections_of_role["qrels"],
        "measures": MEASURES,
    }
    if not few_groups_text and _folds(own_folder) != FOLDS:
        dataset["folds"] = _folds(own_folder)
    regimes = ["zero-shot"] if few_groups_text else ["zero-shot", "full"]
    overlay = {
        "inherit": "definitions",
        "corpora": {"mine": sections_of_role["documents"]},
        "datasets": {"mine": dataset},
        "experiments": {"mine": {"dataset": "mine", "models": ["control", "prop"], "regimes": regimes}},
        "reranking": RERANKING,
        **({"report": {"notes": [few_groups_text]}} if few_groups_text else {"finetuning": FINETUNING}),
    }
    comment = "# Which first stage and re-ranker are best on my documents? docs/journeys/my-collection.md\n"
    return comment + dump_yaml(overlay, width=120)


def _file_section(path: str, reading: Reading, approximate_count: int | None) -> dict[str, Any]:
    """Return the section of a file: its path, format, number of records and options; some keys stand beside these."""
    options = dict(reading.options)
    section: dict[str, Any] = {"path": path, "format": reading.format}
    if approximate_count is not None:
        section["about"] = approximate_count
    section |= {key: options.pop(key) for key in SECTION_KEYS if key in options}
    return {**section, "options": options} if options else section
