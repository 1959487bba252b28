"""Indexes in other languages than English: terms are those of Lucene's analyser of the language, for our words."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lucene import OPTIONS, write_vectors

from irpretrain.axioms.pseudo_queries import sample_pseudo_queries
from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.config.retrieval import IndriOptions, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Run, read_run
from irpretrain.foundation.contracts import DOCUMENT_QUERIES, TERM_VECTORS
from irpretrain.retrieval import lucene
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.expansion import expand_documents
from irpretrain.retrieval.indri import Positions, build_positions, read_weighted_queries, search_weighted
from irpretrain.retrieval.java import java_class
from irpretrain.retrieval.textrank import weigh_by_textrank
from irpretrain.retrieval.weighted_index import index_weights
from irpretrain.text.languages import language, read_languages
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.terms import read_terms
from irpretrain.text.word_store import write_word_store
from irpretrain.text.words import find_words
from language_cases import CASES
from small_documents import write_documents, write_queries

ANALYSED = [name for name, row in read_languages().items() if row.analyser]
CHINESE = TextConfig(words="alphanumeric", language="chinese", separator="。")
CASES_OF_LAW = {
    "theft": "被告人盗窃他人财物，数额较大，构成盗窃罪。",
    "fraud": "被告人以非法占有为目的，诈骗他人财物，构成诈骗罪。",
    "traffic": "被告人违反交通运输管理法规，发生重大事故，构成交通肇事罪。",
}
ASKED = {"theft": "入户盗窃财物数额较大", "fraud": "电信诈骗", "traffic": "酒后驾车，发生重大交通事故"}


def by_lucene(name: str, text: str) -> list[str]:
    """Terms of a text as it is, by Lucene's whole analyser of a language with its own stop words."""
    analyser = java_class(language(name).analyser)()
    printed = java_class("io.anserini.analysis.AnalyzerUtils").analyze(analyser, text).toString()
    return printed[1:-1].split(", ") if len(printed) > 2 else []


@pytest.mark.parametrize("name", ANALYSED)
def test_terms_of_a_text_are_those_of_lucene_s_whole_analyser(name: str) -> None:
    text = CASES[name].text
    [terms] = Analyser.of(RetrievalConfig(), f"{name}:alphanumeric").terms([text])
    assert terms == by_lucene(name, text)
    assert len(terms) == len(CASES[name].words.split()) - len(CASES[name].stop.split())


@pytest.mark.parametrize("name", ANALYSED)
def test_stop_lists_are_lucene_s(name: str) -> None:
    printed = java_class(language(name).analyser).getDefaultStopSet().toString()
    whole = {word.strip() for word in printed[1:-1].split(", ")}
    kind = f"{name}:alphanumeric"
    assert load_stop_words("inquery", language_name=name) == {
        word for entry in whole for word in find_words(entry, kind)
    }


@given(st.text("北京大学人のはかなンーーabC1 ，。\n", max_size=12) | st.text("대한민국 ，。", max_size=12))
def test_words_of_chinese_are_terms_of_lucene_s_analyser(text: str) -> None:
    """Alphabets of their own: Lucene makes one word of a Latin letter and a Korean one beside it, we make two."""
    stop = load_stop_words("inquery", language_name="chinese")
    words = [word for word in find_words(text, CHINESE.word_kind) if word not in stop]
    assert words == by_lucene("chinese", text)
    assert Analyser.of(RetrievalConfig(), CHINESE.word_kind).terms([text, ""]) == [words, []]


def test_options_turn_stems_and_stop_words_off() -> None:
    text = "Die Häuser der Städte"
    for options, terms in [
        (RetrievalConfig(), "haus stadt"),
        (IndriOptions(), "haus stadt"),
        (RetrievalConfig(stemmer="none"), "häuser städte"),
        (RetrievalConfig(stop_list="none"), "die haus der stadt"),
        (RetrievalConfig(stemmer="none", stop_list="none"), "die häuser der städte"),
    ]:
        assert Analyser.of(options, "german:letters").terms([text]) == [terms.split()]
    assert Analyser.words_only("german:letters").terms([text]) == [text.lower().split()]


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("german", "Die 北京大学 in Peking", ["北京", "京大", "大学", "peking"]),
        ("japanese", "佐々木", ["佐々", "々木"]),
        # The first word is a stop word only as Lucene writes it.
        ("hindi", "मैं घर जाता हूँ", ["जा", "हुं"]),
    ],
)
def test_letters_count_once_and_stop_words_in_any_spelling(name: str, text: str, terms: list[str]) -> None:
    assert Analyser.of(RetrievalConfig(), f"{name}:alphanumeric").terms([text]) == [terms]


