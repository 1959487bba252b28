"""Reading files of word vectors: word2vec's text and binary formats, and GloVe's text, all also with gzip.

    word2vec text    a line "words dimensions", then a line a word: the word and its numbers, between blanks
    word2vec binary  that line, then for each word: the word, a blank, its float32 numbers (little-endian)
    GloVe            as word2vec text, without the first line

A file is read as a stream, and only what the collection holds is kept: words of the collection are lower-cased, and a
file's words must be spelt like them. Of a word that a file has twice, the first vector counts. (GloVe's largest files
have words with blanks in them; they are no words here, and left out.)
"""

import gzip
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from irpretrain.corpora.files import DAMAGE
from irpretrain.errors import InputError
from irpretrain.mapped_array import create_mapped
from irpretrain.progress import progress

MOST_DIGITS = 15
"""Of a number of the first line; no file has counts with more."""
QUOTED = 40
"""Bytes of a line that a message quotes."""
FORMATS = "Give a file in word2vec's text or binary format, or in GloVe's."
LONGEST_WORD = 4096
"""Bytes; a longer run without a blank is no word of a binary file."""
Entry = tuple[str, np.ndarray]


def read_vectors(path: str | Path, numbers: dict[str, int], output: Path) -> dict[str, Any]:
    """Write the vectors of a collection's words.

    Args:
        numbers: word → its row in the output.
        output: `vectors.npy`.

    Returns:
        The record; see `word_vectors.make_word_vectors`.

    Raises:
        InputError: there is no such file, it has another format, is damaged, or knows no word of the collection.
    """
    try:
        with _opened(path) as handle:
            kind, dimensions, entries = _entries(handle, path, numbers)
            first = next(entries)  # so that no file of three numbers takes gigabytes of the disk
            rows = create_mapped(output, np.dtype(np.float32), (len(numbers), dimensions))
            held, words = np.zeros(len(numbers), bool), 0
            for word, vector in progress(chain([first], entries), "read word vectors", "words"):
                words += 1
                if len(vector) and not held[numbers[word]]:
                    rows[numbers[word]], held[numbers[word]] = vector, True
    except DAMAGE as error:
        reason = (
            "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error}"
        )
        raise InputError(path, reason, remedy=FORMATS) from None
    if not held.any():
        raise InputError(
            path,
            f"none of its {words:,} words is a word of the collection",
            remedy="Words of collections are lower-cased; give vectors of lower-cased words in its language.",
        )
    return {
        "source": Path(path).name,
        "format": kind,
        "words": len(numbers),
        "dimensions": dimensions,
        "words_with_vector": int(held.sum()),
        "words_in_file": words,
    }


def _opened(path: str | Path) -> IO[bytes]:
    with open(path, "rb") as handle:
        zipped = handle.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else open(path, "rb")  # type: ignore[return-value]


def _entries(
    handle: IO[bytes], path: str | Path, numbers: dict[str, int]
) -> tuple[str, int, Iterator[Entry]]:
    """Return (format, dimensions, words with their vectors); words that the collection lacks come without theirs."""
    first = handle.readline()
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        # Python reads no integers of thousands of digits.
        count, dimensions = (int(field) if len(field) <= MOST_DIGITS else 0 for field in fields)
        if dimensions < 1 or count < 1:
            quoted = first.strip()[:QUOTED].decode()  # digits and blanks
            raise InputError(
                path,
                f"its first line, {quoted!r}, gives an impossible number of vectors or dimensions",
                1,
                FORMATS,
            )
        start = handle.readline() if _is_text(handle, dimensions) else None
        if start is None:
            return "word2vec-binary", dimensions, _binary(handle, path, count, dimensions, numbers)
        lines = _text(handle, start, 2, path, dimensions, numbers)
        return "word2vec-text", dimensions, _counted(lines, path, count)
    dimensions = len(fields) - 1
    if dimensions < 1 or not _are_numbers(fields[1:]):
        raise InputError(
            path, "its first line is neither a word2vec header nor a word with numbers", 1, FORMATS
        )
    return "glove", dimensions, _text(handle, first, 1, path, dimensions, numbers)


def _is_text(handle: IO[bytes], dimensions: int) -> bool:
    """Return whether the next line is a word with its numbers; the handle stays where it is."""
    here = handle.tell()
    # A number takes no more than 32 characters; a binary file may have no line end for long.
    fields = handle.readline(LONGEST_WORD + 32 * dimensions).split()
    handle.seek(here)
    return len(fields) == dimensions + 1 and _are_numbers(fields[1:])


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


NOTHING = np.empty(0, np.float32)


def _text(
    handle: IO[bytes], first: bytes, line: int, path: str | Path, dimensions: int, numbers: dict[str, int]
) -> Iterator[Entry]:
    text = first
    while text:
        fields = text.split()
        if len(fields) <= dimensions:
            if fields:
                fault = f"{len(fields)} fields where a word and {dimensions} numbers should be"
                raise InputError(path, fault, line, FORMATS)
        else:
            word = b" ".join(fields[:-dimensions]).decode("utf-8", "replace")
            yield word, _parsed(fields[-dimensions:], path, line) if word in numbers else NOTHING
        text, line = handle.readline(), line + 1


def _parsed(fields: list[bytes], path: str | Path, line: int) -> np.ndarray:
    try:
        vector = np.array([float(field) for field in fields], np.float32)
    except ValueError as error:
        raise InputError(path, str(error), line, FORMATS) from None
    if not np.isfinite(vector).all():
        raise InputError(path, "a number is not finite", line, FORMATS)
    return vector


def _counted(entries: Iterator[Entry], path: str | Path, count: int) -> Iterator[Entry]:
    """Yield the entries; refuse another number of them than the first line promises."""
    number = 0
    for number, entry in enumerate(entries, 1):  # noqa: B007 (used after the loop)
        yield entry
    if number != count:
        raise InputError(
            path, f"it holds {number:,} words but its first line promises {count:,}", None, FORMATS
        )


def _binary(
    handle: IO[bytes], path: str | Path, count: int, dimensions: int, numbers: dict[str, int]
) -> Iterator[Entry]:
    size = 4 * dimensions
    buffer, at = b"", 0
    for entry in range(count):
        blank = buffer.find(b" ", at)
        if blank < 0 or len(buffer) < blank + 1 + size:
            buffer, at = buffer[at:] + handle.read(max(1 << 20, LONGEST_WORD + 2 * size)), 0
            blank = buffer.find(b" ")
        if not 0 <= blank - at <= LONGEST_WORD or len(buffer) < blank + 1 + size:
            raise InputError(path, f"it ends or is damaged at word {entry + 1:,} of {count:,}", None, FORMATS)
        # Some writers end a vector with a line end.
        word = buffer[at:blank].lstrip(b"\n").decode("utf-8", "replace")
        at = blank + 1 + size
        if word not in numbers:
            yield word, NOTHING
            continue
        vector = np.frombuffer(buffer, "<f4", dimensions, blank + 1)
        if not np.isfinite(vector).all():
            raise InputError(path, f"a number of word {entry + 1:,} is not finite", None, FORMATS)
        yield word, vector
