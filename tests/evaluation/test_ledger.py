"""The ledger of comparisons: facts of runs, and what no comparison may differ in."""

import os
from pathlib import Path

import pytest

from irpretrain.config import Config, load_config
from irpretrain.config.run import Run
from irpretrain.evaluation.ledger import COLUMNS, RunFacts, counted_facts, differences, differences_text
from like_with_like import unlike

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def default() -> Config:
    return load_config(ROOT / "config.yaml")


def facts(config: Config, model: str, regime: str = "zero-shot", candidates: str = "bm25") -> RunFacts:
    return Run(config, "squad", candidates, model, regime).facts


def test_the_configuration_says_what_a_model_reads(default: Config) -> None:
    prop, wikiformer = facts(default, "prop"), facts(default, "wikiformer")
    assert (
        prop.cells()[COLUMNS.index("texts")]
        == "embedded:enwiki-excerpt;embedded:squad-train articles 0 to 200"
    )
    assert (prop.groups, prop.steps, prop.depth) == ((("rop", 3200),), 200, 10)
    assert {groups for _, groups in wikiformer.groups} == {800}
    assert facts(default, "php").texts == prop.texts, "the stages that a model starts from count too"
    assert facts(default, "php").steps is None, "epochs are counted when the job has run"
    assert (facts(default, "control").texts, facts(default, "control").steps) == ((), None)


def test_first_stages_are_scored_on_as_many_documents_as_are_re_ranked(default: Config) -> None:
    assert facts(default, "bm25", "first-stage").depth == facts(default, "prop").depth
    assert facts(default, "prop", candidates="bm25@5").depth == 5


def test_fine_tuned_runs_name_their_queries_and_recipe(default: Config) -> None:
    fine_tuned = [facts(default, model, "full") for model in ("prop", "control")]
    assert {row.training_queries for row in fine_tuned} == {"squad-finetuning, bm25"}
    assert differences(fine_tuned, ["training_queries", "recipe"]) == {}
    assert facts(default, "prop").training_queries == ""


def test_a_row_that_reads_withheld_articles_is_unlike_the_others(default: Config) -> None:
    corpora = {
        **default.corpora,
        "squad-articles": default.corpora["squad-train"].model_copy(update={"options": {}}),
    }
    changed = default.model_copy(update={"corpora": corpora})
    assert unlike([facts(default, "prop"), facts(default, "php")]) == {}
    (file,) = unlike([facts(changed, "prop"), facts(changed, "php")])
    assert file == "embedded:squad-train"


def test_a_row_that_reads_the_tested_corpus_is_unlike_the_others(default: Config) -> None:
    collections = {**default.collections, "articles": ["enwiki-articles", "squad-dev"]}
    changed = default.model_copy(update={"collections": collections})
    rows = [facts(changed, model) for model in ("control", "prop", "wikiformer")]
    by_text = unlike(rows)["tested_texts"]
    assert {text: [row.model for row in same] for text, same in by_text.items()} == {
        "none": ["prop"],
        "embedded:squad-dev": ["wikiformer"],
    }
    assert "; pre-training on the tested corpus: Wikiformer; " in differences_text(changed, [rows])


def test_rows_of_other_depth_are_unlike_where_a_measure_sees_it(default: Config) -> None:
    row, deeper = RunFacts("d", "bm25", "a", "full", seen=10), RunFacts("d", "bm25", "b", "full", seen=20)
    assert list(unlike([row, deeper])) == ["seen"]
    assert facts(default, "bm25", "first-stage").seen == 10


def test_counts_of_all_stages_are_added() -> None:
    first = {"steps": 40, "groups": {"hp": 320}, "tokens": 5, "documents": 2, "text_pieces": 9}
    second = {"steps": 10, "groups": {"shp": 80}, "tokens": 7, "documents": 2, "text_pieces": 9}
    first["groups_available"], second["groups_available"] = {"hp": 939}, {"shp": 52}
    counted = counted_facts([{"steps": 0}, first, second], ["", "articles", "articles"])
    assert (counted["steps"], counted["word_pieces"]) == (50, 12)
    assert RunFacts("d", "c", "php", "full", **counted).cells()[COLUMNS.index("groups") :][:5] == [
        "hp 320;shp 80",
        "372",
        "12",
        "50",
        "40 + 10 steps",
    ]
    assert counted_facts([{}], [""]) == {}
    assert (counted["documents"], counted["text_pieces"]) == (2, 9), "both stages read the same articles"
    others = counted_facts([first, second], ["articles", "passages"])
    assert (others["documents"], others["text_pieces"]) == (4, 18)
    unknown = counted_facts([first, {"steps": 10}], ["articles", "passages"])
    assert (unknown["groups"], unknown["word_pieces"], unknown["documents"]) == ((), None, None)


