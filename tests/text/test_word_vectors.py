"""Word vectors: trained on a collection, or read from a file."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError
from irpretrain.foundation.randomness import generator
from irpretrain.foundation.records import max_record_bytes
from irpretrain.text.draws import STATE_WORDS, alias_table, start_stream
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.train_vectors import train_documents
from irpretrain.text.word_store import write_word_store
from irpretrain.text.word_vectors import make_word_vectors, open_word_vectors, read_vectors
from small_documents import document_rows

TEXT = TextConfig(words="alphanumeric")
SMALL = WordVectorsConfig(dimensions=8, epochs=2, minimum_count=2)


def make(folder: Path, texts: list[str], shards: int = 1, corpora: int = 1) -> tuple[list[list[Path]], Path]:
    """Write word stores, dealt to shards of each corpus; return them by corpus, and the statistics."""
    counts, documents = [], []
    for corpus in range(corpora):
        mine = texts[corpus::corpora]
        for shard in range(shards):
            rows = [
                {**row, "document_id": f"{corpus}-{row['position']}", "part": row["position"] % 2}
                for row in document_rows(mine)[shard::shards]
            ]
            rows.sort(key=lambda row: (row["part"], row["position"]))
            documents.append(folder / f"documents-{corpus}-{shard}.parquet")
            DOCUMENTS.write(documents[-1], rows)
            count_words(documents[-1], TEXT, folder / f"words-{corpus}-{shard}.parquet")
            counts.append(folder / f"words-{corpus}-{shard}.parquet")
    merge_counts(counts, folder / "words.parquet")
    stores = [path.with_name(path.name.replace("documents", "store")) for path in documents]
    for path, store in zip(documents, stores, strict=True):
        write_word_store(path, folder / "words.parquet", TEXT, store)
    by_corpus = [stores[corpus * shards : (corpus + 1) * shards] for corpus in range(corpora)]
    return by_corpus, folder / "words.parquet"


def two_topics() -> list[str]:
    """Documents of animals or of colours: words of one topic stand together, never with the other's."""
    draw = generator(1, "two topics")
    animals, colours = ["cat", "dog", "cow", "hen"], ["red", "blue", "pink", "grey"]
    return [" ".join(draw.choice(topic, 12)) for _ in range(150) for topic in (animals, colours)]


def test_words_that_stand_together_are_similar(tmp_path: Path) -> None:
    stores, statistics = make(tmp_path, two_topics())
    options = WordVectorsConfig(dimensions=10, epochs=20, minimum_count=1)
    record = make_word_vectors(options, stores, statistics, 1, tmp_path / "vectors")
    assert record == {
        "source": "word2vec", "words": 8, "dimensions": 10, "words_with_vector": 8,
        "documents_read": 300, "words_read": 3600, "epochs": 20,
    }  # fmt: skip
    rows = open_word_vectors(tmp_path / "vectors", word_count=8)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    words = WORD_COUNTS.read(statistics)["word"].to_pylist()
    animals = np.isin(words, ["cat", "dog", "cow", "hen"])
    cosines = unit @ unit.T
    own, other = cosines[np.ix_(animals, animals)], cosines[np.ix_(animals, ~animals)]
    assert own.min() > other.max()


def test_rare_words_have_no_vector(tmp_path: Path) -> None:
    stores, statistics = make(tmp_path, ["a b a", "b c"])
    record = make_word_vectors(SMALL, stores, statistics, 1, tmp_path / "vectors")
    rows = open_word_vectors(tmp_path / "vectors", word_count=3)
    assert record["words_with_vector"] == 2
    assert np.any(rows != 0, axis=1).tolist() == [True, True, False]


@pytest.mark.parametrize("corpora", [1, 2])
@pytest.mark.parametrize("most_words", [None, 1000])
def test_shards_change_no_byte(tmp_path: Path, corpora: int, most_words: int | None) -> None:
    options = SMALL.model_copy(update={"most_words": most_words})
    found = []
    for shards in (1, 3):
        stores, statistics = make(tmp_path / f"{shards}", two_topics(), shards, corpora)
        make_word_vectors(options, stores, statistics, 1, tmp_path / f"{shards}" / "vectors")
        folder = tmp_path / f"{shards}" / "vectors"
        found.append([(folder / name).read_bytes() for name in ("vectors.npy", "vectors.json")])
    assert found[0] == found[1]


