"""The encoder's tokenizer: its vocabulary is checked, and it says where word pieces begin."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.errors import InputError
from irpretrain.text.word_pieces import load_tokenizer
from tiny_models import SPECIAL


@given(
    st.lists(
        st.text(st.sampled_from("abj 01word\n\té한국e\u0301\u0323北.ﬁİß𝔘\u200b\x00"), max_size=40), max_size=4
    )
)
def test_a_word_piece_begins_at_its_first_character(
    tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    """Word by word, without the tokenizer's own offsets: a word's pieces begin inside the word, and all are found."""
    tokenizer = load_tokenizer(tiny_encoder)
    for text, plain, (pieces, _, firsts) in zip(
        texts, tokenizer.encode(texts), tokenizer.words(texts), strict=True
    ):
        assert (plain == pieces).all()
        assert len(firsts) == len(pieces)
        assert (np.diff(firsts) >= 0).all()
        for match in re.finditer(r"[^ \n\t]+", text):
            inside = (firsts >= match.start()) & (firsts < match.end())
            assert (pieces[inside] == tokenizer.encode([match[0]])[0]).all()


def test_vocabulary_size_is_checked(tiny_encoder: Path) -> None:
    assert load_tokenizer(tiny_encoder, 105).size == 105
    with pytest.raises(InputError, match=r"105 entries, expected 30,522"):
        load_tokenizer(tiny_encoder, 30522)


def test_vocabulary_of_another_encoder_is_refused(make_encoder: Callable[..., Path]) -> None:
    directory = make_encoder()
    lines = (directory / "vocab.txt").read_text().splitlines()
    (directory / "vocab.txt").write_text("\n".join([*lines, "another"]) + "\n")
    with pytest.raises(InputError, match="does not have it there"):
        load_tokenizer(directory)


def test_a_vocabulary_larger_than_that_of_the_encoder_is_refused(make_encoder: Callable[..., Path]) -> None:
    directory = make_encoder()
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "vocab_size": 104}))
    with pytest.raises(InputError, match="the tokenizer has 105 entries but the encoder only 104 embeddings"):
        load_tokenizer(directory)
    (directory / "config.json").unlink()
    assert load_tokenizer(directory).size == 105, "of a tokenizer alone nothing else is known"


@pytest.mark.parametrize("added", [True, False])
def test_special_and_unused_entries_are_no_text(make_encoder: Callable[..., Path], added: bool) -> None:
    directory = make_encoder()
    (directory / "vocab.txt").unlink()
    content = json.loads((directory / "tokenizer.json").read_text().replace("word79", "[unused1]"))
    content["added_tokens"] = content["added_tokens"] if added else []
    (directory / "tokenizer.json").write_text(json.dumps(content))
    tokenizer = load_tokenizer(directory)
    names = [tokenizer.token(entry) for entry in np.flatnonzero(tokenizer.special()).tolist()]
    assert names == [*SPECIAL, "[unused1]"]


def test_a_tokenizer_that_joins_no_pairs_is_refused(make_encoder: Callable[..., Path]) -> None:
    path = make_encoder() / "tokenizer.json"
    content = json.loads(path.read_text())
    pair = content["post_processor"]["pair"]
    content["post_processor"]["pair"] = [*pair, *(piece for piece in pair if "Sequence" in piece)]
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="the tokenizer does not join pairs of texts"):
        load_tokenizer(path.parent)


def test_a_tokenizer_that_cannot_pad_is_refused(make_encoder: Callable[..., Path]) -> None:
    directory = make_encoder()
    for path in (directory / "tokenizer.json", directory / "tokenizer_config.json"):
        path.write_text(path.read_text().replace("[PAD]", "[gap]") if path.exists() else "{}")
    (directory / "vocab.txt").unlink()
    with pytest.raises(InputError, match="the vocabulary lacks a token for padding"):
        load_tokenizer(directory)


def test_a_vocabulary_in_another_encoding_is_refused(make_encoder: Callable[..., Path]) -> None:
    path = make_encoder() / "vocab.txt"
    path.write_bytes(path.read_bytes() + b"\xff\n")
    with pytest.raises(InputError, match="this is not UTF-8 text"):
        load_tokenizer(path.parent)


def test_missing_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither tokenizer\.json nor vocab\.txt"):
        load_tokenizer(tmp_path)


def test_bare_vocabulary_loads_the_same_tokenizer(
    make_encoder: Callable[..., Path], tiny_encoder: Path
) -> None:
    directory = make_encoder()
    (directory / "tokenizer.json").unlink()
    texts = ["cab word07 Bad", "word79 xyz"]
    bare, whole = load_tokenizer(directory), load_tokenizer(tiny_encoder)
    assert [a.tolist() for a in bare.encode(texts)] == [b.tolist() for b in whole.encode(texts)]
