"""A catalogue of one small data set, and its files: what the tests of the catalogue look at and break."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from irpretrain.corpora.catalogue.read import Entry

QUERIES = "q1\tfirst query\nq2\tsecond query\n"
QRELS = "q1 0 d1 1\nq2 0 d2 1\nq2 0 d3 0\n"
DOCUMENTS = "".join(json.dumps({"id": f"d{i}", "text": f"text {i}"}) + "\n" for i in range(1, 4))
RUN = "q1 Q0 d1 1 2.5 x\nq1 Q0 d3 2 1.5 x\nq2 Q0 d2 1 0.5 x\n"


def entry(**changes: Any) -> dict[str, Any]:
    """The data set `small`: three documents, two queries, three judgements, and a run."""
    return {
        "label": "Small",
        "what": "Three documents.",
        "source": "https://example.org/small",
        "licence": {"terms": "Free.", "page": "https://example.org/licence"},
        "get": "From its page.",
        "files": {
            "small/documents.jsonl.gz": {"holds": "documents"},
            "small/queries.tsv": {"holds": "queries", "md5": hashlib.md5(QUERIES.encode()).hexdigest()},
            "small/qrels.txt": {"holds": "judgements"},
            "small/theirs.run": {"holds": "a run", "optional": True},
        },
        "corpora": {"small": {"format": "jsonl", "path": "small/documents.jsonl.gz", "expected": 3}},
        "datasets": {
            "small": {
                "label": "Small",
                "corpus": "small",
                "queries": {"format": "tsv", "path": "small/queries.tsv", "expected": 2},
                "qrels": {"format": "trec", "path": "small/qrels.txt", "expected": 3},
                "folds": [["q1"], ["q2"], ["q3"]],
            }
        },
        "first_stages": {"theirs": {"label": "Theirs", "runs": {"small": {"path": "small/theirs.run"}}}},
        **changes,
    }


def write_entry(folder: Path, name: str = "small", **changes: Any) -> Path:
    """Write the entry into a catalogue's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(entry(**changes)))
    return path


def write_files(data: Path) -> None:
    """Write all files of the data set into a data folder."""
    (data / "small").mkdir(parents=True)
    (data / "small/documents.jsonl.gz").write_bytes(gzip.compress(DOCUMENTS.encode(), mtime=0))
    (data / "small/queries.tsv").write_text(QUERIES)
    (data / "small/qrels.txt").write_text(QRELS)
    (data / "small/theirs.run").write_text(RUN)


def readings(entry: Entry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (kind, section) of everything that an entry describes how to read."""
    for corpus in entry.corpora.values():
        yield "documents", corpus
    for dataset in entry.datasets.values():
        yield "topics", dataset["queries"]
        yield "judgements", dataset["qrels"]
    for stage in entry.first_stages.values():
        yield from (("runs", run) for run in stage["runs"].values())
    for task in entry.downstream_tasks.values():
        yield from (("questions", files) for files in task.get("questions", {}).values())
