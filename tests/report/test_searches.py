"""What is collected of an experiment's searches, and what a page shows of them."""

import json
from pathlib import Path

import pytest
from page_reader import HOSTILE, data_set_files, write_data_set
from small_run import flat_rows, write_results

from irpretrain.config import Config
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.errors import InputError
from irpretrain.report.pages import script_json
from irpretrain.report.scores import Scores
from irpretrain.report.search_views import read_searches, search_views
from irpretrain.report.searches import MAX_CHARACTERS, Marker, choose_queries, collect_searches
from irpretrain.report.tables import build_headline

TEXT = TextConfig(words="alphanumeric")


def write_run_of(folder: Path, name: str, ranked: dict[str, str]) -> str:
    """A run from query → its documents, best first."""
    path = folder / f"{name}.run.gz"
    scores = {
        query: [(document, 9.0 - place) for place, document in enumerate(names.split())]
        for query, names in ranked.items()
    }
    write_run(path, scores, name)
    return str(path)


def described(path: str, model: str, regime: str, seed: int = 1, candidates: str = "bm25") -> dict:
    depth = {"depth": 10, "ranked": None} if regime == "first-stage" else {}
    return {
        "dataset": "squad", "candidates": candidates, "model": model, "regime": regime, "seed": seed,
        "paths": [path], **depth,
    }  # fmt: skip


@pytest.fixture
def experiment(tmp_path: Path) -> tuple[Path, list[dict]]:
    """Two judged queries, five documents, BM25 and a model with two seeds and a snapshot."""
    bodies = ["rivers of gold", "a river", "gold " * 400, HOSTILE, "the of and"]
    rows = [
        {"document_id": f"d{n}", "part": 0, "position": n, "title": "", "url": "", "body": body}
        for n, body in enumerate(bodies)
    ]
    topics = {"q1": "the river", "q2": "gold?", "not judged": "gold"}
    write_data_set(tmp_path, rows, topics, "q1 0 d1 2\nq1 0 d4 0\nq2 0 d2 1\nlost 0 d2 1\n")
    stage = write_run_of(tmp_path, "bm25", {"q1": "d0 d1 d3 d4", "q2": "d2 d0"})
    model = write_run_of(tmp_path, "prop", {"q1": "d4 d3 d1 d0", "q2": "d0 d2"})
    other = write_run_of(tmp_path, "other", {"q1": "d0", "q2": "d0"})
    runs = [
        described(other, "prop", "zero-shot", 2),
        described(model, "prop", "zero-shot", 1),
        described(other, "prop@50", "zero-shot", 1),
        described(stage, "bm25", "first-stage", 0),
    ]
    return tmp_path, runs


def collect(experiment: tuple[Path, list[dict]], name: str = "found") -> tuple[dict, dict]:
    folder, runs = experiment
    documents, queries, qrels = data_set_files(folder)
    output = folder / f"{name}.json"
    counts = collect_searches(runs, queries, qrels, documents, TEXT, output)
    return counts, json.loads(output.read_text(encoding="utf-8"))


def test_rankings_have_first_documents_scores_and_places_among_candidates(experiment) -> None:
    counts, found = collect(experiment)
    assert counts == {"judged": 3, "queries": 2, "runs": 2, "documents": 5}
    place = [query for query, _, _ in found["queries"]].index("q1")
    stage, model = found["runs"]
    assert stage["model"] == "bm25"
    assert stage["rankings"][place] == [["d0", 9.0, 0], ["d1", 8.0, 0], ["d3", 7.0, 0]]
    assert (model["model"], model["seed"]) == ("prop", 1), "the first seed, and no snapshot"
    assert model["rankings"][place] == [["d4", 9.0, 4], ["d3", 8.0, 3], ["d1", 7.0, 2]]
    assert found["queries"][place] == ["q1", "the river", 1]
    assert found["grades"][place] == {"d1": 2, "d4": 0}
    assert found["marks"][place]["d1"] == [2, 7]
    assert found["marks"][place]["d0"] == [0, 6], "rivers has the stem of river"
    assert found["documents"]["d2"] == [("gold " * 400)[:MAX_CHARACTERS], len("gold " * 400) - 1]


