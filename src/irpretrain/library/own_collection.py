"""A folder of documents, topics and judgements, and the overlay by which the workflow reads it."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from irpretrain.errors import InputError, need_folder
from irpretrain.evaluation.runs import relevant
from irpretrain.library.documents import read_documents
from irpretrain.library.formats import guess_format, read_relevance, read_topics

# What is looked for → parts of its usual names, the most telling first.
WORDS = {
    "qrels": ("qrel", "judg", "relevance"),
    "topics": ("topic", "quer", "question"),
    "documents": ("document", "docs", "corpus", "collection", "passage", "article", "text"),
}
MEASURES = ["nDCG@20", "P@20", "AP", "RR@10"]
# Documents that are read, to see that the format is theirs.
CHECKED = 100
FOLDS = 5
FEWEST_FOLDS = 3


def describe_folder(folder: Path, paths: Mapping[str, str | None]) -> tuple[str, str]:
    """Return the overlay, as YAML, and what was found, in a sentence.

    Args:
        folder: which `make run` is given as --directory.
        paths: documents, topics, qrels → path in the folder; None for one that is found by name.

    Raises:
        InputError: one of the three is missing or cannot be read, or several files could be it.
    """
    need_folder(folder, "Name a folder with documents, topics and judgements.")
    files = {role: paths[role] or _named(folder, role) for role in WORDS}
    documents, topics, qrels = (str(folder / files[role]) for role in ("documents", "topics", "qrels"))
    known = {
        "documents": guess_format("documents", documents),
        "topics": guess_format("topics", topics),
        "qrels": guess_format("judgements", qrels),
    }
    for _ in islice(read_documents(documents, known["documents"]), CHECKED):
        pass
    queries, judged = read_topics(topics), read_relevance(qrels)
    usable = [query for query in queries if relevant(judged.get(query, {}))]
    if not usable:
        fault = f"none of the {len(queries):,} topics of {topics} has a relevant document here"
        raise InputError(qrels, fault, remedy="Check that topics and judgements belong together.")
    message = (
        f"{len(queries):,} topics in {files['topics']} ({known['topics']}), {len(usable):,} with a relevant document "
        f"in {files['qrels']} ({known['qrels']}); documents in {files['documents']} ({known['documents']})"
    )
    return _overlay(files, known, len(usable)), message


def _named(folder: Path, role: str) -> str:
    """Return the one entry of the folder whose name is that of a role."""
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    fitting = [name for name in names if _role(name) == role]
    if len(fitting) == 1:
        return fitting[0]
    fault = (
        f"{' and '.join(fitting)} could be the {role}" if fitting else f"nothing here is named like {role}"
    )
    raise InputError(folder, fault, remedy=f"Give the path in the folder: --{role} PATH.")


def _role(name: str) -> str | None:
    """Return what the name of a file or folder says that it holds."""
    if name == "results" or name.endswith((".yaml", ".md")):
        return None
    return next((role for role, words in WORDS.items() if any(word in name.lower() for word in words)), None)


def _overlay(files: Mapping[str, str], known: Mapping[str, str], queries: int) -> str:
    dataset: dict[str, Any] = {
        "corpus": "mine",
        "queries": {"path": files["topics"], "format": known["topics"]},
        "qrels": {"path": files["qrels"], "format": known["qrels"]},
        "measures": MEASURES,
    }
    if FEWEST_FOLDS <= queries < FOLDS:
        dataset["folds"] = FEWEST_FOLDS
    regimes = ["zero-shot", *(["full"] if queries >= FEWEST_FOLDS else [])]
    overlay = {
        "inherit": "definitions",
        "corpora": {"mine": {"format": known["documents"], "path": files["documents"]}},
        "datasets": {"mine": dataset},
        "experiments": {"mine": {"dataset": "mine", "models": ["control", "prop"], "regimes": regimes}},
        "reranking": {"depth": 100},
    }
    head = "# Which first stage and re-ranker are best on my documents? docs/journeys/my-collection.md\n"
    return head + yaml.safe_dump(overlay, sort_keys=False, allow_unicode=True, width=120)
