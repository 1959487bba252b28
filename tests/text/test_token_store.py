"""The token store: what is in it is what the tokenizer says, in any number of shards."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.foundation.provenance import sha256
from irpretrain.text import token_store
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer

MakeStore = Callable[..., Path]


def words(store: TokenStore, tokenizer_directory: Path, row: int) -> str:
    tokenizer = load_tokenizer(tokenizer_directory)
    return " ".join(tokenizer.token(int(number)) for number in store.tokens(row))


def test_store_holds_word_pieces_and_word_starts(make_store: MakeStore, tiny_encoder: Path) -> None:
    store = TokenStore.open([make_store({"d1": "cab word07", "d2": "", "d3": "Bad xyz"})])
    assert words(store, tiny_encoder, 0) == "c ##a ##b word07"
    assert store.word_starts(0).tolist() == [True, False, False, True]
    assert store.lengths.tolist() == [4, 0, 4]
    assert len(store.tokens(1)) == 0
    assert words(store, tiny_encoder, 2) == "b ##a ##d [UNK]"
    assert store.tokens(0).dtype == np.uint16
    assert store.shards[0].record["vocabulary_size"] == 105


def test_opening_a_store_imports_no_pandas(make_store: MakeStore) -> None:
    code = (
        "import sys; from irpretrain.text.token_store import TokenStore; TokenStore.open(sys.argv[1:]); "
        "print({'pandas', 'pyarrow.dataset'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", code, str(make_store({"d1": "a"}))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "set()"


@pytest.mark.parametrize(("size", "kind"), [(2**16 - 1, "uint16"), (2**16, "uint16"), (2**16 + 1, "int32")])
def test_pieces_take_two_bytes_where_the_vocabulary_allows(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch, size: int, kind: str
) -> None:
    """Of 65,536 pieces the last has the number 65,535."""

    def load_sized(*given: Any) -> WordPieceTokenizer:
        tokenizer = load_tokenizer(*given)
        tokenizer.size = size
        return tokenizer

    monkeypatch.setattr(token_store, "load_tokenizer", load_sized)
    assert np.load(make_store({"d1": "cab word07"}) / "tokens.npy").dtype == kind


def test_no_special_token_gets_in_by_text(make_store: MakeStore, tiny_encoder: Path) -> None:
    store = TokenStore.open([make_store({"d1": "a [MASK] b [SEP]"})])
    found = set(store.tokens(0).tolist())
    tokenizer = load_tokenizer(tiny_encoder)
    assert not found & {tokenizer.mask_token_id, tokenizer.template.suffix.ids[0]}


def test_rows_go_through_shards_in_order(make_store: MakeStore) -> None:
    first = make_store({"d1": "a", "d2": "a b"}, "first")
    second = make_store({"d3": "a b c"}, "second")
    store = TokenStore.open([first, second])
    assert len(store) == 3
    assert store.rows(["d3", "d1", "d2", "d3"]).tolist() == [2, 0, 1, 2]
    assert store.find(["d9", "d2"]).tolist() == [-1, 1]
    assert [len(store.tokens(row)) for row in range(3)] == store.lengths.tolist() == [1, 2, 3]
    with pytest.raises(IndexError):
        store.tokens(3)


def test_unknown_and_repeated_documents_are_refused(make_store: MakeStore) -> None:
    one, two = make_store({"d1": "a"}, "one"), make_store({"d1": "b"}, "two")
    with pytest.raises(InputError, match=r"2 documents in none of 1 token store, such as d7, d8"):
        TokenStore.open([one]).rows(["d1", "d7", "d8"])
    with pytest.raises(IntegrityError, match="1 document identifiers occur twice"):
        TokenStore.open([one, two])


def test_cap_keeps_the_first_pieces(make_store: MakeStore, tiny_encoder: Path) -> None:
    path = make_store({"d1": "cab word07", "d2": "a"}, max_word_pieces=2)
    store = TokenStore.open([path])
    assert words(store, tiny_encoder, 0) == "c ##a"
    record = json.loads((path / "store.json").read_text())
    assert (record["documents"], record["truncated"], record["word_pieces"]) == (2, 1, 3)


def test_spans_of_characters_become_spans_of_word_pieces(make_store: MakeStore, tiny_encoder: Path) -> None:
    #       0   4      11     18
    text = "cab word01 word02  jib"
    store = TokenStore.open([make_store({"d0": "a", "d1": text}, positions=True)])
    assert words(store, tiny_encoder, 1) == "c ##a ##b word01 word02 j ##i ##b"
    spans = {
        (0, 3): (0, 3),
        (4, 17): (3, 5),
        (1, 5): (1, 4),
        (5, 12): (4, 5),
        (17, 19): (5, 5),
        (18, 99): (5, 8),
    }
    assert {given: store.span(1, *given) for given in spans} == spans
    characters = {(0, 1): (0, 1), (1, 2): (1, 2), (2, 4): (2, 11), (4, 8): (11, None)}
    assert {pieces: store.characters(1, *pieces) for pieces in characters} == characters
    assert store.span(0, 0, 1) == (0, 1)
    assert store.span(1, 3, 2) == (3, 3)
    cut = TokenStore.open([make_store({"d1": text}, "cut", positions=True, max_word_pieces=4)])
    assert [cut.span(0, *given) for given in ((0, 17), (11, 17))] == [(0, 4), (4, 4)]


def test_positions_change_nothing_else_and_are_retained_only_when_requested_for(
    make_store: MakeStore,
) -> None:
    plain, known = (make_store({"d1": "cab word01"}, name, name == "known") for name in ("plain", "known"))
    assert {path.name for path in known.iterdir()} - {path.name for path in plain.iterdir()} == {
        "char_starts.npy"
    }
    for name in ("tokens.npy", "word_starts.npy", "offsets.npy"):
        assert (plain / name).read_bytes() == (known / name).read_bytes()
    assert TokenStore.open([plain]).fingerprint != TokenStore.open([known]).fingerprint
    with pytest.raises(IntegrityError, match="does not know at which characters"):
        TokenStore.open([plain]).span(0, 0, 1)
    (known / "char_starts.npy").unlink()
    with pytest.raises(IntegrityError, match="not a token store"):
        TokenStore.open([known])


def test_empty_shard(make_store: MakeStore) -> None:
    store = TokenStore.open([make_store({}, "none"), make_store({"d1": "a b"}, "one")])
    assert store.rows(["d1"]).tolist() == [0]
    assert len(TokenStore.open([make_store({}, "none")])) == 0


def test_equal_documents_give_equal_bytes(make_store: MakeStore) -> None:
    documents = {f"d{i}": " ".join(["cab", "word01"] * (i % 7)) for i in range(1500)}
    assert sha256(make_store(documents, "one")) == sha256(make_store(documents, "two"))


def test_missing_broken_and_different_stores_are_refused(make_store: MakeStore, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="not a token store"):
        TokenStore.open([tmp_path / "nothing"])
    first, second = make_store({"d1": "a b"}, "one"), make_store({"d2": "b"}, "two")
    record = json.loads((second / "store.json").read_text())
    (second / "store.json").write_text(json.dumps({**record, "tokenizer": "another"}))
    with pytest.raises(IntegrityError, match="another tokenizer"):
        TokenStore.open([first, second])
    np.save(first / "word_starts.npy", np.zeros(1, dtype=bool))
    with pytest.raises(IntegrityError, match="do not fit together"):
        TokenStore.open([first])


def test_store_equals_the_hugging_face_tokenizer(make_store: MakeStore, tiny_encoder: Path) -> None:
    from transformers import AutoTokenizer

    texts = {"d1": "cab word07, bad.", "d2": "WORD11 jig   fab"}
    store = TokenStore.open([make_store(texts)])
    reference = AutoTokenizer.from_pretrained(tiny_encoder)
    for row, text in enumerate(texts.values()):
        assert store.tokens(row).tolist() == reference(text, add_special_tokens=False)["input_ids"]