@pytest.mark.parametrize(
    ("name", "bodies", "requested"),
    [
        ("german", {"d": "Die Häuser der Städte", "e": "Ein Garten im Sommer"}, "In welchem Haus?"),
        ("arabic", {"d": "الأولاد في المدارس", "e": "كتب كبيرة"}, "أولاد المدارس"),
        ("korean", {"d": "대한민국의 수도는 서울", "e": "일본의 도쿄"}, "서울의"),
        ("other", {"d": "Latgalīšu volūda", "e": "Reigys piļsāta"}, "volūda"),
    ],
)
def test_an_index_finds_the_document_that_another_form_is_in(
    tmp_path: Path, name: str, bodies: dict[str, str], requested: str
) -> None:
    text = TextConfig(words="alphanumeric", language=name)
    documents = write_documents(tmp_path / "documents.parquet", {**bodies, "none": ". ,"})
    counts = lucene.index([documents], OPTIONS, text, tmp_path / "index")
    assert counts == {"documents": 3, "documents_without_text": 1}
    queries = write_queries(tmp_path / "queries.parquet", {"q": requested})
    lucene.search(tmp_path / "index", queries, "bm25", OPTIONS, tmp_path / "run.gz")
    run = read_run(tmp_path / "run.gz")
    assert [document for document, _ in run["q"]][:1] == ["d"]
    assert json.loads((tmp_path / "index" / lucene.RECORD).read_text())["query_words"] == text.word_kind


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, queries, statistics and index of a made-up collection of Chinese cases."""
    folder = tmp_path_factory.mktemp("chinese")
    documents = write_documents(folder / "documents", CASES_OF_LAW)
    write_queries(folder / "queries", ASKED)
    count_words(documents, CHINESE, folder / "counts")
    merge_counts([folder / "counts"], folder / "statistics")
    lucene.index([documents], OPTIONS, CHINESE, folder / "index")
    return folder


def finds_each_case(run: Run) -> bool:
    return {query: ranking[0][0] for query, ranking in run.items()} == {name: name for name in ASKED}


def test_chinese_search_finds_the_right_document(chinese: Path, tmp_path: Path) -> None:
    for model in ("bm25", "ql"):
        lucene.search(chinese / "index", chinese / "queries", model, OPTIONS, tmp_path / "run.gz")
        assert finds_each_case(read_run(tmp_path / "run.gz"))


def test_chinese_statistics_pseudo_queries_and_index_have_the_same_words(
    chinese: Path, tmp_path: Path
) -> None:
    terms = read_terms(chinese / "statistics", "inquery", "porter")
    indexed = Counter(
        word
        for body in CASES_OF_LAW.values()
        for word in Analyser.of(OPTIONS, CHINESE.word_kind).terms([body])[0]
    )
    assert dict(zip(terms.names, terms.counts.tolist(), strict=True)) == indexed
    write_word_store(chinese / "documents", chinese / "statistics", CHINESE, tmp_path / "store")
    options = PseudoQueriesConfig(minimum_count=1, temperature=1.0, support="document")
    sample_pseudo_queries(tmp_path / "store", chinese / "statistics", options, 1, tmp_path / "drawn")
    for row in DOCUMENT_QUERIES.read(tmp_path / "drawn").to_pylist():
        words = row["query"].split(" ")
        assert find_words(row["query"], CHINESE.word_kind) == words
        assert set(words) <= set(find_words(CASES_OF_LAW[row["document_id"]], CHINESE.word_kind))


def test_chinese_weights_and_positions(chinese: Path, tmp_path: Path) -> None:
    """An index of frequencies as weights scores as the tf index, and Indri's query likelihood finds the same first."""
    frequencies = {d: Counter(find_words(body, CHINESE.word_kind)) for d, body in CASES_OF_LAW.items()}
    vectors = write_vectors(tmp_path / "vectors", frequencies)
    index_weights([vectors], CHINESE.word_kind, OPTIONS, tmp_path / "weighted")
    runs = []
    for index in (chinese / "index", tmp_path / "weighted"):
        lucene.search(index, chinese / "queries", "bm25", OPTIONS, tmp_path / "run.gz", "bm25")
        runs.append(read_run(tmp_path / "run.gz"))
    assert runs[0] == runs[1]
    indri = IndriOptions()
    build_positions([chinese / "documents"], indri, CHINESE, tmp_path / "positions")
    positions = Positions.open(tmp_path / "positions", indri, CHINESE.word_kind)
    assert positions.ordered("盗窃", "窃罪").tolist() == [positions.of_term("窃罪")[0] - 1]
    analyser = Analyser.of(indri, CHINESE.word_kind)
    requested = read_weighted_queries(chinese / "queries", None, CHINESE.word_kind, analyser)
    search_weighted(positions, requested, indri, OPTIONS.depth, tmp_path / "run.gz", "indri")
    assert finds_each_case(read_run(tmp_path / "run.gz"))


def test_weights_of_chinese_words_without_training(chinese: Path, tmp_path: Path) -> None:
    """Expansion and TextRank weigh our words, so that queries cut the same way find them."""
    (tmp_path / "added.tsv").write_text("fraud\t电信网络\n", encoding="utf-8")
    expand_documents(chinese / "documents", tmp_path / "added.tsv", CHINESE, tmp_path / "expanded")
    weigh_by_textrank(chinese / "documents", OPTIONS, CHINESE, tmp_path / "ranked")
    expanded, ranked = (
        {row["document_id"]: {t["term"]: t["weight"] for t in row["terms"]} for row in table.to_pylist()}
        for table in map(TERM_VECTORS.read, (tmp_path / "expanded", tmp_path / "ranked"))
    )
    frequencies = {d: Counter(find_words(body, CHINESE.word_kind)) for d, body in CASES_OF_LAW.items()}
    added = Counter({"电信": 1, "信网": 1, "网络": 1})
    assert expanded == frequencies | {"fraud": frequencies["fraud"] + added}
    assert all(ranked[d].keys() <= frequencies[d].keys() and ranked[d] for d in frequencies)