PROGRAM = """
import sys
from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.text.word_vectors import make_word_vectors
options = WordVectorsConfig.model_validate_json(sys.argv[4])
make_word_vectors(options, [sys.argv[1:2]], sys.argv[2], 5, sys.argv[3])
"""


def trained_elsewhere(
    tables: tuple[list[list[Path]], Path],
    options: WordVectorsConfig,
    output: Path,
    environment: dict[str, str],
) -> bytes:
    """The vectors that another process trains with seed 5."""
    [[store]], statistics = tables
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, store, statistics, output, options.model_dump_json()],
        env=os.environ | environment,
        check=True,
    )
    return (output / "vectors.npy").read_bytes()


ENVIRONMENTS = {
    "this": {},
    "older": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
        "PYTHONHASHSEED": "1",
    },
    "plain": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "2"},
}
"""What makes libraries take the code that they have for another processor, and Python hash strings differently."""


@pytest.mark.deep
def test_neither_processor_nor_hash_seed_changes_a_byte(tmp_path: Path) -> None:
    tables = make(tmp_path, two_topics()[:60])
    options = WordVectorsConfig(dimensions=50, epochs=3, minimum_count=1, learning_rate=0.1)
    vectors = set()
    for name, environment in ENVIRONMENTS.items():
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} if name == "plain" else {}
        vectors.add(trained_elsewhere(tables, options, tmp_path / name, environment | cache))
    assert len(vectors) == 1


def test_a_pair_moves_both_vectors_along_the_gradient() -> None:
    """Two words, each predicted from the other, without noise words; the second pair sees what the first changed."""
    draw = np.random.default_rng(3)
    inner, outer = draw.normal(size=(2, 2, 16)).astype(np.float32) / 4
    expected = [inner.astype(float), outer.astype(float)]
    for word, predicted in ((1, 0), (0, 1)):
        rows, outputs = expected
        step = 0.1 * (1 - 1 / (1 + np.exp(-rows[word] @ outputs[predicted])))
        rows[word], outputs[predicted] = (
            rows[word] + step * outputs[predicted],
            outputs[predicted] + step * rows[word],
        )
    state = np.zeros(STATE_WORDS, np.uint64)
    start_stream(state, np.uint64(1), np.uint64(2))
    words, offsets = np.array([0, 1], np.int32), np.array([0, 2])
    rates, alias = np.array([0.1]), alias_table(np.ones(2))
    train_documents(words, offsets, inner, outer, np.ones(2), alias, 1, 0, rates, state)
    assert inner == pytest.approx(expected[0], abs=1e-3)
    assert outer == pytest.approx(expected[1], abs=1e-3)


@pytest.mark.parametrize("most_words", [None, 10])
def test_the_seed_draws_vectors_and_which_documents_are_read(tmp_path: Path, most_words: int | None) -> None:
    stores, statistics = make(tmp_path, [f"word{number:02}" for number in range(40)])
    options = WordVectorsConfig(dimensions=8, epochs=1, minimum_count=1, most_words=most_words)
    vectors, read = [], []
    for seed in (1, 2):
        record = make_word_vectors(options, stores, statistics, seed, tmp_path / f"{seed}")
        assert record["documents_read"] == record["words_read"] == (most_words or 40)
        vectors.append(open_word_vectors(tmp_path / f"{seed}", word_count=40))
        read.append(np.flatnonzero(vectors[-1].any(axis=1)).tolist())
    assert not np.array_equal(*vectors)
    assert (read[0] != read[1]) == (most_words is not None)
    assert len(read[0]) == len(read[1]) == (most_words or 40)


