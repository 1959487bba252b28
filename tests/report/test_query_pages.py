"""Pages of queries: which queries are chosen, what the page holds under hostile text, and how it works in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import chromium
import pytest
import yaml
from page_reader import HOSTILE, Page, data_set_files, write_data_set

from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.compute import ComputeConfig
from irpretrain.config.query_pages import QueryPageConfig
from irpretrain.config.retrieval import RerankingConfig, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.errors import ConfigError, InputError
from irpretrain.evaluation.runs import write_run
from irpretrain.models.attribution import attribute
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.models.reranker import load_reranker
from irpretrain.report.cases import (
    GAIN,
    LOSS,
    NAMED,
    RANDOM,
    TIE,
    choose_queries,
    compared,
    differences_of,
)
from irpretrain.report.query_pages import write_query_page

TEXT = TextConfig(words="alphanumeric")
RETRIEVAL = RetrievalConfig(threads=1, memory_mb=256)
LENGTHS = RerankingConfig(max_length=60, query_length=30, compute=ComputeConfig(device="cpu"))
SIDES: dict[str, Any] = {"left": {"model": "bm25"}, "right": {"model": "ours"}}

# Which queries

LEFT = {"q1": 0.5, "q2": 0.5, "q3": 0.5, "q4": 0.5, "q5": 0.5, "q6": 0.5, "q7": 0.5}
RIGHT = {"q1": 0.6, "q2": 1.0, "q3": 0.6, "q4": 0.1, "q5": 0.5, "q6": 0.5, "q7": 0.4}


NONE = dict.fromkeys(("gains", "losses", "ties", "random"), 0)


def chosen(seed: int = 1, known: set[str] | None = None, **choose: int) -> list[tuple[str, str]]:
    page = QueryPageConfig(dataset="tiny", **SIDES, choose={**NONE, **choose})
    return [tuple(one) for one in choose_queries("page", page, known or set(LEFT), LEFT, RIGHT, seed)]


def test_the_largest_differences_either_way() -> None:
    # Gains: q2 0.5, then q1 and q3 0.1 by id. Losses: q4 0.4, q7 0.1.
    assert chosen(gains=2, losses=9) == [("q2", GAIN), ("q1", GAIN), ("q4", LOSS), ("q7", LOSS)]
    assert chosen(gains=9, known={"q1", "q3"}) == [("q1", GAIN), ("q3", GAIN)]


def test_ties_and_others_are_drawn_by_the_seed() -> None:
    assert {query for query, _ in chosen(ties=9)} == {"q5", "q6"}
    drawn = {tuple(query for query, _ in chosen(seed, ties=1)) for seed in range(20)}
    assert drawn == {("q5",), ("q6",)}
    assert chosen(3, random=4) == chosen(3, random=4)
    assert chosen(3, random=2) == chosen(3, random=4)[:2], "more are drawn in addition, not instead"
    everything = chosen(gains=1, losses=1, ties=1, random=9)
    assert sorted(query for query, _ in everything) == sorted(LEFT), "no query twice"
    assert [rule for _, rule in everything] == [GAIN, LOSS, TIE, *[RANDOM] * 4]


def test_named_queries_keep_their_order() -> None:
    page = QueryPageConfig(dataset="tiny", **SIDES, queries=["q7", "q1", 12])
    assert choose_queries("page", page, {"q1", "q7", "12"}, LEFT, RIGHT, 1) == [
        ("q7", NAMED), ("q1", NAMED), ("12", NAMED),
    ]  # fmt: skip
    with pytest.raises(
        ConfigError, match=r"query_pages\.page\.queries: '12' is not among the queries of tiny"
    ):
        choose_queries("page", page, {"q1", "q7"}, LEFT, RIGHT, 1)


def test_rules_that_find_nothing_say_what_there_is() -> None:
    page = QueryPageConfig(dataset="tiny", **SIDES, choose={"gains": 0, "losses": 0, "ties": 3, "random": 0})
    with pytest.raises(ConfigError, match=r"no judged query of tiny fits \(gains 1, losses 0, ties 0\)"):
        choose_queries("page", page, {"q1"}, {"q1": 0.0}, {"q1": 1.0}, 1)


def test_queries_are_compared() -> None:
    assert compared(differences_of(LEFT, RIGHT)) == {"better": 3, "equal": 2, "worse": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"right": {"model": "bm25"}}, "left and right are the same ranking"),
        ({"queries": ["a", "a"]}, "'a' is listed twice"),
        ({"choose": NONE}, "chooses no query"),
        ({"measure": "nDCP@20"}, "is not a measure"),
        ({"right": {"model": "ours", "regime": "fine-tuned"}}, "regime"),
    ],
)
def test_what_contradicts_itself_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        QueryPageConfig(dataset="tiny", **{**SIDES, **options})


# The page

BODIES = {
    "a": ("Alpha", "cab word01"),
    "b": (f"Beta {HOSTILE}", f"filler filler {HOSTILE} the cabs of word02 " + "word05 " * 90),
    "c": ("", "word03"),
    "d": ("Delta", ""),
}
RANKINGS = {
    "left": {"q1": "a b c", "q2": "b a", "q3": "a"},
    "right": {"q1": "b c a", "q2": "b a"},
}
QUERY_TEXTS = {"q1": f"word02 cab {HOSTILE}", "q2": "equal word05", "q3": "only left", "q4": "nobody asked"}


def run_of(rankings: dict[str, str]) -> dict[str, list[tuple[str, float]]]:
    return {
        query: [(d, 9.0 - i) for i, d in enumerate(documents.split())]
        for query, documents in rankings.items()
    }


@pytest.fixture
def project(tmp_path: Path, tiny_encoder: Path) -> Path:
    rows = [
        {"document_id": name, "part": 0, "position": i, "title": title, "url": "", "body": body}
        for i, (name, (title, body)) in enumerate(BODIES.items())
    ]
    # RR@10: q1 1/2 and 1; q2 1/2 twice; q3 1 and 0. d is relevant for q1, and neither ranking has it.
    qrels = "q1 0 b 2\nq1 0 c 0\nq1 0 d 1\nq2 0 a 1\nq3 0 a 1\n"
    write_data_set(tmp_path, rows, QUERY_TEXTS, qrels)
    for name, rankings in RANKINGS.items():
        write_run(tmp_path / f"{name}.gz", run_of(rankings), "x")
    CrossEncoder.from_encoder(tiny_encoder).save(tmp_path / "ours")
    return tmp_path


def write(project: Path, output: str = "page.html", **options: Any) -> dict[str, Any]:
    page = QueryPageConfig(dataset="tiny", **SIDES, **options)
    rankings = [
        {"key": "bm25", "label": "BM25", "detail": "first stage", "paths": [project / "left.gz"], "directory": None},
        {
            "key": "ours", "label": f"Ours {HOSTILE}", "detail": "zero-shot, seed 1", "paths": [project / "right.gz"],
            "directory": project / "ours",
        },
    ]  # fmt: skip
    return write_query_page(
        "page", page, rankings, "Tiny", "RR@10", *data_set_files(project), TEXT, RETRIEVAL, LENGTHS, 1,
        project / output,
    )  # fmt: skip


def data_of(path: Path) -> dict[str, Any]:
    [found] = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL
    )
    return json.loads(found)


def test_a_page_holds_both_rankings(project: Path) -> None:
    counts = write(project)
    assert (counts["queries"], counts["better"], counts["equal"], counts["worse"]) == (3, 1, 1, 1)
    data = data_of(project / "page.html")
    assert [(query["id"], query["rule"], query["values"]) for query in data["queries"]] == [
        ("q1", GAIN, [0.5, 1.0]), ("q3", LOSS, [1.0, 0.0]), ("q2", TIE, [0.5, 0.5]),
    ]  # fmt: skip
    first, lost, _ = data["queries"]
    names = [document["id"] for document in first["documents"]]
    assert [[names[number] for number in side] for side in first["sides"]] == [
        ["a", "b", "c"],
        ["b", "c", "a"],
    ]
    by_name = {document["id"]: document for document in first["documents"]}
    assert {name: (one["grade"], one["ranks"], one["scores"]) for name, one in by_name.items()} == {
        "a": (None, [1, 3], [9.0, 7.0]), "b": (2, [2, 1], [8.0, 9.0]), "c": (0, [3, 2], [7.0, 8.0]),
    }  # fmt: skip
    assert by_name["a"]["snippet"] == [["cab", 1], [" word01", 0]]
    assert ["cabs", 1] in by_name["b"]["snippet"], "words of one stem are marked"
    assert first["unshown"] == [{"id": "d", "grade": 1, "ranks": [None, None]}]
    assert (lost["sides"][1], lost["sizes"]) == ([], [1, 0]), "a query that a run lacks"


def test_documents_below_the_depth_are_named_with_their_ranks(project: Path) -> None:
    write(project, depth=1, queries=["q1", "q2"])
    first, second = data_of(project / "page.html")["queries"]
    assert [document["id"] for document in first["documents"]] == ["a", "b"]
    assert (first["sides"], first["sizes"]) == ([[0], [1]], [3, 3])
    assert first["documents"][0]["ranks"] == [1, 3], "the rank that is not shown is known"
    assert second["unshown"] == [{"id": "a", "grade": 1, "ranks": [2, 2]}]


def test_a_query_without_judgements_has_no_values(project: Path) -> None:
    write(project, queries=["q4"])
    [query] = data_of(project / "page.html")["queries"]
    assert (query["values"], query["sides"]) == (None, [[], []])
    assert "not judged" in (project / "page.html").read_text()


def test_hostile_text_stays_text(project: Path) -> None:
    write(project)
    page = Page(project / "page.html")
    page.assert_no_code_of_texts()
    assert page.tags.count("script") == 2
    assert data_of(project / "page.html")["queries"][0]["text"] == QUERY_TEXTS["q1"]


def test_same_bytes_twice(project: Path) -> None:
    for name in ("one.html", "two.html"):
        write(project, name)
    assert (project / "one.html").read_bytes() == (project / "two.html").read_bytes()


def test_runs_that_are_not_there_and_pages_that_are_too_large_are_refused(project: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"page: the page would have 0\.0\d MB \(3 queries, 20 documents of each"
    ):
        write(project, megabytes=0.001)
    with pytest.raises(ConfigError, match="'q9' is not among the queries of tiny"):
        write(project, queries=["q9"])
    (project / "right.gz").unlink()
    with pytest.raises(InputError, match=r"right\.gz: there is no such file"):
        write(project)
    assert not (project / "page.html").exists()


ASKED = {"queries": 1, "documents": 1, "steps": 8}


def test_attributions_of_some_pairs(project: Path) -> None:
    counts = write(project, attributions=ASKED)
    # Of q1 alone: the first of each ranking, a and b; b is relevant too. Scores of BM25 are not taken apart.
    found = data_of(project / "page.html")["attributions"]
    assert (counts["attributed_pairs"], sorted(found)) == (2, ["0/0", "0/1"])
    absent, shown = found["0/0"]
    assert absent is None
    expected = attribute(
        load_reranker(project / "ours"), QUERY_TEXTS["q1"], "Alpha. cab word01", 60, 30, "pad", 8
    )  # fmt: skip
    assert shown["score"] == pytest.approx(expected.score, abs=1e-3)
    assert (
        "".join(before + word for before, word, *_ in shown["document"]) == f"Alpha{TEXT.separator}cab word01"
    )
    assert max(abs(depth) for *_, depth in shown["query"] + shown["document"]) == 100


# In a real browser

PROGRAM = chromium.find()


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome on the PATH")
def test_in_a_browser(project: Path) -> None:
    assert PROGRAM is not None
    write(project, attributions=ASKED, queries=["q1", "q2", "q3", "q4"])
    rows = "[...document.querySelectorAll('#queries tbody tr')]"
    listed = f"{rows}.filter((r) => !r.hidden).map((r) => r.querySelector('bdi + *, small bdi').textContent)"
    heading = "document.querySelector('#comparison h2').textContent"
    with chromium.Browser(PROGRAM) as browser:
        browser.resize(1280, 900)
        browser.open(project / "page.html")
        assert browser.evaluate("document.title") == "Queries: page"
        assert browser.evaluate(heading) == QUERY_TEXTS["q1"]

        # Documents of both rankings are joined, and say what happened to them.
        assert browser.evaluate("document.querySelectorAll('.lines path').length") == 3
        moved = "[...document.querySelectorAll('[data-side=\"{}\"] .moved')].map((e) => e.textContent)"
        assert browser.evaluate(moved.format(1)) == ["▲ 1 (BM25: 2)", "▲ 1 (BM25: 3)", "▼ 2 (BM25: 1)"]
        kinds = "[...document.querySelectorAll('[data-side=\"0\"] .document')].map((e) => e.className.trim())"
        assert browser.evaluate(kinds) == ["document", "document relevant", "document other"]
        assert "d, grade 1; BM25: not in it" in browser.evaluate(
            "document.querySelector('#comparison details').textContent"
        )
        assert browser.evaluate(
            "[...document.querySelectorAll('mark')].some((m) => m.textContent === 'cabs')"
        )

        # A pair with attributions, and one that says how to get them: what it says is a configuration.
        browser.click('[data-side="1"] .document:nth-child(1) .which')
        assert browser.evaluate("document.querySelector('#words').open")
        assert browser.evaluate("document.querySelectorAll('#words .map span').length") > 3
        browser.click("#words form button")
        browser.click('[data-side="1"] .document:nth-child(2) .which')
        recipe = yaml.safe_load(browser.evaluate("document.querySelector('#words pre').textContent"))
        asked = AttributionConfig(**recipe["attributions"]["my-page"])
        assert (asked.dataset, asked.query, asked.document, asked.models) == ("tiny", "q1", "c", ["ours"])
        browser.click("#words form button")

        # The list is sorted, searched and gone through.
        browser.click("#queries th:nth-child(4) button")
        assert browser.evaluate(listed) == ["q1", "q2", "q3", "q4"], "largest first, without a number last"
        browser.click("#queries th:nth-child(4) button")
        assert browser.evaluate(listed) == ["q3", "q2", "q1", "q4"]
        browser.click("#queries tbody tr:nth-child(1) .query")
        assert browser.evaluate(heading) == "only left"
        assert browser.evaluate("location.hash") == "#q3"
        assert browser.evaluate(moved.format(0))[0].startswith("not in Ours")
        assert "This ranking has no document" in browser.evaluate(
            "document.querySelector('#comparison').textContent"
        )
        browser.click(".steps button:nth-child(2)")
        assert browser.evaluate(heading) == "equal word05"
        browser.evaluate("(() => {const s = document.querySelector('#search'); s.value = 'NOBODY'; "
                         "s.dispatchEvent(new Event('input'))})()")  # fmt: skip
        assert browser.evaluate(listed) == ["q4"]
        assert browser.evaluate("document.querySelector('#found').textContent") == "1 of 4 queries"

        assert [url for url in browser.requests() if not url.startswith("file:")] == []
        assert browser.complaints() == []
        assert browser.evaluate("document.title") == "Queries: page", "no text was run"

        for width in (360, 768, 1280):
            browser.resize(width, 800, mobile=width < 700)
            browser.open(project / "page.html")
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            columns = "new Set([...document.querySelectorAll('.ranking')].map((e) => e.getBoundingClientRect().x)).size"
            assert browser.evaluate(columns) == (1 if width == 360 else 2)
