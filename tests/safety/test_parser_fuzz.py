"""Whatever bytes a file of others holds, its parser returns something or refuses with one message that names the file.

Here are the parsers beside the formats of corpora, topics, judgements, runs and tasks, which are in
`tests/corpora/test_reader_fuzz.py`, and the directories of models, in `tests/models/test_encoder_fuzz.py`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from damage import damaged
from irpretrain.config import load_config
from irpretrain.config.text import TextConfig
from irpretrain.corpora.formats import warc
from irpretrain.corpora.make_folds import read_folds_file
from irpretrain.evaluation.runs import read_qrels, read_run
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.retrieval.expansion import expand_documents
from irpretrain.text.word_vectors import read_vectors

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = {"red": 0, "fox": 1}
TEXT = TextConfig(words="alphanumeric")
PAGE = "clueweb09-en0000-00-00000"


def vectors(path: Path) -> object:
    return read_vectors(path, NUMBERS, path.with_name("vectors.npy"))


def expansion(path: Path) -> object:
    documents = path.with_name("documents.parquet")
    row = {"document_id": "d1", "part": 0, "position": 0, "title": "", "url": "", "body": "one"}
    DOCUMENTS.write(documents, [row])
    return expand_documents(documents, path, TEXT, path.with_name("expanded.parquet"))


def rankings(path: Path) -> object:
    warc._read_percentiles.cache_clear()
    return warc.percentile_of(PAGE, path)


def letor_folds(path: Path) -> object:
    """The file is a part of the first of three folds."""
    sound = {"S1": 1, "S2": 2, "S3": 3}
    order = [("S1", "S2", "S3"), ("S2", "S3", "S1"), ("S3", "S1", "S2")]
    for number, parts in enumerate(order, 1):
        folder = path.parent / "letor" / f"Fold{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, part in zip(("train", "vali", "test"), parts, strict=True):
            (folder / f"{name}.txt").write_text(f"1 qid:{sound[part]} 25:0.5 #docid = GX1\n")
    (path.parent / "letor/Fold1/test.txt").write_bytes(path.read_bytes())
    return read_folds_file(path.parent / "letor")


WORDS = b"2 3\nred 1 2 3\nfox 4 5 6e-1\n"
BINARY = b"2 3\n" + b"".join(word + b" " + np.arange(3, dtype="<f4").tobytes() for word in (b"red", b"fox"))
PARSERS: dict[str, tuple[Callable[[Path], object], str, bytes]] = {
    "word2vec text": (vectors, "v.txt", WORDS),
    "word2vec binary": (vectors, "v.bin", BINARY),
    "glove": (vectors, "v.txt", WORDS.partition(b"\n")[2]),
    "expansion lines": (expansion, "e.txt", b'd1\ttwo\n{"id": "d1", "queries": ["three", "four"]}\n'),
    "spam rankings": (rankings, "s.txt", f"65 {PAGE}\n3 clueweb09-en0000-00-00001\n".encode()),
    "folds of json": (read_folds_file, "f.json", b'{"folds": 2, "queries": {"a": 1, "b": 2}}'),
    "folds of lists": (read_folds_file, "f.json", b'[["a"], ["b", 3]]'),
    "folds of text": (read_folds_file, "f.tsv", b"a 1\nb 2\n"),
    "folds of letor": (letor_folds, "f.txt", b"1 qid:3 25:0.5 #docid = GX1\n"),
    "a run": (read_run, "r.run", b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1e-3 x\n"),
    "judgements": (read_qrels, "q.txt", b"q1 0 d1 1\nq2 0 d2 -1\n"),
}
TOKENS = [
    *(b"\n", b"\t", b" ", b"\x00", b"\xff", b"\xe2\x80\xa8", b"9" * 5000, b"1e999", b"-1", b"nan"),
    *(b"{", b"[" * 5000, b'{"a":' * 3000, b'"', b"null", b"\\ud800", b"qid:", "١".encode(), "²".encode()),
]


def assert_names(error: InputError, folder: Path) -> None:
    assert folder in error.path.parents
    str(error).encode()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", PARSERS)
def test_any_bytes(name: str, tmp_path: Path) -> None:
    parse, file, sound = PARSERS[name]
    path = tmp_path / file
    path.write_bytes(sound)
    parse(path)

    @given(damaged(sound, TOKENS))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        try:
            parse(path)
        except InputError as error:
            assert_names(error, tmp_path)

    check()


CONFIG = (ROOT / "config.yaml").read_bytes()


@given(st.data())
def test_an_overlay_of_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    overlay = tmp_path_factory.mktemp("overlay") / "overlay.yaml"
    position = data.draw(st.integers(0, len(CONFIG)))
    overlay.write_bytes(data.draw(damaged(CONFIG[position : position + 400], TOKENS)))
    refused_or_loaded(overlay)


LAUGHS = "".join(f"  - &l{n + 1} [{', '.join([f'*l{n}'] * 10)}]\n" for n in range(12))
HOSTILE_YAML = [
    f"report:\n  notes:\n  - &l0 x\n{LAUGHS}seed: *l12",
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "seed: !!python/object/apply:os.system ['touch mark']",
    "seed: !!python/name:os.system",
    "[" * 5000,
    "? {a: 1}\n: 2",
    "1: 2",
    "seed: 2024-01-01",
    "seed: 0x" + "f" * 9000,
    "seed: 1" + "0" * 9000,
    "seed: .nan",
    "models: {? [1]: 2}",
    "models: {null: {label: x}}",
    "corpora: {true: {path: x}}",
    "objectives: {1.5: {type: rop}}",
    "<<: [1]",
    "a: *a",
    "a: &a [*a]",
    "models: &m {prop: *m}",
    "\x00",
    "\ufeffseed: 3",
    "- seed",
    "",
]


@pytest.mark.parametrize("content", HOSTILE_YAML)
def test_hostile_overlays(tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("overlay.yaml").write_text(content, encoding="utf-8")
    refused_or_loaded(Path("overlay.yaml"))
    assert not Path("mark").exists()


def refused_or_loaded(overlay: Path) -> None:
    try:
        load_config(ROOT / "config.yaml", overlay)
    except ConfigError as error:
        message = str(error)
    else:
        return
    assert str(overlay) in message.partition(": ")[0]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_any_value_anywhere_in_the_configuration(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    position: object = yaml.safe_load(CONFIG)
    overlay: dict[str, object] = {}
    inner = overlay
    while isinstance(position, dict) and position:
        key = data.draw(st.sampled_from(sorted(position)))
        position = position[key]
        if not isinstance(position, dict) or not position or data.draw(st.integers(0, 2)) == 0:
            inner[key] = data.draw(VALUES)
            break
        inner[key] = {}
        inner = inner[key]  # type: ignore[assignment]
    path = tmp_path_factory.mktemp("value") / "overlay.yaml"
    path.write_text(json.dumps(overlay), encoding="utf-8")
    refused_or_loaded(path)
