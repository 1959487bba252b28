"""Collection statistics: how often each word occurs, in how many documents; exact sums over shards.

A shard is read once. Its words are numbered as they come, counted in compiled code, and written sorted; when a
shard has more distinct words than fit the cap, sorted runs go to disk and are merged. Merging streams, so a
collection's vocabulary never has to fit into memory. All counts are integers: the result does not depend on how
documents were dealt to shards.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, WORD_COUNTS, ContractWriter
from irpretrain.errors import MAKE_AGAIN, IntegrityError
from irpretrain.foundation.atomic import atomic_file, working_directory
from irpretrain.foundation.out_of_core import merge_rounds
from irpretrain.foundation.progress import progress
from irpretrain.text.languages import ENGLISH
from irpretrain.text.stop_words import stems_of
from irpretrain.text.texts import stream_texts
from irpretrain.text.words import word_finder

DOCUMENTS_PER_BATCH = 1024

# Distinct words of a shard that are held at a time (about 1.5 GB); beyond it a sorted run goes to disk.
WORDS_IN_MEMORY = 4_000_000

SUMS = ("count", "documents", "stem_documents")


@dataclass(frozen=True)
class Totals:
    """Sums of a collection: its documents (empty ones too) and the occurrences of all words; the language of these."""

    documents: int
    words: int
    language: str = ENGLISH


def count_words(
    documents: str | Path, text: TextConfig, output: str | Path, words_in_memory: int = WORDS_IN_MEMORY
) -> dict[str, Any]:
    """Count the words of one corpus shard (DOCUMENTS) into a WORD_COUNTS table, sorted by word; totals are in its
    metadata.

    At most `words_in_memory` distinct words are in memory.

    Returns:
        Counts: documents, documents_without_words, words, distinct_words.
    """
    tally, totals, empty = _Tally(text.language), Totals(0, 0, text.language), 0
    with working_directory(output, "words") as folder:
        runs: list[Path] = []
        batches = stream_texts(documents, text, DOCUMENTS_PER_BATCH)
        title = f"count words {Path(documents).parent.name}"
        total = DOCUMENTS.count(documents)
        for _, batch in progress(batches, title, "documents", total, size=lambda batch: len(batch[1])):
            words, without = tally.add(batch, text)
            totals = Totals(totals.documents + len(batch), totals.words + words, text.language)
            empty += without
            if len(tally.numbers) > words_in_memory:
                runs.append(folder / f"run-{len(runs)}.parquet")
                WORD_COUNTS.write(runs[-1], tally.table())
                tally = _Tally(text.language)
        rest = tally.table()
        tables = [rest] if not runs else _merged([*map(WORD_COUNTS.stream, runs), iter(rest.to_batches())])
        distinct = _write(tables, totals, output)
    return {
        "documents": totals.documents,
        "documents_without_words": empty,
        "words": totals.words,
        "distinct_words": distinct,
    }


def merge_counts(shards: Sequence[str | Path], output: str | Path) -> dict[str, Any]:
    """Add up the WORD_COUNTS tables of shards, in any order; return the numbers of shards, documents and words."""
    parts = [read_totals(shard) for shard in shards]
    language = parts[0].language if parts else ENGLISH
    for shard, part in zip(shards, parts, strict=True):
        if part.language != language:
            fault = f"its words are {part.language}, those of {shards[0]} are {language}"
            raise IntegrityError(shard, fault, remedy="Delete both and run the workflow again.")
    totals = Totals(sum(part.documents for part in parts), sum(part.words for part in parts), language)
    rounds = progress(_merged([*map(WORD_COUNTS.stream, shards)]), "merge word counts", "words", size=len)
    distinct = _write(rounds, totals, output)
    return {
        "shards": len(shards),
        "documents": totals.documents,
        "words": totals.words,
        "distinct_words": distinct,
    }


def read_totals(path: str | Path) -> Totals:
    WORD_COUNTS.check(path)
    facts = pq.read_metadata(path).metadata or {}
    if b"documents" not in facts or b"words" not in facts:
        raise IntegrityError(path, "the totals are missing", remedy=MAKE_AGAIN)
    language = facts.get(b"language", ENGLISH.encode()).decode()
    return Totals(int(facts[b"documents"]), int(facts[b"words"]), language)


class _Tally:
    def __init__(self, language: str) -> None:
        self._language = language
        # A new word gets the next number. A method of the dictionary itself would keep all of it until a collection.
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._stem_numbers: dict[str, int] = {}
        self._stem_of = np.empty(0, np.int64)
        self._sums = {name: np.empty(0, np.int64) for name in SUMS}
        self._last = {name: np.empty(0, np.int64) for name in ("word", "stem")}
        self._seen = 0

    def add(self, texts: list[str], text: TextConfig) -> tuple[int, int]:
        from irpretrain.text.word_tally import TermTally, add_documents  # numba

        find, number = word_finder(text.word_kind), self.numbers.__getitem__
        words_before = len(self.numbers)
        documents = [list(map(number, find(document))) for document in texts]
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
        words = np.fromiter(chain.from_iterable(documents), np.int64, int(lengths.sum()))
        self._grow(words_before)
        counts, documents_with, stem_documents = (self._sums[name] for name in SUMS)
        add_documents(
            words,
            np.concatenate(([0], np.cumsum(lengths))),
            self._stem_of,
            TermTally(counts, documents_with, stem_documents, self._last["word"], self._last["stem"]),
            self._seen,
        )
        self._seen += len(texts)
        return len(words), int(np.count_nonzero(lengths == 0))

    def _grow(self, words_before: int) -> None:
        new = list(islice(reversed(self.numbers), len(self.numbers) - words_before))[::-1]
        stems = [
            self._stem_numbers.setdefault(stem, len(self._stem_numbers))
            for stem in stems_of(new, self._language)
        ]
        size = len(self.numbers)
        if size > len(self._stem_of):
            capacity = max(size, 2 * len(self._stem_of), 1024)
            self._stem_of = _extend(self._stem_of, capacity, 0)
            self._sums = {name: _extend(sums, capacity, 0) for name, sums in self._sums.items()}
            self._last = {name: _extend(last, capacity, -1) for name, last in self._last.items()}
        self._stem_of[words_before:size] = stems

    def table(self) -> pa.Table:
        size = len(self.numbers)
        columns = [
            pa.array(list(self.numbers), pa.string()),
            *(pa.array(sums[:size]) for sums in self._sums.values()),
        ]
        return pa.Table.from_arrays(columns, schema=WORD_COUNTS.schema).sort_by("word")


def _extend(values: np.ndarray, size: int, filler: int) -> np.ndarray:
    return np.concatenate((values, np.full(size - len(values), filler, np.int64)))


def _merged(streams: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.Table]:
    for rows in merge_rounds(streams, lambda block, row: block.column(0)[row].as_py()):
        added = rows.group_by("word", use_threads=False).aggregate([(name, "sum") for name in SUMS])
        yield added.rename_columns([name.removesuffix("_sum") for name in added.column_names]).sort_by("word")


def _write(tables: Iterator[pa.Table] | list[pa.Table], totals: Totals, output: str | Path) -> int:
    with atomic_file(output) as temporary, ContractWriter(WORD_COUNTS, temporary) as writer:
        for table in tables:
            writer.add(table)
        spoken = {} if totals.language == ENGLISH else {"language": totals.language}
        writer.note({"documents": str(totals.documents), "words": str(totals.words), **spoken})
        return writer.rows
