"""A folder of documents, topics and judgements: its files, and the overlay by which the workflow reads them."""

from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from irpretrain.config.finetuning import FEWEST_GROUPS
from irpretrain.corpora.file_lists import role_of
from irpretrain.corpora.registry import Kind
from irpretrain.corpora.topics_and_judgements import (
    Judgements,
    check_queries_are_judged,
    check_something_is_relevant,
    near_hint,
)
from irpretrain.evaluation.runs import lacking, relevant
from irpretrain.foundation.errors import InputError, count_of, need_folder
from irpretrain.foundation.yaml_scalars import dump_yaml
from irpretrain.library.documents import read_documents
from irpretrain.library.formats import guess_format, read_relevance, read_topics

KINDS: Mapping[str, Kind] = {"qrels": "judgements", "topics": "topics", "documents": "documents"}
MEASURES = ["nDCG@20", "P@20", "AP", "RR@10"]
# Documents that are read, to see that the format is theirs.
CHECKED = 100
FOLDS = 5
FEWEST_FOLDS = 3
COUNTED = {"identifiers": "counted"}
# As configs/my-collection.yaml: whole documents, in passages as long as those of pre-training, also in fine-tuning.
RERANKING = {"depth": 50, "passages": {"words": 40, "stride": 20}}
FINETUNING = {"max_length": 96, "batch_sizes": [4]}


class OwnFolder(NamedTuple):
    """Documents, topics and judgements of a folder, the latter two joined as `irpretrain init` describes them.

    Attributes:
        names: role → path in the folder.
        paths: role → path.
        formats: role → format, known by the beginning of the file.
        queries: topic → text.
        judged: topic → document → relevance.
        counted: whether topics are named by their number, as in the judgements, not by their own identifiers.
        message: what was found, in a sentence.
    """

    names: dict[str, str]
    paths: dict[str, str]
    formats: dict[str, str]
    queries: dict[str, str]
    judged: Judgements
    counted: bool
    message: str

    def relevant(self) -> dict[str, set[str]]:
        """Return topic → relevant documents, of the topics that have one."""
        judged = {query: relevant(self.judged.get(query, {})) for query in self.queries}
        return {query: documents for query, documents in judged.items() if documents}


def read_folder(folder: Path, paths: Mapping[str, str | None]) -> OwnFolder:
    """Return what a folder has; of the documents only path and format.

    Args:
        folder: with documents, topics and judgements.
        paths: documents, topics, qrels → path in the folder; None for one that is found by name. Options of the
            command: a message refers to them.

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
        name = paths.get(role) or _named(folder, role, remedy)
        names[role] = name if role == "documents" else _file_in(folder, name, role, remedy)
    located = {role: str(folder / name) for role, name in names.items()}
    formats = {role: guess_format(KINDS[role], path) for role, path in located.items()}
    queries, judged = read_topics(located["topics"]), read_relevance(located["qrels"])
    counted = formats["topics"] == "smart" and _count_topics(queries, judged)
    if counted:
        queries = read_topics(located["topics"], "smart", COUNTED)
    check_queries_are_judged(queries, judged, Path(located["topics"]), Path(located["qrels"]))
    of_topics = {query: grades for query, grades in judged.items() if query in queries}
    check_something_is_relevant(of_topics, Path(located["qrels"]))
    usable = sum(bool(relevant(grades)) for grades in of_topics.values())
    message = (
        f"{count_of(len(queries), 'topic')} in {names['topics']} ({formats['topics']}"
        f"{', counted in their order, as in the judgements' if counted else ''}), {usable:,} with a relevant "
        f"document in {names['qrels']} ({formats['qrels']}); documents in {names['documents']} "
        f"({formats['documents']})"
    )
    strangers = judged.keys() - queries.keys()
    if lost := lacking("topic", strangers, judged):
        unjudged = pa.array(sorted(queries.keys() - judged.keys()), pa.string())
        message += f"; {lost}. {near_hint(strangers, [unjudged], names['topics'])}".rstrip(" .")
    return OwnFolder(names, located, formats, queries, of_topics, counted, message)


def describe_folder(folder: Path, paths: Mapping[str, str | None]) -> tuple[str, str]:
    """Return the overlay, as YAML, and what was found, in a sentence; arguments and errors as in `read_folder`.

    `make run` is given the folder as --directory.
    """
    own = read_folder(folder, paths)
    for _ in islice(read_documents(own.paths["documents"], own.formats["documents"]), CHECKED):
        pass
    few = f". {few_groups_note(own)}" if few_groups_note(own) else ""
    return _overlay(own), own.message + few.rstrip(".")


def few_groups_note(own: OwnFolder) -> str:
    """Return why nothing is fine-tuned: topics and relevant documents are too few; nothing where something is."""
    relevant_documents, folds = own.relevant(), _folds(own)
    # Each topic is tested by a model that learned from those of the other folds.
    groups = sum(map(len, relevant_documents.values())) * (folds - 1) // folds
    if len(relevant_documents) >= FEWEST_FOLDS and groups >= FEWEST_GROUPS:
        return ""
    return (
        f"Nothing is fine-tuned: {count_of(len(relevant_documents), 'topic')} with a relevant document would give "
        f"{count_of(groups, 'group')} to learn from (a group is a topic with one of its relevant documents), and from "
        f"fewer than {FEWEST_GROUPS} a model is not shown to learn."
    )


def _folds(own: OwnFolder) -> int:
    return FEWEST_FOLDS if len(own.relevant()) < FOLDS else FOLDS


def _count_topics(queries: Collection[str], judged: Collection[str]) -> bool:
    """Whether judgements count the topics from 1 where the topics' own identifiers are others, as Cranfield's do."""
    numbers = {str(number) for number in range(1, len(queries) + 1)}
    return set(judged) <= numbers and not set(judged) <= set(queries)


def _named(folder: Path, role: str, remedy: str) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    fitting = [name for name in names if _role(name) == role]
    if len(fitting) == 1:
        return fitting[0]
    fault = (
        f"{' and '.join(fitting)} could be the {role}" if fitting else f"nothing here is named like {role}"
    )
    raise InputError(folder, fault, remedy=remedy)


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


def _overlay(own: OwnFolder) -> str:
    files, known, few = own.names, own.formats, few_groups_note(own)
    dataset: dict[str, Any] = {
        "corpus": "mine",
        "queries": {"path": files["topics"], "format": known["topics"]},
        "qrels": {"path": files["qrels"], "format": known["qrels"]},
        "measures": MEASURES,
    }
    if own.counted:
        dataset["queries"]["options"] = dict(COUNTED)
    if not few and _folds(own) != FOLDS:
        dataset["folds"] = _folds(own)
    regimes = ["zero-shot", *([] if few else ["full"])]
    overlay = {
        "inherit": "definitions",
        "corpora": {"mine": {"format": known["documents"], "path": files["documents"]}},
        "datasets": {"mine": dataset},
        "experiments": {"mine": {"dataset": "mine", "models": ["control", "prop"], "regimes": regimes}},
        "reranking": RERANKING,
        **({"report": {"notes": [few]}} if few else {"finetuning": FINETUNING}),
    }
    head = "# Which first stage and re-ranker are best on my documents? docs/journeys/my-collection.md\n"
    return head + dump_yaml(overlay, width=120)
