"""Documents cut into passages lose no word, repeat none, and stay in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.sources import PASSAGES_PER_DOCUMENT, passages, write_shard
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.records import Document


def cut(body, words):
    return [p.body for p in passages(Document(0, "d", "t", "u", body), words)]


@pytest.mark.parametrize(
    ("body", "words", "bodies"),
    [
        ("a b c d e", 2, ["a b", "c d", "e"]),
        ("a b c d e f g h i", 4, ["a b c d", "e f g h i"]),
        ("a b", 40, ["a b"]),
        ("", 40, [""]),
    ],
    ids=["the rest is half", "a short rest joins the last", "short", "empty"],
)
def test_passages_of_so_many_words(body, words, bodies):
    assert cut(body, words) == bodies


def test_ids_titles_and_locations():
    first, second = passages(Document(7, "d", "t", "u", "a b c d"), 2)
    assert (first.document_id, second.document_id) == ("d#0", "d#1")
    assert (first.position, second.position) == (7 * PASSAGES_PER_DOCUMENT, 7 * PASSAGES_PER_DOCUMENT + 1)
    assert (second.title, second.url) == ("t", "u")


@given(st.text(alphabet="ab \n\t"), st.integers(1, 9))
def test_no_word_is_lost_or_repeated(body, words):
    pieces = cut(body, words)
    assert " ".join(pieces).split() == body.split()
    assert all(len(piece.split()) == words for piece in pieces[:-1])
    if len(pieces) > 1:
        assert words - words // 2 <= len(pieces[-1].split()) < 2 * words


def test_a_corpus_option_cuts_them(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "x", "text": "a b c d"}\n{"id": "y", "text": "e"}\n')
    corpus = CorpusConfig(format="jsonl", path="d.jsonl", passage_words=2)
    write_shard(corpus, tmp_path / "d.jsonl", 0, tmp_path / "out.parquet", tmp_path / "redirects.parquet")
    assert DOCUMENTS.read(tmp_path / "out.parquet")["body"].to_pylist() == ["a b", "c d", "e"]
