"""Files of topics and judgements as the configuration describes them: what is repeated, contradicts, or is missing."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.corpora import FileConfig
from irpretrain.corpora.collection import absent_documents, stream_ids
from irpretrain.corpora.file_lists import files_of_sources
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.registry import format_of
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.records import Malformed

# Query id → document id → relevance.
Judgements = dict[str, dict[str, int]]

REPEATED_QUERY, REPEATED_JUDGEMENT = "repeated query", "repeated judgement"

# A file, or several that are read one after the other.
Sources = str | Path | Sequence[str | Path]


def source_files(config: FileConfig, sources: Sources) -> list[Path]:
    """Return the files that are given, those of folders included."""
    return files_of_sources(sources, format_of(config.kind, config.format).suffixes)


def read_records(config: FileConfig, path: Path) -> Any:
    """Return an iterator over the records of one file: the kind's, `Skipped` and `Malformed` ones."""
    reader = format_of(config.kind, config.format)
    return reader.read(path, reader.options(**config.options))


def sound_records(config: FileConfig, files: list[Path], tally: RecordTally) -> Iterator[tuple[Path, Any]]:
    """Yield the sound records of some files, each with its file; then InputError if too many are malformed."""
    for path in files:
        for record in tally.sound(path, read_records(config, path)):
            yield path, record
    tally.settle()


def check_number(config: FileConfig, files: list[Path], record_count: int, record_noun: str) -> None:
    """Raise InputError where files hold another number of records than the configuration expects."""
    if config.expected not in (None, record_count):
        more_text = f" (and {len(files) - 1} more files)" if len(files) > 1 else ""
        raise InputError(
            files[0],
            f"there are {record_count:,} {record_noun} here{more_text}, expected {config.expected:,}",
            remedy="Get the data again. If your data are right, change `expected` of their section.",
        )


def read_queries(config: FileConfig, files: list[Path], tally: RecordTally) -> dict[str, str]:
    """Read the queries' texts; one that is repeated word for word counts once, one with another text is malformed."""
    texts = dict[str, str]()
    for path, query in sound_records(config, files, tally):
        if query.query_id not in texts:
            texts[query.query_id] = query.text
        elif texts[query.query_id] == query.text:
            tally.skipped[REPEATED_QUERY] += 1
        else:
            detail = f"{query.query_id} was {texts[query.query_id][:60]!r} before"
            tally.report(path, Malformed(query.position, "query id occurs twice", detail, query.line))
    return texts


def read_judgements(config: FileConfig, files: list[Path], tally: RecordTally) -> Judgements:
    """Read the judgements; a repeated one counts once, one with another relevance is malformed."""
    judgements = Judgements()
    for path, entry in sound_records(config, files, tally):
        grades = judgements.setdefault(entry.query_id, {})
        earlier_grade = grades.get(entry.document_id)
        if earlier_grade is None:
            grades[entry.document_id] = entry.relevance
        elif earlier_grade == entry.relevance:
            tally.skipped[REPEATED_JUDGEMENT] += 1
        else:
            detail = f"{entry.query_id} {entry.document_id} was {earlier_grade} before and is {entry.relevance} here"
            tally.report(path, Malformed(entry.position, "judged twice", detail, entry.line))
    return judgements


def read_answers(config: FileConfig, files: list[Path], tally: RecordTally) -> dict[str, tuple[str, ...]]:
    """Read the answers of each query; a query that comes again is malformed unless its answers are the same."""
    answers_of_query = dict[str, tuple[str, ...]]()
    for path, entry in sound_records(config, files, tally):
        if entry.query_id not in answers_of_query:
            answers_of_query[entry.query_id] = entry.answers
        elif answers_of_query[entry.query_id] == entry.answers:
            tally.skipped[REPEATED_JUDGEMENT] += 1
        else:
            detail = f"{entry.query_id} had other answers before"
            tally.report(path, Malformed(entry.position, "answered twice", detail, entry.line))
    return answers_of_query


# Whether topics, judgements and corpus belong together: what cannot be is refused, with the file that is to blame.

REMEDY = "Check that topics, judgements and corpus belong together."


