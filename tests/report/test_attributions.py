"""Pages of attributions: words, colours, the case that is chosen, and the page itself under hostile text."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_reader import HOSTILE, Page, data_set_files, write_data_set

from irpretrain.config.experiments import AttributionConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.attribution import AttributedText
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.report.coloured_texts import (
    Case,
    CaseSource,
    Word,
    choose_case,
    signed,
    words_of,
    write_attributions,
)
from small_documents import document_rows
from tiny_models import write_bert

TEXT = TextConfig(words="alphanumeric")
READING = {"max_length": 60, "query_length": 30, "compute": {"device": "cpu"}}


def side(text: str, pieces: list[tuple[str, int, int, float]], cut: bool = False) -> AttributedText:
    """A text and its (piece, first character, end, value)."""
    values = np.array([value for *_, value in pieces], dtype=np.float64)
    return AttributedText(text, [p[0] for p in pieces], [(p[1], p[2]) for p in pieces], values, cut)


# Words


def test_pieces_are_summed_by_word():
    pieces = [("gold", 0, 4, 0.5), ("##fish", 4, 8, -0.25), ("grow", 9, 13, 1.0), ("!", 13, 14, -2.0)]
    words = words_of(side("Goldfish grow!", pieces))
    assert [(w.before, w.text, w.value) for w in words] == [
        ("", "Goldfish", 0.25), (" ", "grow", 1.0), ("", "!", -2.0),
    ]  # fmt: skip
    assert words[0].title == "+0.25 = gold +0.5, ##fish -0.25"
    assert words[1].title == "+1"


def test_a_piece_may_begin_with_the_space_before_its_word():
    words = words_of(side("a  bc", [("▁a", 0, 1, 1.0), ("▁bc", 1, 5, 2.0)]))
    assert [(w.text, w.value) for w in words] == [("a", 1.0), ("bc", 2.0)]


def test_east_asian_characters_are_words_by_themselves():
    words = words_of(side("金魚 up", [("金", 0, 1, 1.0), ("魚", 1, 2, -1.0), ("up", 3, 5, 0.0)]))
    assert [(w.text, w.value) for w in words] == [("金", 1.0), ("魚", -1.0), ("up", 0.0)]


def test_words_that_were_not_read_are_left_out():
    pieces = [("one", 0, 3, 1.0), ("two", 4, 7, 1.0)]
    assert [w.text for w in words_of(side("one two three", pieces, cut=True))] == ["one", "two"]
    assert [w.text for w in words_of(side("one two \u200b", pieces))] == ["one", "two", "\u200b"]
    assert words_of(side("one", [], cut=True)) == []
    assert words_of(side("", [])) == []


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), max_size=8))
def test_words_keep_the_text_and_the_sum(text: str, places: list[tuple[int, int]]) -> None:
    ends = [(min(first, len(text)), min(first + size, len(text))) for first, size in places]
    pieces = [("p", *end, float(i + 1)) for i, end in enumerate(ends)]
    words = words_of(side(text, pieces))
    assert text.startswith("".join(w.before + w.text for w in words))
    if words:
        assert sum(w.value for w in words) == sum(p[3] for p in pieces)
    assert bool(words) == bool(text.strip())


def test_colours_say_sign_and_size():
    def style(value: float, scale: float) -> str:
        return Word("", "x", value).coloured(scale).style

    assert style(2.0, 2.0) == "background:rgba(214,39,40,0.750);border-bottom:5px solid"
    assert style(-1.0, 2.0) == "background:rgba(44,100,220,0.375);border-bottom:3px dotted"
    assert style(0.0, 2.0) == style(0.0, 0.0) == style(0.09, 2.0) == ""
    assert (signed(0.0), signed(0.12345), signed(-2.5e-5)) == ("0", "+0.123", "-2.5e-05")


# The case


def run(*rankings: str) -> dict[str, list[tuple[str, float]]]:
    """A run from "q1 d1 d2", documents best first."""
    return {line.split()[0]: [(d, -float(i)) for i, d in enumerate(line.split()[1:])] for line in rankings}


TEXTS = {"q2": "two", "q1": "one", "q10": "ten"}
QRELS = {"q1": {"a": 1, "b": 0}, "q10": {"a": 1, "c": 2}, "q2": {"c": 1}}
RUNS = [run("q1 a b c", "q10 a b c", "q2 a b c"), run("q1 c a b", "q10 c b a", "q2 c b a")]


def case(qrels: Any = QRELS, runs: Any = RUNS, **options: Any) -> Case:
    page = AttributionConfig(dataset="tiny", models=["m", "n"], **options)
    return choose_case("attributions.page", page, TEXTS, qrels, runs)


def test_the_case_is_where_models_disagree_most():
    # Differences of rank: q1 a 1; q10 a 2, c 2; q2 c 2. Of equal ones q10 comes before q2, and a before c.
    assert case() == Case("q10", "ten", "a")
    assert case(query="q1") == Case("q1", "one", "a")
    assert case(query="q10", document="z") == Case("q10", "ten", "z")


def test_a_case_that_cannot_be_chosen_is_refused():
    with pytest.raises(ConfigError, match=r"attributions\.page: 'q3' is not among the queries"):
        case(query="q3")
    with pytest.raises(ConfigError, match="no relevant document of any query is in all runs"):
        case({"q1": {"z": 1}})
    with pytest.raises(ConfigError, match="no relevant document of any query"):
        case(runs=[RUNS[0], {}])
    with pytest.raises(ConfigError, match="no relevant document of query 'q2' is in all runs"):
        case({"q1": {"a": 1}}, query="q2")


# The page


@pytest.fixture
def project(tmp_path: Path, tiny_encoder: Path) -> Path:
    bodies = {"a": "word01 cab word02", "b": f"word03 {HOSTILE} word04 " + "word05 " * 90, "c": ""}
    queries = {"q1": f"word02 cab {HOSTILE}"}
    write_data_set(tmp_path, document_rows(bodies), queries, "q1 0 b 2\nq1 0 a 1\n")
    for name, ranking in (("ours", "q1 b c a"), ("theirs", "q1 a b c")):
        write_run(tmp_path / f"{name}.gz", run(ranking), "x")
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "ours")
    write_bert(tmp_path / "theirs", 2)
    return tmp_path


def write(
    project: Path, output: str = "page.html", passages: dict[str, int] | None = None, **options: Any
) -> dict[str, Any]:
    models = [
        {
            "model": key,
            "label": f"{key} {HOSTILE}",
            "directory": project / key,
            "run": project / f"{key}.gz",
            "reranking": READING | {"passages": passages},
        }
        for key in ("ours", "theirs")
    ]
    page = AttributionConfig(dataset="tiny", models=["ours", "theirs"], **options)
    source = CaseSource(*data_set_files(project), TEXT)
    return write_attributions("page", page, models, source, project / output, project / "words.json")


def test_a_page_shows_ranks_scores_and_words(project: Path) -> None:
    counts = write(project, query="q1", document="b")
    assert counts["largest_relative_residual"] < 0.05
    assert (counts["models"], counts["query"], counts["document"]) == (2, "q1", "b")
    page = Page(project / "page.html")
    text = "".join(page.texts)
    assert "rank 1 of 3" in text
    assert "rank 2 of 3" in text
    assert "more characters are not read" in text
    words = [attributes for tag, attributes in page.elements if tag == "span" and "style" in attributes]
    assert all(attributes["title"] for attributes in words)
    strongest = [a for a in words if "0.750" in str(a["style"])]
    assert len(strongest) >= 2, "each model's own strongest word is as deep as can be"
    shown = [data for data in page.texts if data == "word03"]
    assert len(shown) == 2, "once in each map"


def test_the_words_of_a_score_are_written_for_the_report(project: Path) -> None:
    write(project, query="q1", document="a")
    written = json.loads((project / "words.json").read_text())
    assert (written["page"], written["query"], written["document"]) == ("page", "q1", "a")
    detail, query, document = written["models"]["ours"]
    assert detail.startswith("Score ")
    assert [word for _, word, _, _ in query][:2] == ["word02", "cab"]
    assert "".join(before + word for before, word, _, _ in document) == "word01 cab word02"
    assert all(style.startswith("background:rgba(") for *_, style in document if style)


def test_of_several_passages_the_page_shows_the_one_that_gives_the_score(project: Path) -> None:
    from irpretrain.models.attribution import attribute
    from irpretrain.models.reranker import load_reranker

    counts = write(project, passages={"words": 1, "stride": 1}, query="q1", document="a")
    words = ["word01", "cab", "word02"]
    displayed = "".join(Page(project / "page.html").texts)
    for key in ("ours", "theirs"):
        network = load_reranker(project / key)
        scores = [attribute(network, f"word02 cab {HOSTILE}", word, 60, 30).score for word in words]
        best = scores.index(max(scores))
        assert f"Score {scores[best]:+z.4f}" in displayed
        assert f"Passage {best + 1} of 3 scores best." in displayed
    assert counts["models"] == 2


def test_hostile_text_stays_text(project: Path) -> None:
    write(project, query="q1", document="b")
    page = Page(project / "page.html")
    page.assert_no_code_of_texts()
    assert "script" not in page.tags
    assert "{{ 7*7 }}" in "".join(page.texts)
    assert "<script>document.title='taken'</script>" in "".join(page.texts)


def test_same_bytes_twice_and_a_case_from_the_runs(project: Path) -> None:
    for name in ("one.html", "two.html"):
        counts = write(project, name)  # a: ranks 3 and 1; b: 1 and 2
        assert (counts["query"], counts["document"]) == ("q1", "a")
    assert (project / "one.html").read_bytes() == (project / "two.html").read_bytes()


def test_a_document_that_is_not_there_is_refused(project: Path) -> None:
    with pytest.raises(InputError, match="1 document not in the corpus, such as z"):
        write(project, query="q1", document="z")