def test_a_group_that_is_read_again_is_no_distinct_group() -> None:
    """Eight of two groups: each is read four times. Two tasks of one objective read the same groups."""
    sizes = {"steps": 1, "tokens": 5, "documents": 2, "text_pieces": 9}
    repeating = sizes | {"groups": {"mrds": 8, "hp#1": 8}, "groups_available": {"mrds": 2, "hp#1": 90}}
    assert counted_facts([repeating], ["articles"])["distinct_groups"] == 10
    twice = sizes | {"groups": {"hp": 8, "hp#1": 8}, "groups_available": {"hp": 10, "hp#1": 10}}
    assert counted_facts([twice], ["articles"])["distinct_groups"] == 10
    assert counted_facts([repeating, twice], ["articles", "articles"])["distinct_groups"] == 2 + 24
    assert counted_facts([repeating, twice], ["articles", "passages"])["distinct_groups"] == 2 + 8 + 10
    assert counted_facts([sizes], ["articles"])["distinct_groups"] is None


def read_in_pretraining(default: Config, tested: str, **mine: dict[str, object]) -> list[RunFacts]:
    """The facts of a model for each corpus that replaces its collection, where the file `tested` is tested."""
    like = default.corpora["squad-train"].model_copy(update={"format": "jsonl", "options": {}})
    dataset = default.datasets["squad"].model_copy(update={"corpus": "tested"})
    rows = []
    for changes in mine.values():
        corpora = {
            "mine": like.model_copy(update=changes),
            "tested": like.model_copy(update={"path": tested}),
        }
        replaced = {
            "corpora": default.corpora | corpora,
            "collections": default.collections | {"pretraining": ["mine"]},
            "datasets": default.datasets | {"squad": dataset},
        }
        rows.append(facts(default.model_copy(update=replaced), "prop"))
    return rows


def test_a_copy_of_a_corpus_is_the_same_text(default: Config, tmp_path: Path) -> None:
    paths = {name: {"path": f"{tmp_path}/{name}.jsonl"} for name in "abcd"}
    for name, text in {"a": "x", "b": "x", "c": "y", "d": "long"}.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
        os.utime(tmp_path / f"{name}.jsonl", (0, 0))
    a, b, c, d = read_in_pretraining(default, f"{tmp_path}/a.jsonl", **paths)
    assert differences([a, b], ["texts", "tested_texts"]) == {}
    assert b.tested_texts
    assert not c.tested_texts
    assert len(differences([a, c, d], ["texts"])["texts"]) == 3


def test_texts_are_compared_by_their_files_and_options(
    default: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    whole, spelled, linked, absolute, first, second, titles = read_in_pretraining(
        default,
        f"{tmp_path}/a.jsonl",
        whole={"path": "."},
        spelled={"path": "./link/."},
        linked={"path": "link"},
        absolute={"path": str(tmp_path)},
        first={"path": ".", "files": ["a*"]},
        second={"path": ".", "files": ["b*"]},
        titles={"path": ".", "options": {"body_fields": ["title"]}},
    )
    assert differences([whole, spelled, linked, absolute], ["texts", "tested_texts"]) == {}
    assert list(differences([first, second], ["texts"])["texts"]) == [". a*", ". b*"]
    assert {f"{tmp_path}/a.jsonl", f"{tmp_path}/b.jsonl"} < unlike([whole, titles]).keys()
    assert [bool(row.tested_texts) for row in (whole, spelled, linked, first, second)] == [True] * 4 + [False]
    assert list(unlike([first, second])) == ["tested_texts"]