def test_a_collection_of_rare_words_asks_for_another_minimum(tmp_path: Path) -> None:
    stores, statistics = make(tmp_path, ["a b"])
    with pytest.raises(ConfigError, match=r"word_vectors.minimum_count: no word occurs 2 times"):
        make_word_vectors(SMALL, stores, statistics, 1, tmp_path / "vectors")
    assert not (tmp_path / "vectors").exists()


# Files ---------------------------------------------------------------------------------------------------------------

KNOWN = {"a": (1.0, -0.5, 0.25), "c": (0.0, 2.0, 1e-5)}
OTHER = {"zebra": (3.0, 3.0, 3.0), "A": (9.0, 9.0, 9.0)}


def text_lines(head: bool) -> bytes:
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in {**OTHER, **KNOWN}.items()]
    return "\n".join([*(["4 3"] if head else []), *lines, ""]).encode()


def binary_bytes(line_ends: bool) -> bytes:
    found = b"4 3\n"
    for word, vector in {**OTHER, **KNOWN}.items():
        found += word.encode() + b" " + np.array(vector, "<f4").tobytes() + (b"\n" if line_ends else b"")
    return found


FILES = {
    "word2vec-text": text_lines(head=True),
    "glove": text_lines(head=False),
    "word2vec-binary": binary_bytes(line_ends=False),
    "word2vec-binary-lines": binary_bytes(line_ends=True),
}


def read(folder: Path, content: bytes) -> np.ndarray:
    """Read a file's vectors for a collection of the words a, b and c."""
    stores, statistics = make(folder, ["a b c"])
    (folder / "file").write_bytes(content)
    make_word_vectors(SMALL, stores, statistics, 1, folder / "vectors", vector_file=folder / "file")
    return open_word_vectors(folder / "vectors", word_count=3)


def record(folder: Path) -> Any:
    return json.loads((folder / "vectors/vectors.json").read_text())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", list(FILES))
