"""Checks on whole corpora and on collections of corpora, once all their shards are written."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.corpora.policy import UNIQUE_IDENTIFIERS, describe_location_in, malformed_excess, no_documents
from irpretrain.corpora.sources import PASSAGES_PER_DOCUMENT
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.provenance import read_sidecar

# Shard, part and position.
Location = tuple[Path, int, int]


def check_collection(
    documents: Sequence[str | Path],
    output: str | Path | None = None,  # where to write the counts as JSON, if anywhere
    # How many records were to be read, by the name of the corpus (its shards' folder): those that became
    # documents, redirects, or were left out and counted.
    expected: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Check a collection: no repeated document id, no empty corpus, the expected numbers of records, few malformed
    ones.

    Raises:
        InputError: with the first repeated id and both locations, or the corpus with a wrong number or too many faults.
    """
    paths = [Path(path) for path in documents]
    if not paths:
        raise InputError("collection", "it has no shards")
    shards_by_corpus: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        shards_by_corpus[path.parent.as_posix()].append(path)
    document_counts = {
        folder: _check_corpus(folder, shards_by_corpus[folder]) for folder in sorted(shards_by_corpus)
    }
    for corpus, expected_count in (expected or {}).items():
        _check_record_count([path for path in paths if path.parent.name == corpus], expected_count)
    # Identifiers are compared by 64-bit hashes first (8 bytes per document in memory), then those whose hashes
    # collide.
    check_identifiers(paths, _recorded_location)
    counts = {"documents": sum(document_counts.values()), "corpora": document_counts}
    if output is not None:
        write_text(output, json.dumps(counts, indent=1, sort_keys=True) + "\n")
    return counts


def check_identifiers(shards: Sequence[Path], describe_location: Callable[[Path, int, int], str]) -> None:
    """Raise InputError, with the first repeated id and two of its locations, if documents share an id."""
    # Python's own hash differs from process to process; it only narrows the search, so the result does not.
    document_ids = (name for column in stream_ids(shards) for name in column.to_pylist())
    hashes = np.fromiter(map(hash, document_ids), np.int64, count=sum(map(DOCUMENTS.count, shards)))
    hashes.sort()
    repeated_hashes = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
    locations = defaultdict[str, list[Location]](list)
    for path in shards if repeated_hashes else ():
        for batch in DOCUMENTS.stream(path, columns=["document_id", "part", "position"]):
            for name, part, position in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if hash(name) in repeated_hashes:
                    locations[name].append((path, part, position))
    repeated_ids = [name for name, occurrences in locations.items() if len(occurrences) > 1]
    if not repeated_ids:
        return
    first_location, second_location, *_ = locations[repeated_ids[0]]
    more_repeated = f"; {len(repeated_ids) - 1:,} more ids are repeated" if len(repeated_ids) > 1 else ""
    remedy = UNIQUE_IDENTIFIERS
    if first_location[0].parent != second_location[0].parent:
        remedy = (
            "Two corpora of a collection share identifiers; rename those of one, or leave one corpus out."
        )
    raise InputError(
        second_location[0],
        f"document id {repeated_ids[0]!r} occurs {count_of(len(locations[repeated_ids[0]]), 'time')}: "
        f"{describe_location(*first_location)} and {describe_location(*second_location)}{more_repeated}",
        remedy=remedy,
    )


def absent_documents(document_ids: set[str], documents: Sequence[str | Path]) -> set[str]:
    """Return which of the named documents the shards lack; memory holds the names only."""
    absent_ids = set(document_ids)
    id_array = pa.array(document_ids, pa.string())
    for column in stream_ids(documents):
        absent_ids.difference_update(column.filter(pc.is_in(column, id_array)).to_pylist())
    return absent_ids


def stream_ids(documents: Sequence[str | Path]) -> Iterator[pa.Array]:
    """Yield the identifiers of all documents of some shards, in batches."""
    for path in documents:
        for batch in DOCUMENTS.stream(path, columns=["document_id"]):
            yield batch.column(0)


def _check_corpus(folder: str, shards: list[Path]) -> int:
    document_count = sum(DOCUMENTS.count(path) for path in shards)
    shard_counts = [read_sidecar(path).get("counts", {}) for path in shards]
    if document_count == 0:
        raise no_documents(folder, shard_counts)
    if excess := malformed_excess(shard_counts):
        examples = [example for counts in shard_counts for example in counts.get("malformed_examples", ())]
        file_remedies = (counts["remedy_of_files"] for counts in shard_counts if "remedy_of_files" in counts)
        remedy = f"Mend the files, or set corpora.{Path(folder).name}.malformed: {excess.suggested_skip}."
        raise InputError(
            folder,
            ": ".join([excess.message, *examples[:1]]),
            remedy=f"{next(file_remedies, remedy)} The .meta.json of its documents have examples.",
        )
    return document_count


def _check_record_count(shards: list[Path], expected_count: int) -> None:
    record_count = sum(int(read_sidecar(path).get("counts", {}).get("read", 0)) for path in shards)
    if shards and record_count != expected_count:
        raise InputError(
            shards[0].parent,
            f"the corpus has {count_of(record_count, 'record')}, expected {expected_count:,}",
            remedy="Files are missing or differ from the published ones: snakemake --cores 1 "
            "datasets shows which. If your data are right, change `expected` of the corpus.",
        )


def _recorded_location(shard: Path, file_number: int, row_position: int) -> str:
    sidecar = read_sidecar(shard)
    parameters = sidecar.get("parameters", {})
    corpus, source = parameters.get("corpus", {}), parameters.get("source", "")
    # as `list_files` sorts them; the proof that the files are the published ones is an input too, and no document
    files = sorted(
        path for path in sidecar.get("inputs", {}) if not source or Path(path).is_relative_to(source)
    )
    shard_count = corpus.get("shards", 1)
    file_index = (
        file_number // shard_count
        if sidecar.get("counts", {}).get("files", 1) >= shard_count
        else file_number
    )
    file = files[file_index] if file_index < len(files) else f"file {file_number} of {shard}"
    record_number = row_position // PASSAGES_PER_DOCUMENT if corpus.get("passage_words") else row_position
    return describe_location_in(file, record_number, corpus.get("format", ""))
