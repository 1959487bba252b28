"""The encoder's tokenizer: its vocabulary is checked, and it says where word pieces begin."""

import json
import re
import shutil
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


def join_no_pairs(directory: Path) -> None:
    path = directory / "tokenizer.json"
    content = json.loads(path.read_text())
    pair = content["post_processor"]["pair"]
    content["post_processor"]["pair"] = [*pair, *(piece for piece in pair if "Sequence" in piece)]
    path.write_text(json.dumps(content))


def remove_padding(directory: Path) -> None:
    for path in (directory / "tokenizer.json", directory / "tokenizer_config.json"):
        path.write_text(path.read_text().replace("[PAD]", "[gap]") if path.exists() else "{}")
    (directory / "vocab.txt").unlink()


def append_entry(directory: Path, entry: bytes) -> None:
    path = directory / "vocab.txt"
    path.write_bytes(path.read_bytes() + entry)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda directory: append_entry(directory, b"another\n"), "does not have it there"),
        (lambda directory: append_entry(directory, b"\xff\n"), "does not have it there"),
        (join_no_pairs, "the tokenizer does not join pairs of texts"),
        (remove_padding, "the vocabulary lacks a token for padding"),
        (shutil.rmtree, r"neither tokenizer\.json nor vocab\.txt"),
    ],
    ids=["another encoder's vocabulary", "another encoding", "no pairs", "no padding", "nothing"],
)
def test_a_tokenizer_that_cannot_be_used_is_refused(
    make_encoder: Callable[..., Path], damage: Callable[[Path], None], message: str
) -> None:
    directory = make_encoder()
    damage(directory)
    with pytest.raises(InputError, match=message):
        load_tokenizer(directory)


def test_bare_vocabulary_loads_the_same_tokenizer(
    make_encoder: Callable[..., Path], tiny_encoder: Path
) -> None:
    directory = make_encoder()
    (directory / "tokenizer.json").unlink()
    texts = ["cab word07 Bad", "word79 xyz"]
    bare, whole = load_tokenizer(directory), load_tokenizer(tiny_encoder)
    assert [a.tolist() for a in bare.encode(texts)] == [b.tolist() for b in whole.encode(texts)]