def test_files_are_read_whatever_their_format(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    content = pack(FILES[name] if "binary" in name else b"\xef\xbb\xbf" + FILES[name])
    found = read(tmp_path, content)
    expected = np.array([KNOWN["a"], (0, 0, 0), KNOWN["c"]], np.float32)
    assert np.array_equal(found, expected)
    assert record(tmp_path) == {
        "source": "file", "format": name.removesuffix("-lines"), "words": 3, "dimensions": 3,
        "words_with_vector": 2, "words_in_file": 4,
    }  # fmt: skip


@pytest.mark.parametrize("binary", [False, True])
def test_files_of_gensim_are_read(tmp_path: Path, binary: bool) -> None:
    from gensim.models import KeyedVectors

    draw = generator(2, "vectors")
    keyed, words = KeyedVectors(300), ["b", "é", *(f"word{i}" for i in range(3000)), "a"]
    keyed.add_vectors(words, draw.normal(size=(len(words), 300)).astype(np.float32))
    keyed.save_word2vec_format(str(tmp_path / "keyed"), binary=binary)
    found = read(tmp_path, (tmp_path / "keyed").read_bytes())
    assert record(tmp_path)["format"] == ("word2vec-binary" if binary else "word2vec-text")
    assert record(tmp_path)["words_in_file"] == len(words)
    assert np.array_equal(found, np.stack([keyed["a"], keyed["b"], np.zeros(300, np.float32)]))


@pytest.mark.parametrize(
    ("content", "vectors"),
    [
        (b"a 1 2\na 3 4\n", [[1, 2], [0, 0]]),
        (b"a 1 2\n\xef\xbb\xbfb 3 4\n", [[1, 2], [3, 4]]),
        (b"a 1 2\n. . b 3 4\nb 5 6\n", [[1, 2], [5, 6]]),
    ],
    ids=["a word twice", "a mark of a joined file", "a word with blanks"],
)
def test_lines_of_text_files(tmp_path: Path, content: bytes, vectors: list[list[int]]) -> None:
    assert read(tmp_path, content)[:2].tolist() == vectors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its first line is neither"),
        (b"hello\n", "its first line is neither"),
        (b"two words\n", "its first line is neither"),
        (b"0 3\n", ":1: its first line, '0 3', gives an impossible number"),
        (b"9" * 5000 + b" 3\n", f":1: its first line, '{'9' * 40}', gives an impossible number"),
        (b"3 " + b"9" * 16 + b"\n", f":1: its first line, '3 {'9' * 16}', gives an impossible number"),
        (b"a 1 2\nb 1\n", ":2: 2 fields where a word and 2 numbers should be"),
        (b"a 1 2\nb x 2\n", ":2: could not convert string to float"),
        (b"a 1 2\nx 1 2 3\n", ":2: 4 fields where a word and 2 numbers should be"),
        (b"a 1 2\nb 1 2 3 4\n", ":2: 5 fields where a word and 2 numbers should be"),
        (b"a 1\nb 1 2\n", ":2: 3 fields where a word and 1 numbers should be"),
        (b"2 2\na 1\nb 1 2\n", ":2: 2 fields where a word and 2 numbers should be"),
        (b"2 2\na 1 2 3\nb 1 2\n", ":2: 4 fields where a word and 2 numbers should be"),
        (b"a 1 2\nb 3 4\x0bc 5 6\n", ":2: 6 fields where a word and 2 numbers should be"),
        (b"a 1 2\nb" + b" 0" * 9000 + b"\n", ":2: a word of more than 4,096 bytes before 2 numbers"),
        (b"1 600000\na " + bytes(2_400_000), ":1: its first line, '1 600000', gives an impossible number"),
        (b"a 1 nan\n", ":1: a number is not finite"),
        (b"2 2\na 1 2\n", "it holds 1 word but its first line promises 2"),
        (b"9" * 15 + b" 2\na 1 2\n", "it holds 1 word but its first line promises 999"),
        (b"x 1 2\n", "none of its 1 word is a word of the collection"),
        (binary_bytes(False).replace(b"4", b"3", 1), "it goes on behind the 3 words"),
        (binary_bytes(False)[:-1], "it ends or is damaged at word 4 of 4"),
        (b"1 2\na " + np.array([1, np.nan], "<f4").tobytes(), "a number of word 1 is not finite"),
        (b"2 2\n" + b"\xff" * 9000, "it ends or is damaged at word 1 of 2"),
        (gzip.compress(b"a 1 2\n" * 9000)[:-20], "it cannot be read"),
    ],
)
def test_what_is_no_file_of_vectors_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert message in str(caught.value)
    assert not (tmp_path / "vectors").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    stores, statistics = make(tmp_path, ["a"])
    with pytest.raises(InputError, match=r"no\.txt: there is no such file"):
        make_word_vectors(SMALL, stores, statistics, 1, tmp_path / "vectors", vector_file=tmp_path / "no.txt")


def test_damaged_vectors_are_refused(tmp_path: Path) -> None:
    read(tmp_path, b"a 1 2\n")
    with pytest.raises(IntegrityError, match="for 3 words, but the statistics have 4"):
        open_word_vectors(tmp_path / "vectors", word_count=4)
    np.save(tmp_path / "vectors" / "vectors.npy", np.zeros((3, 3), np.float32))
    with pytest.raises(IntegrityError, match="these are not word vectors"):
        open_word_vectors(tmp_path / "vectors", word_count=3)


def test_stores_of_other_statistics_are_refused(tmp_path: Path) -> None:
    stores, _ = make(tmp_path / "one", ["a a"])
    _, statistics = make(tmp_path / "other", ["a b b"])
    with pytest.raises(IntegrityError, match="it numbers 1 word"):
        make_word_vectors(SMALL, stores, statistics, 1, tmp_path / "vectors")


@pytest.mark.parametrize(("start", "line"), [(b"", 1), (b"2 3\nred 1 2 3\n", 3)])
def test_a_line_without_end_takes_no_more_memory_than_a_record_may(
    tmp_path: Path, start: bytes, line: int
) -> None:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(start + b"0" * (max_record_bytes() + 1), 1))
    with pytest.raises(InputError, match=f"gz:{line}: a line of more than"):
        read_vectors(path, {"red": 0}, tmp_path / "vectors.npy")
