"""Pages of term weights: shares of five-word passages by hand, hostile and foreign text, and the page itself."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_reader import Page, data_set_files, write_data_set

from irpretrain.config.experiments import TermWeightPageConfig
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.report.coloured_texts import (
    CaseSource,
    Word,
    query_terms,
    read_passage,
    shade,
    write_term_weight_page,
)
from irpretrain.retrieval.analysis import Analyser
from small_documents import document_rows

TEXT = TextConfig(words="alphanumeric")
OPTIONS = RetrievalConfig(threads=1, memory_mb=256)


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser.of(OPTIONS)


# Words and their shares


def shades(analyser: Analyser, text: str, query: str, weights: dict[str, int]) -> list[tuple[str, str, bool]]:
    """Word, share in per cent, whether it is in the query."""
    asked = query_terms(query, "alphanumeric", analyser)
    passage, _ = read_passage(text, "alphanumeric", analyser, asked)
    return [(word.text, f"{100 * word.value:.4g}", word.in_query) for word in shade(passage, weights)]


def test_words_have_the_shares_of_their_terms(analyser: Analyser) -> None:
    found = shades(analyser, "The Zoo has two zoos!", "what do zoos serve", {"zoo": 6, "two": 2})
    assert found == [
        ("The", "0", False), ("Zoo", "75", True), ("has", "0", False), ("two", "25", False), ("zoos", "75", True),
    ]  # fmt: skip


def test_a_word_that_the_index_cuts_further_has_all_its_terms(analyser: Analyser) -> None:
    found = shades(analyser, "東京 zoo", "京", {"東": 1, "京": 4, "zoo": 5})
    assert found == [("東京", "50", True), ("zoo", "50", False)]


def test_a_passage_without_weights_is_not_shaded(analyser: Analyser) -> None:
    assert shades(analyser, "red fox", "fox", {}) == [("red", "0", False), ("fox", "0", True)]


def test_titles_name_term_and_numbers() -> None:
    passage = [(Word("", "Zoos"), ("zoo",)), (Word(" ", "Fox"), ("fox",))]
    zoos, fox = shade(passage, {"zoo": 1200, "fox": 3200, "two": 5200})
    assert zoos.title == "Zoos as zoo: 12.5%, weight 1,200 of 9,600"
    assert fox.title == "Fox: 33.3%, weight 3,200 of 9,600"


def test_overlapping_words_show_each_letter_once() -> None:
    analyser = Analyser.of(OPTIONS, "chinese:alphanumeric")
    asked = query_terms("京大", "chinese:alphanumeric", analyser)
    passage, rest = read_passage("在北京大学 ok。", "chinese:alphanumeric", analyser, asked)
    assert [word.text for word, _ in passage] == ["在", "北", "京", "大学", "ok"]
    assert [word.in_query for word, _ in passage] == [False, False, True, True, False]
    assert "".join(word.before + word.text for word, _ in passage) + rest == "在北京大学 ok。"
    assert [word.value for word in shade(passage, {"北京": 3, "大学": 2})] == [0, 0.6, 0, 0.4, 0]


@given(st.text(max_size=40))
def test_a_passage_keeps_every_character(text: str) -> None:
    passage, rest = read_passage(text, "alphanumeric", Analyser.of(OPTIONS), frozenset())
    assert "".join(word.before + word.text for word, _ in passage) + rest == text


# The page

BODIES = {
    "a": "Amateur vocalist Susan Boyle sings",
    "b": "a troll writes susan boyle",
    "ar": "القاهرة عاصمة مصر",
    "none": "of the",
}
LEARNED = {
    "a": {"susan": 40, "boyle": 50, "vocalist": 10},
    "b": {"troll": 95, "susan": 2, "boyle": 3},
    "ar": {"القاهرة": 30, "مصر": 10},
    "none": {},
}


def write_vectors(path: Path, vectors: dict[str, dict[str, int]]) -> None:
    rows = []
    for position, (name, weights) in enumerate(vectors.items()):
        terms = [{"term": term, "weight": weight} for term, weight in weights.items()]
        rows.append({"part": 0, "position": position, "document_id": name, "terms": terms})
    TERM_VECTORS.write(path, rows)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    queries = {"q1": "who is susan boyle", "q2": "عاصمة مصر"}
    write_data_set(tmp_path, document_rows(BODIES), queries, "q1 0 a 1\n")
    write_run(tmp_path / "tf.gz", {"q1": [("b", 9.0), ("a", 8.0), ("ar", 7.0)]}, "x")
    write_run(tmp_path / "deepct.gz", {"q1": [("a", 9.0)]}, "x")
    write_vectors(tmp_path / "deepct-0.parquet", {"a": LEARNED["a"]})
    write_vectors(tmp_path / "deepct-1.parquet", {name: LEARNED[name] for name in ("b", "ar", "none")})
    counted = {name: dict.fromkeys(body.lower().split()[:5], 1) for name, body in BODIES.items()}
    counted["b"] = {"troll": 1, "writes": 1, "susan": 1, "boyle": 1, "extra": 1}
    write_vectors(tmp_path / "tf-0.parquet", counted)
    return tmp_path


def write(project: Path, output: str = "page.html", **options: Any) -> dict[str, Any]:
    shards = {"tf": ["tf-0"], "DeepCT": ["deepct-0", "deepct-1"]}
    weightings = [
        {"label": label, "vectors": [project / f"{name}.parquet" for name in names]}
        for label, names in shards.items()
    ]
    runs = [project / f"{name}.gz" for name in ("tf", "deepct")]
    page = TermWeightPageConfig(dataset="tiny", weightings=["tf", "deepct"], **options)
    source = CaseSource(*data_set_files(project), TEXT)
    return write_term_weight_page("page", page, weightings, runs, source, OPTIONS, project / output)


def shaded(page: Page) -> list[dict[str, str | None]]:
    """The words with a weight."""
    return [attributes for tag, attributes in page.elements if tag == "span" and "title" in attributes]


def test_a_page_shows_a_text_for_each_weighting(project: Path) -> None:
    counts = write(project, query="q1", document="a")
    assert (counts["query"], counts["document"], counts["weightings"]) == ("q1", "a", 2)
    page = Page(project / "page.html")
    deepest = [a for a in shaded(page) if "5px" in str(a.get("style")) and a.get("class") == "asked"]
    assert [a["title"] for a in deepest] == ["Boyle as boyl: 50.0%, weight 50 of 100"]
    write(project, query="q1", document="b")
    page = Page(project / "page.html")
    lines = [str(a.get("style"))[-9:] for a in shaded(page) if "troll" in str(a["title"])]
    assert lines == ["2px solid", "5px solid"], "a fifth by tf, nearly all by DeepCT"


def test_every_class_of_a_word_has_a_style(project: Path) -> None:
    write(project, query="q1", document="a")
    page = Page(project / "page.html")
    classes = {name for tag, a in page.elements if tag == "span" for name in str(a.get("class", "")).split()}
    style = (project / "page.html").read_text(encoding="utf-8").partition("</style>")[0]
    assert "asked" in classes
    assert all(f".{name}{{" in style for name in classes)


def test_a_query_in_a_script_from_right_to_left(project: Path) -> None:
    counts = write(project, query="q2", document="ar")
    assert counts["query"] == "q2"
    page = Page(project / "page.html")
    maps = [a for tag, a in page.elements if tag == "p" and a.get("class") == "map"]
    assert [a["dir"] for a in maps] == ["auto"] * 2
    assert any(str(a["title"]).startswith("القاهرة: 75.0") for a in shaded(page))


def test_same_bytes_twice_and_a_case_from_the_runs(project: Path) -> None:
    for name in ("one.html", "two.html"):
        assert write(project, name)["document"] == "a"
    assert (project / "one.html").read_bytes() == (project / "two.html").read_bytes()


def test_documents_that_are_not_there_are_refused(project: Path) -> None:
    with pytest.raises(InputError, match="1 document not in the corpus, such as z"):
        write(project, query="q1", document="z")
    write_vectors(project / "deepct-1.parquet", {"ar": {}})
    with pytest.raises(IntegrityError, match="document 'b' of the corpus has no row of weights"):
        write(project, query="q1", document="b")
    assert not (project / "page.html").exists()


@pytest.mark.browser
def test_a_browser_asks_for_nothing(project: Path, browser) -> None:
    write(project, query="q2", document="ar")
    for width, height, mobile in ((1280, 900, False), (390, 844, True)):
        browser.resize(width, height, mobile)
        browser.open(project / "page.html")
        assert browser.evaluate("document.title") == "Term weights: page"
        assert [url for url in browser.requests() if not url.startswith("file:")] == []
        assert browser.complaints() == []
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.evaluate("getComputedStyle(document.querySelectorAll('.map')[0]).direction") == "rtl"
    backgrounds = []
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        backgrounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(set(backgrounds)) == 2
