"""Checks on whole corpora and on collections of corpora, once all their shards are written."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.corpora.policy import no_documents, over_budget
from irpretrain.corpora.sources import PASSAGES_PER_DOCUMENT
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.provenance import read_sidecar

# Shard, part and position.
Location = tuple[Path, int, int]
UNIQUE_IDENTIFIERS = "Identifiers must be unique: delete all but one of these documents, or rename them."


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
    shards: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        shards[path.parent.as_posix()].append(path)
    corpora = {name: _check_corpus(name, shards[name]) for name in sorted(shards)}
    for name, expected_count in sorted((expected or {}).items()):
        _check_number([path for path in paths if path.parent.name == name], expected_count)
    # Identifiers are compared by 64-bit hashes first (8 bytes per document in memory), then those whose hashes
    # collide.
    check_identifiers(paths, _recorded_location)
    counts = {"documents": sum(corpora.values()), "corpora": corpora}
    if output is not None:
        write_text(output, json.dumps(counts, indent=1, sort_keys=True) + "\n")
    return counts


def check_identifiers(shards: Sequence[Path], describe_location: Callable[[Path, int, int], str]) -> None:
    """Raise InputError, with the first repeated id and two of its locations, if documents share an id."""
    # Python's own hash differs from process to process; it only narrows the search, so the result does not.
    names = (name for column in document_names(shards) for name in column.to_pylist())
    hashes = np.fromiter(map(hash, names), np.int64, count=sum(map(DOCUMENTS.count, shards)))
    hashes.sort()
    suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
    locations = defaultdict[str, list[Location]](list)
    for path in shards if suspects else ():
        for batch in DOCUMENTS.stream(path, columns=["document_id", "part", "position"]):
            for name, part, position in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if hash(name) in suspects:
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


def describe_location_in(file: str | Path, position: int, format: str) -> str:
    """Return the number of a record; of a dump, which nobody edits, how its option leaves the record out."""
    if format == "wikipedia-dump":
        return f"in {file} (the option leave_out takes it as {Path(file).name}:{position})"
    return f"in {file} (record {position + 1})"


def absent_documents(names: set[str], documents: Sequence[str | Path]) -> set[str]:
    """Return which of the named documents the shards lack; memory holds the names only."""
    not_found = set(names)
    sorted_names = pa.array(sorted(not_found), pa.string())
    for column in document_names(documents):
        not_found.difference_update(column.filter(pc.is_in(column, sorted_names)).to_pylist())
    return not_found


def document_names(documents: Sequence[str | Path]) -> Iterator[pa.Array]:
    """Yield the identifiers of all documents of some shards, in batches."""
    for path in documents:
        for batch in DOCUMENTS.stream(path, columns=["document_id"]):
            yield batch.column(0)


def _check_corpus(name: str, shards: list[Path]) -> int:
    total = sum(DOCUMENTS.count(path) for path in shards)
    counts = [read_sidecar(path).get("counts", {}) for path in shards]
    if total == 0:
        raise no_documents(name, counts)
    if excess := over_budget(counts):
        examples = [example for shard in counts for example in shard.get("malformed_examples", ())]
        raise InputError(
            name,
            ": ".join([excess.message, *examples[:1]]),
            remedy=f"Mend the files, or set malformed: {excess.suggested_skip} of the corpus. The .meta.json of its "
            "have examples.",
        )
    return total


def _check_number(shards: list[Path], expected: int) -> None:
    records = sum(int(read_sidecar(path).get("counts", {}).get("read", 0)) for path in shards)
    if shards and records != expected:
        raise InputError(
            shards[0].parent,
            f"the corpus has {count_of(records, 'record')}, expected {expected:,}",
            remedy="Files are missing or differ from the published ones: snakemake --cores 1 "
            "datasets shows which. If your data are right, change `expected` of the corpus.",
        )


def _recorded_location(shard: Path, part: int, position: int) -> str:
    record = read_sidecar(shard)
    parameters = record.get("parameters", {})
    corpus, source = parameters.get("corpus", {}), parameters.get("source", "")
    # as `list_files` sorts them; the proof that the files are the published ones is an input too, and no part
    files = sorted(
        path for path in record.get("inputs", {}) if not source or Path(path).is_relative_to(source)
    )
    shards = corpus.get("shards", 1)
    file_index = part // shards if record.get("counts", {}).get("files", 1) >= shards else part
    file = files[file_index] if file_index < len(files) else f"file {part} of {shard}"
    record_number = position // PASSAGES_PER_DOCUMENT if corpus.get("passage_words") else position
    return describe_location_in(file, record_number, corpus.get("format", ""))