def test_equal_inputs_give_equal_bytes(experiment) -> None:
    folder, runs = experiment
    collect(experiment, "first")
    collect((folder, runs[::-1]), "second")
    assert (folder / "first.json").read_bytes() == (folder / "second.json").read_bytes()


def test_a_damaged_run_and_a_lost_document_are_named(experiment) -> None:
    folder, _runs = experiment
    (folder / "prop.run.gz").write_text("q1 Q0 d1 1 x y\n")
    with pytest.raises(InputError, match=r"prop\.run\.gz: this is not a run of this workflow"):
        collect(experiment)
    write_run_of(folder, "prop", {"q1": "lost"})
    with pytest.raises(InputError, match="not in the corpus, such as lost"):
        collect(experiment)


def test_the_sample_does_not_depend_on_order_or_on_other_queries() -> None:
    names = [f"q{n}" for n in range(400)]
    chosen = choose_queries(names, 50)
    assert chosen == choose_queries(reversed(names), 50)
    assert choose_queries(names[:200], 400) == [q for q in choose_queries(names, 400) if int(q[1:]) < 200]
    assert chosen[:2] == ["q60", "q217"], "the first two SHA-256 of q0 to q399"


@pytest.mark.parametrize(
    ("language", "query", "text", "marked"),
    [
        ("english", "the running of a race", "He runs the race of 2020.", ["runs", "race"]),
        ("english", "naïve 𝒳 café", "😀 a \uffff Café, naïve", ["Café", "naïve"]),
        ("german", "die Häuser", "Ein Haus und die Häuser.", ["Haus", "Häuser"]),
        ("chinese", "北京大学", "我在北京大学。", ["北京", "大学"]),  # and 京大, of which nothing is left
        ("english", "the of", "the of", []),
        ("english", "?", "anything", []),
    ],
)
def test_words_of_the_query_are_marked(language: str, query: str, text: str, marked: list[str]) -> None:
    bounds = Marker(TextConfig(words="alphanumeric", language=language))(query, text)
    units = text.encode("utf-16-le")
    found = [
        units[2 * start : 2 * end].decode("utf-16-le") for start, end in zip(*[iter(bounds)] * 2, strict=True)
    ]
    assert bounds == sorted(bounds)
    assert "".join(found) == "".join(marked)


# On the page


# Where the last two words of the text of document "shared" stand.
APPLE_PIE = (len(HOSTILE) + 301, len(HOSTILE) + 306, len(HOSTILE) + 307, len(HOSTILE) + 310)


def small_searches(folder: Path, queries: int = 20, dataset: str = "squad") -> Path:
    """The searches of an experiment whose runs are those of `flat_rows`: every text is hostile."""
    names = choose_queries(f"q{n:02}" for n in range(queries))
    runs = [("bm25", "bm25", "first-stage"), ("bm25", "prop", "zero-shot"), ("bm25", "prop", "full")]
    content = {
        "judged": queries,
        "queries": [[name, f"{HOSTILE} {name}", 1] for name in names],
        "runs": [
            {
                "candidates": candidates, "model": model, "regime": regime, "seed": 1,
                "rankings": [[[f"d{name}", 1.5, 2], ["shared", 1.25, 1]] for name in names],
            }
            for candidates, model, regime in runs
        ],
        "documents": {f"d{name}": [f"{HOSTILE} of {name}", 4000] for name in [*names]}
        | {"shared": [f"{HOSTILE} {'word ' * 60}apple pie", 9]},
        "grades": [{f"d{name}": 1} for name in names],
        "marks": [{f"d{name}": [0, 8], "shared": [0, 8, *APPLE_PIE]} for name in names],
    }  # fmt: skip
    path = folder / "zero-shot.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def small_attributions(folder: Path) -> Path:
    """What a score of these runs comes from, by words of hostile texts."""
    words = [["", HOSTILE, "+0.5", "background:red"], [" ", "rest", "", ""]]
    described = ["Score +0.5", words, words]
    content = {"page": "words", "query": "q07", "document": "shared", "models": {"prop": described}}
    path = folder / "words.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def views_of(config: Config, tmp_path: Path):
    """A function from a limit of bytes to what the page shows of the small searches."""
    levels = {"control": 0.20352, "prop": 0.4}
    _, per_query = write_results(tmp_path, flat_rows("squad", levels, ("zero-shot", "full")))
    scores = Scores.read(per_query)
    attributions = small_attributions(tmp_path)
    found = read_searches(
        {"zero-shot": "squad"}, [small_searches(tmp_path)], [("squad", attributions), ("other", attributions)]
    )
    headline = build_headline(config, scores)

    def make(*limit: int) -> dict:
        return search_views(headline, scores, found, *limit)

    return make


