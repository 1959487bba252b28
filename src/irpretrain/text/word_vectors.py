"""Word vectors of a collection, and the files they are read from."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.corpora.file_lists import require_file
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.characters import without_marks
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError, count_of, refusing_damage
from irpretrain.foundation.files import DAMAGE, open_bytes, split_fields
from irpretrain.foundation.out_of_core import create_mapped
from irpretrain.foundation.progress import progress
from irpretrain.foundation.records import max_record_bytes, max_record_parts
from irpretrain.text.train_vectors import train_vectors
from irpretrain.text.word_store import word_numbers

# Reading files of word vectors: word2vec's text and binary formats, and GloVe's text, all also with gzip.
#
#     word2vec text    a line "words dimensions", then one line per word: the word and its numbers, between blanks
#     word2vec binary  that line, then for each word: the word, a blank, its float32 numbers (little-endian)
#     GloVe            as word2vec text, without the first line
#
# A file is read as a stream, and only words of the collection, which are lower-cased, are stored. The first vector
# of a repeated word counts. Words with blanks in them (GloVe's largest files) are left out. A number among the
# parts of such a word is refused: the line has too many numbers.


# Maximum digits of a number in the first line.
MAX_DIGITS = 15

# Bytes of a line that a message quotes.
MAX_QUOTED_BYTES = 40
FORMATS = "Give a file in word2vec's text or binary format, or in GloVe's."

# Bytes; what is longer is no word.
MAX_WORD_BYTES = 4096
Entry = tuple[str, np.ndarray]


def read_vectors(path: str | Path, row_of_word: dict[str, int], output: Path) -> dict[str, Any]:
    """Write the vectors of a collection's words (`row_of_word`: word → row); return the record of `make_word_vectors`.

    Raises:
        InputError: the file is missing, damaged or of another format, or has no word of the collection.
    """
    try:
        with open_bytes(require_file(path)) as handle:
            file_format, dimensions, entries = _entries(handle, path, row_of_word)
            first_entry = next(entries)  # so that no file of three numbers takes gigabytes of the disk
            rows = create_mapped(output, np.dtype(np.float32), (len(row_of_word), dimensions))
            has_vector, words_read = np.zeros(len(row_of_word), bool), 0
            for word, vector in progress(chain([first_entry], entries), "read word vectors", "words"):
                words_read += 1
                if len(vector) and not has_vector[row_of_word[word]]:
                    rows[row_of_word[word]], has_vector[row_of_word[word]] = vector, True
    except DAMAGE as error:
        raise InputError(path, f"it cannot be read: {error}", remedy=FORMATS) from None
    if not has_vector.any():
        raise InputError(
            path,
            f"none of its {count_of(words_read, 'word')} is a word of the collection",
            remedy="Words of collections are lower-cased; give vectors of lower-cased words in its language.",
        )
    return {
        "source": Path(path).name,
        "format": file_format,
        "words": len(row_of_word),
        "dimensions": dimensions,
        "words_with_vector": int(has_vector.sum()),
        "words_in_file": words_read,
    }


def _entries(
    handle: IO[bytes], path: str | Path, row_of_word: dict[str, int]
) -> tuple[str, int, Iterator[Entry]]:
    """Return (format, dimensions, words with their vectors); words that the collection lacks come without theirs."""
    first_line = _read_line(handle, path, 1)
    fields = split_fields(first_line, None)
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        # Python reads no integers of thousands of digits.
        count, dimensions = (int(field) if len(field) <= MAX_DIGITS else 0 for field in fields)
        if not 1 <= dimensions <= max_record_parts() or count < 1:
            quoted_line = first_line.strip()[:MAX_QUOTED_BYTES].decode()  # digits and blanks
            raise InputError(
                path,
                f"its first line, {quoted_line!r}, gives an impossible number of vectors or dimensions",
                1,
                FORMATS,
            )
        second_line = _read_line(handle, path, 2) if _is_text(path, dimensions) else None
        if second_line is None:
            return "word2vec-binary", dimensions, _read_binary(handle, path, count, dimensions, row_of_word)
        lines = _read_text(handle, second_line, 2, path, dimensions, row_of_word)
        return "word2vec-text", dimensions, _check_count(lines, path, count)
    dimensions = len(fields) - 1
    if dimensions < 1 or not _are_numbers(fields[1:]):
        raise InputError(
            path, "its first line is neither a word2vec header nor a word with numbers", 1, FORMATS
        )
    return "glove", dimensions, _read_text(handle, first_line, 1, path, dimensions, row_of_word)


def _is_text(path: str | Path, dimensions: int) -> bool:
    with open_bytes(path) as handle:
        _read_line(handle, path, 1)
        # A number takes no more than 32 characters; a binary file may have no line end for long.
        fields = handle.readline(MAX_WORD_BYTES + 32 * dimensions).split(None, dimensions + 1)
    return len(fields) > 1 and _are_numbers(fields[1 : dimensions + 1])


def _read_line(handle: IO[bytes], path: str | Path, line_number: int) -> bytes:
    line = handle.readline(max_record_bytes() + 1)
    if len(line) > max_record_bytes():
        raise InputError(path, f"a line of more than {max_record_bytes():,} bytes", line_number, FORMATS)
    return without_marks(line)


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


NO_VECTOR = np.empty(0, np.float32)


def _read_text(
    handle: IO[bytes],
    first_line: bytes,
    line_number: int,
    path: str | Path,
    dimensions: int,
    row_of_word: dict[str, int],
) -> Iterator[Entry]:
    line = first_line
    while line:
        fields = line.rsplit(None, dimensions)
        if fields:
            if len(fields[0]) > MAX_WORD_BYTES:
                fault = f"a word of more than {MAX_WORD_BYTES:,} bytes before {dimensions} numbers"
                raise InputError(path, fault, line_number, FORMATS)
            word_fields = fields[0].split()
            field_count = len(word_fields) + len(fields) - 1
            if field_count <= dimensions or any(_are_numbers([field]) for field in word_fields[1:]):
                fault = f"{field_count} fields where a word and {dimensions} numbers should be"
                raise InputError(path, fault, line_number, FORMATS)
            word = b" ".join(word_fields).decode("utf-8", "replace")
            yield word, _parse_vector(fields[1:], path, line_number) if word in row_of_word else NO_VECTOR
        line_number += 1
        line = _read_line(handle, path, line_number)


def _parse_vector(fields: list[bytes], path: str | Path, line_number: int) -> np.ndarray:
    try:
        vector = np.array([float(field) for field in fields], np.float32)
    except ValueError as error:
        raise InputError(path, str(error), line_number, FORMATS) from None
    if not np.isfinite(vector).all():
        raise InputError(path, "a number is not finite", line_number, FORMATS)
    return vector


def _check_count(entries: Iterator[Entry], path: str | Path, count: int) -> Iterator[Entry]:
    """Yield the entries; refuse another number of them than the first line promises."""
    entry_count = 0
    for entry_count, entry in enumerate(entries, 1):  # noqa: B007 (used after the loop)
        yield entry
    if entry_count != count:
        fault = f"it holds {count_of(entry_count, 'word')} but its first line promises {count:,}"
        raise InputError(path, fault, None, FORMATS)


def _read_binary(
    handle: IO[bytes], path: str | Path, count: int, dimensions: int, row_of_word: dict[str, int]
) -> Iterator[Entry]:
    vector_bytes = 4 * dimensions
    block_bytes = max(1 << 20, MAX_WORD_BYTES + 2 * vector_bytes)
    buffer, position = b"", 0
    for entry in range(count):
        word_end = buffer.find(b" ", position)
        if word_end < 0 or len(buffer) < word_end + 1 + vector_bytes:
            buffer, position = buffer[position:] + handle.read(block_bytes), 0
            word_end = buffer.find(b" ")
        if not 0 <= word_end - position <= MAX_WORD_BYTES or len(buffer) < word_end + 1 + vector_bytes:
            raise InputError(path, f"it ends or is damaged at word {entry + 1:,} of {count:,}", None, FORMATS)
        # Some writers end a vector with a line end.
        word = buffer[position:word_end].lstrip(b"\n").decode("utf-8", "replace")
        position = word_end + 1 + vector_bytes
        if word not in row_of_word:
            yield word, NO_VECTOR
            continue
        vector = np.frombuffer(buffer, "<f4", dimensions, word_end + 1)
        if not np.isfinite(vector).all():
            raise InputError(path, f"a number of word {entry + 1:,} is not finite", None, FORMATS)
        yield word, vector
    if (buffer[position:] + handle.read(MAX_WORD_BYTES)).strip(b"\n\0 "):
        raise InputError(
            path, f"it goes on behind the {count:,} words that its first line promises", None, FORMATS
        )


# Word vectors of a collection: one row per word of its WORD_COUNTS table, trained on it or read from a file.
#
# A directory of `vectors.npy` (float32 [words, dimensions], memory-mapped; zero rows where there is no vector) and
# `vectors.json` (source, words, dimensions, words_with_vector, …). To look at them with gensim:
#
#     words = WORD_COUNTS.read("…/words.parquet")["word"].to_pylist()
#     vectors = np.load("…/vectors.npy")
#     keyed = gensim.models.KeyedVectors(vectors.shape[1])
#     keyed.add_vectors(words, vectors)


RECORD = "vectors.json"


def open_word_vectors(directory: str | Path, word_count: int) -> np.ndarray:
    """Open the vectors of a collection with so many words, float32 [words, dimensions]; IntegrityError if damaged or of
    another collection."""
    folder = Path(directory)
    with refusing_damage(directory, "these are not word vectors", MAKE_AGAIN):
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        shape = record["words"], record["dimensions"]
        # An empty file cannot be memory-mapped.
        rows = np.asarray(np.load(folder / "vectors.npy", mmap_mode="r" if shape[0] else None))
        if rows.shape != shape or rows.dtype != np.float32:
            raise ValueError(f"vectors.npy holds {rows.dtype} {rows.shape}, not float32 {shape}")
    if len(rows) != word_count:
        fault = f"they are for {count_of(len(rows), 'word')}, but the statistics have {word_count:,}"
        raise IntegrityError(directory, fault, remedy=MAKE_AGAIN)
    rows.flags.writeable = False
    return rows


def make_word_vectors(
    options: WordVectorsConfig,
    # Word stores of the shards of each corpus. Documents are read corpus after corpus, within one by (part,
    # position), so the shards do not matter.
    word_stores: Sequence[Sequence[str | Path]],
    statistics: str | Path,  # merged WORD_COUNTS of the collection
    seed: int,  # of training, and of the choice of documents under `most_words`
    output: str | Path,  # directory to write
    vector_file: str | Path | None = None,  # a file to read in place of training
) -> dict[str, Any]:
    """Write the word vectors of a collection; return the record of sources, counts and training.

    Raises:
        InputError: the file is missing, or has no vectors.
        ConfigError: no word is frequent enough to be trained.
        IntegrityError: a store is damaged, or of other statistics.
    """
    with atomic_directory(output) as folder:
        path = folder / "vectors.npy"
        if vector_file is not None:
            record = read_vectors(vector_file, word_numbers(statistics), path)
        else:
            record = train_vectors(word_stores, statistics, options, seed, path)
        (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return record
