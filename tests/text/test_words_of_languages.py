"""Languages: the table, and words, stop words, stems, sentences and lengths of a small text of each."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.text import TextConfig
from irpretrain.corpora.sources import passages as passages_of
from irpretrain.foundation.contracts import WORD_COUNTS
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.foundation.records import Document
from irpretrain.foundation.resources import resources_directory
from irpretrain.objectives.passages import passages, query_sentences
from irpretrain.text.languages import ENGLISH, language, read_languages
from irpretrain.text.passages import sentences
from irpretrain.text.statistics import count_words, merge_counts, read_totals
from irpretrain.text.stop_words import load_stop_words, stems_of
from irpretrain.text.terms import read_terms
from irpretrain.text.words import find_words, language_of, spaced_words, word_kind, word_spans
from irpretrain.wikipedia.links import segments
from language_cases import CASES, Case
from small_documents import write_documents

LETTERS = st.text("aßéΣİñ漢字かナーｶﾞ한국ि्का 。，x2²'-\u0301\u200d\n", max_size=12)


def cut(text: str, name: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language_name=name)]


def test_every_language_but_english_has_a_case() -> None:
    assert CASES.keys() == read_languages().keys() - {ENGLISH}


def test_the_lists_have_their_published_sizes() -> None:
    sizes = {
        "german.txt": 231, "french.txt": 154, "spanish.txt": 308, "italian.txt": 279, "portuguese.txt": 203,
        "dutch.txt": 101, "russian.txt": 159, "arabic.txt": 119, "hindi.txt": 225, "cjk.txt": 35,
    }  # fmt: skip
    assert {row.stop_list for row in read_languages().values()} == {"", *sizes}
    for file, size in sizes.items():
        entries = (resources_directory() / "stopwords" / file).read_text(encoding="utf-8").split()
        assert len(entries) == len(set(entries)) == size


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=list(CASES))
def test_words_stop_words_and_stems(name: str, case: Case) -> None:
    kind = word_kind("alphanumeric", name)
    words = find_words(case.text, kind)
    stop = load_stop_words("inquery", language_name=name)
    assert words == case.words.split()
    assert [word for word in words if word in stop] == case.stop.split()
    assert stems_of([word for word in words if word not in stop], name) == case.stems.split()
    assert load_stop_words("none", language_name=name) == frozenset()


def test_letters_with_marks_are_not_cut() -> None:
    """Every word of Hindi and Arabic is a run between white space; English cuts it at the first mark."""
    for name in ("hindi", "arabic"):
        text = CASES[name].text
        assert any(unicodedata.category(letter).startswith("M") for letter in text)
        assert find_words(text, f"{name}:letters") == text.split()
        assert len(find_words(text, "letters")) > len(text.split())
    assert find_words("می‌خواهم e\u0301te\u0301", "other:letters") == ["می‌خواهم", "e\u0301te\u0301"]


def test_digits_are_words_of_one_kind() -> None:
    assert find_words("2019年 x² 3D", "chinese:alphanumeric") == ["2019", "年", "x²", "3d"]
    assert find_words("2019年 x² 3D", "chinese:letters") == ["年", "x", "d"]


@given(LETTERS, st.sampled_from(["alphanumeric", "letters"]))
def test_words_joined_by_spaces_are_cut_into_themselves(text: str, words: str) -> None:
    kind = word_kind(words, "other")
    found = find_words(text, kind)
    assert find_words(" ".join(found), kind) == found
    spans = word_spans(text, kind)
    assert spans.words == found
    assert (spans.starts[1:] >= spans.starts[:-1]).all()
    assert (spans.ends[1:] >= spans.ends[:-1]).all()
    for word, start, end in zip(found, spans.starts, spans.ends, strict=True):
        # Casefolded: what Σ becomes in lower case depends on the letters beside it.
        assert text[start:end].casefold().startswith(word.casefold()) or "İ" in text


def test_kinds_of_words_name_their_language() -> None:
    assert (word_kind("letters", ENGLISH), word_kind("letters", "german")) == ("letters", "german:letters")
    assert [language_of(kind) for kind in ("lucene", "letters", "german:letters")] == [
        ENGLISH,
        ENGLISH,
        "german",
    ]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("german", ["Am 3. Oktober kam Dr. Ey, z. B. Ulm.", "Er ging.", "1990.", "Ab."]),
        ("german", ["„Er kam.“", "»So.«", "Prof. Mai ging am 3. Oktober."]),
        ("french", ["Voir éd. Paris et MM. Roux.", "Il dort !", "Oui."]),
        ("french", ["« Il vint. »", "Elle partit."]),
        ("spanish", ["La Sra. Díaz vino.", "¿Y tú?", "¡Sí!"]),
        ("italian", ["Il dott. Rossi dorme.", "Poi parte."]),
        ("portuguese", ["O Dr. Sá chegou.", "Ele saiu."]),
        ("portuguese", ["O Sr. Silva chegou.", "Foi."]),
        ("dutch", ["Dat is bijv. Den Haag.", "En dhr. Bos."]),
        ("russian", ["Это тыс. Рублей.", "Да?", "Нет."]),
        ("russian", ["„Да.“", "Нет."]),
        ("arabic", ["هل كتب؟", "نعم.", "انتهى."]),
        ("hindi", ["डॉ. सिंह आए।", "वे गए.", "क्या?"]),
        ("japanese", ["彼は来た。", "「本当？」", "と聞いた。"]),
        ("chinese", ["他来了。", "她走了！", "好"]),
        ("korean", ["서울이다.", "크다!", "예."]),
        ("korean", ["좋은 집.", "볼 수 있는 것.", "다음 문장."]),
        ("other", ["Vīns.", "Div.", "Treis؟", "A. B. Capital."]),
    ],
)
def test_sentences_end_behind_quotes_and_not_behind_titles(name: str, parts: list[str]) -> None:
    separator = "" if language(name).unspaced else " "
    assert cut(separator.join(parts), name) == parts


def test_a_long_run_of_marks_takes_no_quadratic_time() -> None:
    for marks in (".", "?!…", "।"):
        assert len(sentences(marks * 100_000, language_name="hindi")) == 1
        assert len(sentences(marks * 100_000)) == 1


def test_a_mark_belongs_to_the_letter_before_it_in_lengths_too() -> None:
    assert [len(spaced_words(text, "japanese")) for text in ("か\u3099き\u3099", "ｶﾞｷﾞ", "日本。")] == [2, 2, 2]


def test_english_keeps_its_own_ends() -> None:
    text = "He paid Rs. 5. Mr. Ey left on 3. October came? Yes؟ No। So."
    assert cut(text, ENGLISH) == ["He paid Rs.", "5.", "Mr. Ey left on 3.", "October came?", "Yes؟ No। So."]


def test_lengths_count_letters_where_no_white_space_stands() -> None:
    body = "北京大学，在2019年成立。iPhone 手机"
    pieces = ["北", "京", "大", "学，", "在", "2019", "年", "成", "立。", "iPhone", "手", "机"]
    assert [body[a:b] for a, b in segments(body, 1, "chinese")] == pieces
    assert [body[a:b] for a, b in segments(body, 6, "chinese")] == ["北京大学，在2019", "年成立。iPhone 手机"]
    assert [body[a:b] for a, b in segments(body, 1, "korean")] == body.split()
    [first, second] = passages_of(Document(0, "d", "t", "", body), 6, "chinese")
    assert (first.body, second.body) == ("北京大学，在2019", "年成立。iPhone 手机")
    [whole] = passages_of(Document(0, "d", "t", "", body), 6)
    assert whole.body == body
    [passage] = passages("他来了。她走了！好", [(0, 9)], 9, "chinese")
    assert query_sentences("他来了。她走了！好", passage) == [(0, 4), (4, 8)]
    assert query_sentences("他来了。她走了！好", passages("他来了。她走了！好", [(0, 9)], 9)[0]) == []


def test_statistics_say_their_language(tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "documents", [CASES["german"].text])
    tables = {}
    for name in ("german", "dutch", ENGLISH):
        tables[name] = tmp_path / name
        count_words(documents, TextConfig(words="letters", language=name), tables[name])
    assert read_totals(tables["german"]).language == "german"
    assert b"language" not in (WORD_COUNTS.read(tables[ENGLISH]).schema.metadata or {})
    terms = read_terms(tables["german"], "inquery", "porter")
    assert (terms.names, terms.language) == (["haus", "schlaf", "stadt"], "german")
    merge_counts([tables["german"]] * 2, tmp_path / "merged")
    assert read_totals(tmp_path / "merged").language == "german"
    with pytest.raises(IntegrityError, match=r"its words are dutch, those of .* are german"):
        merge_counts([tables["german"], tables["dutch"]], tmp_path / "merged")


def test_the_default_names_no_language_among_settings() -> None:
    """Jobs are made again where their settings change; a configuration without the key has those of before it."""
    keys = {"words", "fields", "separator", "max_word_pieces"}
    assert TextConfig(words="letters").model_dump().keys() == keys
    assert TextConfig(words="letters", language=ENGLISH).model_dump(mode="json").keys() == keys
    dumped = TextConfig(words="letters", language="hindi").model_dump()
    assert dumped["language"] == "hindi"
    assert TextConfig(**dumped).word_kind == "hindi:letters"
    assert TextConfig(words="letters").word_kind == "letters"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("germann", "did you mean german?"),
        ("de", "did you mean german?"),
        ("ZH", "did you mean chinese?"),
        ("ltg", "there are english, german, "),
    ],
)
def test_an_unknown_language_names_what_is_near(name: str, meant: str) -> None:
    message = rf"'{name}' is not a language of resources/languages.yaml; {re.escape(meant)}.*'other'"
    with pytest.raises(ValueError, match=message):
        TextConfig(words="letters", language=name)
    with pytest.raises(ConfigError, match="text.language: " + message):
        language(name)