def test_a_set_has_its_rows_their_values_and_outcomes(views_of) -> None:
    views = views_of()
    [of_squad] = views["sets"]
    assert (of_squad["key"], of_squad["measure"], of_squad["judged"]) == ("squad", "RR@10", 20)
    keys = [row["key"] for row in of_squad["rows"]]
    assert keys == ["prop", "prop:full", "control", "control:full", "bm25", "ql"]
    prop, bm25 = of_squad["rows"][0], of_squad["rows"][4]
    assert prop["baselines"]["bm25"] == [4, "+0.100 [0.099, 0.101]"]
    assert prop["baselines"]["control"][0] == 2
    assert f"{of_squad['rows'][2]['mean']:.3f}" == "0.204", "not that of 0.2035"
    assert [row for row in of_squad["outcomes"] if row[:2] == (0, 4)] == [(0, 4, 20, 0, 0)]
    assert prop["values"][0] == pytest.approx(
        0.4 + 0.012 * (1 if int(of_squad["queries"][0]["id"][1:]) % 2 else -1)
    )
    place, score, candidate = bm25["rankings"][0][0]
    assert (views["documents"][place][0], score, candidate) == (f"d{of_squad['queries'][0]['id']}", 1.5, 2)
    assert of_squad["queries"][0]["grades"] == {place: 1}
    assert [row["rankings"][0] for row in of_squad["rows"] if row["key"] == "ql"] == [[]], "not collected"


def test_a_score_shows_the_words_that_it_comes_from(views_of) -> None:
    """Attributions are of zero-shot scores, so of PROP's two rows one has them."""
    views = views_of()
    [of_squad] = views["sets"]
    [number] = [n for n, query in enumerate(of_squad["queries"]) if query["id"] == "q07"]
    assert [row["key"] for row in of_squad["rows"] if row["attributions"]] == ["prop"]
    [shown] = of_squad["rows"][0]["attributions"].items()
    assert shown[0] == number
    assert shown[1][:2] == ["shared", "Score +0.5"]
    [(label, query, link)] = views["attributed"]
    assert (query, link) == ("q07", "#squad/q07/prop")
    assert label == of_squad["rows"][0]["label"]


def test_a_limit_of_bytes_keeps_the_first_queries(views_of) -> None:
    cut = views_of(6000)
    assert len(script_json(cut).encode()) <= 6000
    [few], [all_queries] = cut["sets"], views_of()["sets"]
    count = len(few["queries"])
    assert 0 < count < len(all_queries["queries"]) == 20
    assert [q["id"] for q in few["queries"]] == [q["id"] for q in all_queries["queries"]][:count]
    assert {len(row["values"]) for row in few["rows"]} == {count}
    assert few["outcomes"] == all_queries["outcomes"], "counted over all queries"
    while len(cut["sets"][0]["queries"]) > 1:
        limit = len(script_json(cut).encode()) - 1
        cut = views_of(limit)
        assert len(script_json(cut).encode()) <= limit
    assert len(views_of(1)["sets"][0]["queries"]) == 1, "one is shown whatever its size"


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "zero-shot.json"
    path.write_text('{"queries": [1]}')
    with pytest.raises(InputError, match="these are no searches of an experiment"):
        read_searches({"zero-shot": "squad"}, [path])