def near_hint(unknown_ids: Iterable[str], known_ids: Iterable[pa.Array], source_name: str) -> str:
    """Return a sentence on why identifiers may be unknown; empty if none resembles a known one.

    `known_ids` is read until one resembles an unknown one; `source_name` names their source, such as "the corpus".
    """
    unknown_array = pa.array(sorted(unknown_ids), pa.string())
    # The name of a file stays as it is.
    subject = f"T{source_name[1:]}" if source_name.startswith("the ") else source_name
    unknown_forms = _comparable_forms(unknown_array)
    for known_batch in known_ids:
        match_rows = pc.index_in(unknown_forms, _comparable_forms(known_batch))
        if match_rows.null_count < len(match_rows):
            unknown_index = pc.index(pc.is_valid(match_rows), True).as_py()
            known_id = known_batch[match_rows[unknown_index].as_py()]
            return (
                f"{subject} has {known_id} in place of {unknown_array[unknown_index]}: identifiers differ by zeros "
                "in front of numbers, .0 behind them, case or separators alone; mend one of the files."
            )
    return ""


def _comparable_forms(ids: pa.Array) -> pa.Array:
    """Identifiers in small letters, with one sign as every separator, their numbers without zeros in front and a .0."""
    without_decimals = pc.replace_substring_regex(pc.utf8_lower(ids), r"^([0-9]+)\.0+$", r"\1")
    with_hyphens = pc.replace_substring_regex(without_decimals, r"[-_./: ]+", "-")
    return pc.replace_substring_regex(with_hyphens, r"(^|[^0-9])0+([0-9])", r"\1\2")


def check_queries_are_judged(
    query_ids: Collection[str],  # identifiers of the queries
    judgements: Mapping[str, Collection[str]],  # query id → what is judged for it: documents, or answers
    topics_file: Path,
    judgements_file: Path,
    judgement_noun: str = "judgement",  # what the second file holds, in the singular
) -> None:
    """Raise InputError for files without a record, and for files that have no query in common."""
    if not query_ids:
        raise InputError(
            topics_file, "there is no query in it", remedy="Give the file of topics, and its format."
        )
    if not judgements:
        remedy = f"Give the file of {judgement_noun}s, and its format."
        raise InputError(judgements_file, f"there is no {judgement_noun} in it", remedy=remedy)
    if not set(judgements).isdisjoint(query_ids):
        return
    query = min(judgements)
    reason = (
        f"none of the {count_of(len(judgements), 'query')} in it is in {topics_file}: "
        f"it has {query}, the topics have {min(query_ids)}"
    )
    if hint := near_hint(judgements, [pa.array(sorted(query_ids))], str(topics_file)):
        remedy = hint
    elif any(name in query_ids for judged_items in judgements.values() for name in judged_items):
        remedy = (
            "Queries stand where documents should: its columns must be query, iteration, document, relevance. A file "
            "with other columns can be read with format: tsv."
        )
    else:
        remedy = REMEDY
    raise InputError(judgements_file, reason, remedy=remedy)


def check_documents_are_known(
    judgements: Judgements,
    unknown_documents: set[str],  # the judged documents that the corpus lacks
    documents: Sequence[str | Path],
    judgements_file: Path,
) -> None:
    """Raise InputError where all judged documents are unknown."""
    judged_documents = {name for grades in judgements.values() for name in grades}
    if not unknown_documents or len(unknown_documents) < len(judged_documents):
        return
    query, document = min(
        (q, d) for q, grades in judgements.items() for d in grades if d in unknown_documents
    )
    remedy = document_hint(unknown_documents, judgements, documents) or (
        "Check that corpus and judgements belong together (identifiers, and for SQuAD the unit). Single unknown "
        "documents are kept and counted."
    )
    raise InputError(
        judgements_file,
        f"{count_of(len(unknown_documents), 'judged document')} not in the corpus, such as {document} (query {query})",
        remedy=remedy,
    )


def check_something_is_relevant(judgements: Judgements, judgements_file: Path) -> None:
    """Raise InputError where no judgement of the queries is of relevance."""
    if not any(grade > 0 for grades in judgements.values() for grade in grades.values()):
        judgement_count = sum(map(len, judgements.values()))
        raise InputError(
            judgements_file,
            f"none of its {count_of(judgement_count, 'judgement')} marks a document as relevant (1 or more)",
            remedy="Check its columns: query, iteration, document, relevance.",
        )


def document_hint(
    unknown_documents: set[str], judgements: Judgements, documents: Sequence[str | Path]
) -> str:
    """Return why judged documents may be unknown; nothing if no reason is seen."""
    passage_ids = {f"{document_id}#0" for document_id in unknown_documents}
    if len(absent_documents(passage_ids, documents)) < len(passage_ids):
        return (
            "The corpus is cut into passages, which have names of their own: leave passage_words out of the corpus "
            "that the data set searches, or judge passages (document#0, document#1, …)."
        )
    return near_hint(unknown_documents, stream_ids(documents), "the corpus")
