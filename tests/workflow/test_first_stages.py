"""From questions to weights of words, to a Lucene index of them, to a run: DeepCT's first stages, on tiny input."""

import gzip
import json
from pathlib import Path

import pytest
from tiny import copy_run, run_workflow

pytestmark = pytest.mark.workflow

STAGES = ("bm25", "deepct-bm25", "deepct-root-ql", "frequencies-bm25", "oracle-bm25", "bow-deepct")


@pytest.fixture(scope="module")
def searched(finished: tuple[Path, object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of every first stage on the unseen queries, and of one that weighs the queries."""
    folder = copy_run(finished[0], tmp_path_factory.mktemp("stages"))
    views = ("term_weight_pages", "results/weight_distributions/tiny.json")
    run_workflow(folder, *(str(run_of(Path("results"), stage)) for stage in STAGES), *views)
    return folder / "results"


def run_of(results: Path, stage: str) -> Path:
    return results / f"runs/tiny-unseen/{stage}/first-stage.run.gz"


def ranking(results: Path, stage: str) -> list[tuple[str, str, str, str]]:
    """Query, document, rank and score of each line of a run."""
    lines = gzip.decompress(run_of(results, stage).read_bytes()).decode().splitlines()
    return [(line[0], line[2], line[3], line[4]) for line in map(str.split, lines)]


def test_frequencies_as_weights_give_the_run_of_bm25(searched):
    assert ranking(searched, "frequencies-bm25") == ranking(searched, "bm25")


def test_predicted_weights_are_what_a_first_stage_searches(searched):
    index = json.loads((searched / "weighted_indexes/deepct/tiny.meta.json").read_text())
    assert {Path(name).name for name in index["inputs"]} == {"tiny-0.parquet"}
    assert {query for query, *_ in ranking(searched, "deepct-bm25")} == {f"u{n:02d}" for n in range(4)}
    assert ranking(searched, "deepct-bm25") != ranking(searched, "bm25")


def test_a_weighting_of_the_same_weights_trains_no_model(searched):
    assert ranking(searched, "deepct-root-ql")
    assert not (searched / "term_weights/deepct-root").exists()


def test_the_oracle_finds_what_is_requested_of_a_topic_first(searched):
    """u00 asks for "river", which both queries of topic 0 hold, and for a common word that one of them holds."""
    found = [document for query, document, *_ in ranking(searched, "oracle-bm25") if query == "u00"]
    assert sorted(found[:6]) == [f"d{n:02d}" for n in range(0, 72, 12)]


def test_parameters_are_chosen_on_other_queries(searched):
    tuning = json.loads((searched / "tuning/deepct-bm25.json").read_text())
    assert tuning["parameters"]["k1"] in (0.9, 10)
    assert tuning["parameters"]["b"] in (0.4, 0.9)
    counts = json.loads((searched / "tuning/deepct-bm25.json.meta.json").read_text())["counts"]
    assert counts == {"queries": 36, "points": 4}


def test_queries_are_weighted_too(searched):
    assert (searched / "term_weights/deepct-query/queries/tiny-unseen.parquet").is_file()
    assert ranking(searched, "bow-deepct")


def test_weights_are_displayed_of_passages_and_of_the_collection(searched):
    page = json.loads((searched / "term_weight_pages/cases.html.meta.json").read_text())["counts"]
    assert (page["query"], page["weightings"]) == ("u00", 2)
    shares = json.loads((searched / "weight_distributions/tiny.json").read_text())["weightings"]
    assert [row["weighting"] for row in shares] == ["tf", "deepct", "deepct-root", "oracle"]
    assert shares[0]["passages_without_terms"] == 0
