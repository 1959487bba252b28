"""Lucene's English analyser in Python: terms by hand, and those of Lucene itself on every text at hand."""

import random

import pytest

from irpretrain.library.documents import read_documents
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.lucene_english import LONGEST_WORD, EnglishTerms, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dogs' pie isn't Anna's", ["dog", "pie", "isn't", "anna"]),
        ("3.14 1,000 a.b 1:2 x_y 1a2.b3", ["3.14", "1,000", "a.b", "1", "2", "x_y", "1a2", "b3"]),
        ("not in the index", ["index"]),
        ("running runner runs", ["run", "runner", "run"]),
        ("日本 ΣΟΦΟΣ İzmir don’t", ["日", "本", "σοφοσ", "izmir", "don’t"]),
        ("", []),
        ("... -- '", []),
    ],
)
def test_terms_by_hand(text: str, expected: list[str]) -> None:
    assert EnglishTerms("porter", "lucene").terms(text) == expected


def test_a_word_of_any_length_is_cut() -> None:
    assert list(map(len, tokens("x" * (2 * LONGEST_WORD + 3)))) == [LONGEST_WORD, LONGEST_WORD, 3]


POOLS = (
    "abcdefghijklmnopqrstuvwxyz",
    "aeiouyslted",
    "ab1.,;:'_ ",
    " ab’'\"12.,_:;-/",
    "aßéÎİΣσςḱ ñ’s",
    "שלוםא'\" a1",
    "カタナ_aア1ー ",
    "日本ひらaไทยກ한1",
    "éa\u0301\u200d\u00ad.1_'",
    "🇩🇪👩a 🏽1",
)
SUFFIXES = (
    "ational", "tional", "enci", "izer", "bli", "alli", "eli", "ousli", "ization", "ator", "alism", "iveness",
    "aliti", "logi", "icate", "ative", "alize", "ful", "ness", "al", "ance", "er", "able", "ement", "ment",
    "ent", "sion", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "ed", "ing", "eed", "sses", "ies",
    "s", "at", "bl", "iz", "y", "ll",
)  # fmt: skip


def test_all_texts_have_the_terms_that_lucene_gives_them() -> None:
    draws = random.Random(1)
    texts = ["".join(draws.choices(pool, k=draws.randint(1, 14))) for pool in POOLS for _ in range(3000)]
    for _ in range(20_000):
        stem = "".join(draws.choices("abeioustlryz", k=draws.randint(0, 5)))
        texts.append(stem + "".join(draws.choices(SUFFIXES, k=draws.randint(1, 3))))
    texts += [f"{document.title}. {document.body}" for document in read_documents("embedded:squad-dev")]
    texts += ["a" * 300 + " b", "b.c" * 120, "x" * 255 + "ing", "1.2" * 200, "𝐚s ab𝐛s 𝐚ying"]
    for stemmer, stop_list in (("porter", "lucene"), ("none", "none")):
        expected = Analyser(stemmer, stop_list).terms(texts)
        english = EnglishTerms(stemmer, stop_list)
        differing = [
            text for text, terms in zip(texts, expected, strict=True) if english.terms(text) != terms
        ]
        assert not differing
