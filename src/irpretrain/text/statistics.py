"""Collection statistics: how often each word occurs, in how many documents; exact sums over shards.

A shard is read once, and its words are written sorted; when a shard has more distinct words than fit the cap, sorted
runs go to disk and are merged. Merging streams, so a collection's vocabulary never has to fit into memory. All counts
are integers: the result does not depend on how documents were dealt to shards.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.config.text import TextConfig
from irpretrain.foundation.atomic import working_directory
from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError
from irpretrain.foundation.out_of_core import merge_rounds
from irpretrain.foundation.progress import progress
from irpretrain.text.languages import ENGLISH
from irpretrain.text.stop_words import stemmer
from irpretrain.text.texts import stream_texts
from irpretrain.text.words import word_finder

DOCUMENTS_PER_BATCH = 1024

# Distinct words of a shard that are held at a time (about 1.5 GB); beyond it a sorted run goes to disk.
WORDS_IN_MEMORY = 4_000_000

SUM_COLUMNS = ("count", "documents", "stem_documents")


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
    split_words, tally = word_finder(text.word_kind), _Tally(text.language)
    document_count = word_count = documents_without_words = 0
    with working_directory(output, "words") as folder:
        run_files: list[Path] = []
        batches = stream_texts(documents, text, DOCUMENTS_PER_BATCH)
        title = f"count words {Path(documents).parent.name}"
        total = DOCUMENTS.count(documents)
        for _, texts in progress(batches, title, "documents", total, size=lambda batch: len(batch[1])):
            for words in map(split_words, texts):
                tally.add(words)
                word_count += len(words)
                documents_without_words += not words
            document_count += len(texts)
            if len(tally.counts) > words_in_memory:
                run_files.append(folder / f"run-{len(run_files)}.parquet")
                WORD_COUNTS.write(run_files[-1], tally.table())
                tally = _Tally(text.language)
        last_table = tally.table()
        tables = (
            [last_table]
            if not run_files
            else _merge([*map(WORD_COUNTS.stream, run_files), iter(last_table.to_batches())])
        )
        distinct_words = _write(tables, Totals(document_count, word_count, text.language), output)
    return {
        "documents": document_count,
        "documents_without_words": documents_without_words,
        "words": word_count,
        "distinct_words": distinct_words,
    }


def merge_counts(shards: Sequence[str | Path], output: str | Path) -> dict[str, Any]:
    """Add up the WORD_COUNTS tables of shards, in any order; return the numbers of shards, documents and words."""
    shard_totals = [read_totals(shard) for shard in shards]
    language = shard_totals[0].language if shard_totals else ENGLISH
    for shard, totals_of_shard in zip(shards, shard_totals, strict=True):
        if totals_of_shard.language != language:
            fault = f"its words are {totals_of_shard.language}, those of {shards[0]} are {language}"
            raise IntegrityError(shard, fault, remedy="Delete both and run the workflow again.")
    totals = Totals(
        sum(totals_of_shard.documents for totals_of_shard in shard_totals),
        sum(totals_of_shard.words for totals_of_shard in shard_totals),
        language,
    )
    tables = progress(_merge([*map(WORD_COUNTS.stream, shards)]), "merge word counts", "words", size=len)
    distinct_words = _write(tables, totals, output)
    return {
        "shards": len(shards),
        "documents": totals.documents,
        "words": totals.words,
        "distinct_words": distinct_words,
    }


def read_totals(path: str | Path) -> Totals:
    WORD_COUNTS.check(path)
    metadata = pq.read_metadata(path).metadata or {}
    if b"documents" not in metadata or b"words" not in metadata:
        raise IntegrityError(path, "the totals are missing", remedy=MAKE_AGAIN)
    language = metadata.get(b"language", ENGLISH.encode()).decode()
    return Totals(int(metadata[b"documents"]), int(metadata[b"words"]), language)


class _Tally:
    def __init__(self, language: str) -> None:
        self.counts, self._documents, self._stem_documents = Counter[str](), Counter[str](), Counter[str]()
        self._stem = cache(stemmer(language))

    def add(self, words: list[str]) -> None:
        distinct_words = dict.fromkeys(words)
        self.counts.update(words)
        self._documents.update(distinct_words.keys())
        # A document of a stem counts for the first of its words there: later ones of the reversed order win.
        stems = map(self._stem, reversed(distinct_words))
        self._stem_documents.update(dict(zip(stems, reversed(distinct_words), strict=True)).values())

    def table(self) -> pa.Table:
        words = sorted(self.counts)
        sums = (self.counts, self._documents, self._stem_documents)
        columns = [
            pa.array(words, pa.string()),
            *(pa.array([sums_of_word[word] for word in words]) for sums_of_word in sums),
        ]
        return pa.Table.from_arrays(columns, schema=WORD_COUNTS.schema)


def _merge(streams: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.Table]:
    for rows in merge_rounds(streams, ["word"]):
        sums = rows.group_by("word", use_threads=False).aggregate([(name, "sum") for name in SUM_COLUMNS])
        yield sums.rename_columns([name.removesuffix("_sum") for name in sums.column_names]).sort_by("word")


def _write(tables: Iterator[pa.Table] | list[pa.Table], totals: Totals, output: str | Path) -> int:
    with WORD_COUNTS.writing(output) as writer:
        for table in tables:
            writer.add(table)
        language_note = {} if totals.language == ENGLISH else {"language": totals.language}
        writer.note({"documents": str(totals.documents), "words": str(totals.words), **language_note})
        return writer.rows
