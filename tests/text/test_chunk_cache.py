"""Word pieces by a cache of chunks are those that the tokenizer cuts out of whole texts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from irpretrain.text.word_pieces import ChunkCache, WordPieceTokenizer, Words, cuts_at_spaces, load_tokenizer

LETTERS = "abj01.-#'\u00e9\u1e69\ud55c\uad6d\u5317\u30ac\ufb01\u0130\u00df\u03a3\u212a\U0001d518\U0001f600"
MARKS = "\u0301\u0323\u0307\u3099\u0338\u05b0\u0651"
WHITE = "  \n\t\r\u00a0\u2003\u2028\u3000"
UNSEEN = "\u200b\u200d\u00ad\ufeff\x00\x0b\x0c\x1c\x1f\x85\ufffd\ue000"
TEXTS = st.lists(
    st.lists(
        st.sampled_from([*LETTERS, *MARKS, *WHITE, *UNSEEN, "[SEP]", "[UNK]", "##a", "word07", "cab", "a" * 101]),
        max_size=30,
    ).map("".join),
    max_size=5,
)  # fmt: skip


def same(found: list[Words], expected: list[Words]) -> bool:
    def plain(words: list[Words]) -> list[list[tuple[str, list[int]]]]:
        return [[(str(part.dtype), part.tolist()) for part in text] for text in words]

    return plain(found) == plain(expected)


def tokenizer_of(tiny: Path, **changes: object) -> Tokenizer:
    backend = Tokenizer.from_file(str(tiny / "tokenizer.json"))
    rules: dict[str, object] = {
        "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **changes,
    }  # fmt: skip
    backend.normalizer = normalizers.BertNormalizer(**rules)
    return backend


@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.fixed_dictionaries({
        "clean_text": st.booleans(),
        "handle_chinese_chars": st.booleans(),
        "strip_accents": st.sampled_from([None, True, False]),
        "lowercase": st.booleans(),
    }),
    st.sampled_from([0, 40, 1 << 20]),
)  # fmt: skip
def test_whole_texts_say_the_same(
    tiny_encoder: Path, batches: list[list[str]], rules: dict[str, object], retained: int
) -> None:
    tokenizer = WordPieceTokenizer(tokenizer_of(tiny_encoder, **rules), tiny_encoder)
    assert tokenizer.cuts_at_spaces
    cache = ChunkCache(tokenizer, retained)
    for texts in batches:
        assert same(cache.words(texts), tokenizer.words(texts))


def test_two_words_and_a_known_one(tiny_encoder: Path) -> None:
    tokenizer = load_tokenizer(tiny_encoder)
    cache = ChunkCache(tokenizer)
    [first] = cache.words(["word07 cab"])
    again, nothing = cache.words([" cab\nword07", ""])
    assert [tokenizer.token(piece) for piece in first.ids] == ["word07", "c", "##a", "##b"]
    assert first.word_starts.tolist() == [True, True, False, False]
    assert first.char_starts.tolist() == [0, 7, 8, 9]
    assert again.char_starts.tolist() == [1, 2, 3, 5]
    assert [len(part) for part in nothing] == [0, 0, 0]
    assert cache.words([]) == []


def test_a_text_that_cannot_be_cut_leaves_no_trace(tiny_encoder: Path) -> None:
    tokenizer = load_tokenizer(tiny_encoder)
    cache = ChunkCache(tokenizer)
    with pytest.raises(TypeError):
        cache.words(["cab \ud800"])
    assert same(cache.words(["cab"]), tokenizer.words(["cab"]))


@pytest.mark.parametrize(
    ("component", "value"),
    [
        ("model", models.BPE({"a": 0}, [])),
        ("normalizer", normalizers.Lowercase()),
        ("normalizer", None),
        ("pre_tokenizer", pre_tokenizers.Metaspace()),
        ("post_processor", processors.TemplateProcessing("$A $A", "$A $B", [])),
    ],
)
def test_other_rules_cut_whole_texts(tiny_encoder: Path, component: str, value: object) -> None:
    backend = tokenizer_of(tiny_encoder)
    assert cuts_at_spaces(backend)
    setattr(backend, component, value)
    assert not cuts_at_spaces(backend)


@pytest.mark.parametrize("special", [True, False])
def test_an_added_token_may_hold_a_space_unless_it_is_special(tiny_encoder: Path, special: bool) -> None:
    backend = tokenizer_of(tiny_encoder)
    backend.add_tokens([AddedToken("new york", special=special)])
    assert cuts_at_spaces(backend) == special
