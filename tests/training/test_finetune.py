"""Fine-tuning: groups, choice on the validation fold, resume, and that test data chooses nothing."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_training import Stop, after_step, break_weights

from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.folds import WHOLE
from irpretrain.evaluation.runs import read_run, write_run
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError, InputError, TrainingError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.text.token_store import TokenStore
from irpretrain.training import finetune as module
from irpretrain.training.checkpoints import CheckpointClock, Checkpoints
from irpretrain.training.finetune import Topics, finetune
from irpretrain.training.judged_queries import (
    JudgedGroups,
    JudgedQuery,
    Progress,
    is_falling,
    judged_queries,
    note_few_groups,
    note_nothing_learned,
    note_still_learning,
)
from irpretrain.training.trainer import Trainer
from judged_collection import write_collection
from plain_groups import StoreSpan, plain

QUERY_COUNT, FOLDS = 15, 5
RERANKING = RerankingConfig(max_length=24, query_length=4, compute={"device": "cpu"})


@pytest.fixture
def collection(tmp_path: Path, tiny_encoder: Path, make_store: Callable[..., Path]) -> dict[str, Any]:
    """15 queries, each for a document that holds its words; 8 candidates each; folds 1 to 5 in turn."""
    draw = np.random.default_rng(5)
    documents, queries, qrels, run = {}, {}, {}, {}
    for number in range(60):
        documents[f"d{number:02d}"] = " ".join(f"word{i:02d}" for i in draw.permutation(80)[:8])
    for number in range(QUERY_COUNT):
        name, target = f"q{number:02d}", f"d{number:02d}"
        words = documents[target].split()
        queries[name] = f"{words[0]} {words[5]}"
        qrels[name] = {target: 1, "d59": 0}
        others = [f"d{i:02d}" for i in draw.permutation(np.arange(20, 60))[:7]]
        run[name] = [(document, 9.0 - i) for i, document in enumerate([*others[:3], target, *others[3:]])]
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "start")
    return {
        "model": tmp_path / "start",
        "stores": [make_store(documents)],
        **write_collection(tmp_path, queries, qrels, run, FOLDS),
        "fold": 1,
        "regime": "full",
        "options": tuning_options(),
        "reranking": RERANKING,
        "measure": "RR@10",
        "seed": 1,
    }


def tuning_options(**changes: Any) -> FinetuningConfig:
    given = {
        "loss": "listwise",
        "negatives": 2,
        "batch_sizes": [4, 8],
        "learning_rates": [1e-3],
        "few_shot_batch_sizes": [2],
        "epochs": 3,
        "max_length": 24,
        "query_length": 4,
        "compute": {"device": "cpu", "checkpoint_minutes": 0},
    }
    return FinetuningConfig(**{**given, **changes})


@pytest.fixture
def run_finetuning(tmp_path: Path, collection: dict[str, Any]) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """Return a function that fine-tunes in a folder of its own; it returns that folder and the counts."""

    def run(name: str, **changes: Any) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path / name
        outputs = {
            "run": folder / "fold.run.gz",
            "metrics": folder / "fold.json",
            "checkpoints": folder / "checkpoints",
        }
        return folder, finetune(**{**collection, **outputs, **changes})

    return run


Finetune = Callable[..., tuple[Path, dict[str, Any]]]


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "fold.json").read_text())


def test_what_is_written(run_finetuning: Finetune) -> None:
    folder, counts = run_finetuning("run", output=None)
    assert counts["training_queries"] == 9
    assert counts["training_groups"] == 9
    assert (counts["validation_queries"], counts["test_queries"]) == (3, 3)
    order = counts["training_order"]
    assert order["queries"] == 9, "every query has one relevant candidate of eight"
    assert order["below_random"] == (order["share"] < 0.5)
    ranked = read_run(folder / "fold.run.gz")
    assert sorted(ranked) == ["q00", "q05", "q10"]
    assert all(len(ranking) == 8 for ranking in ranked.values())
    found = report(folder)
    assert [(p["batch_size"], p["learning_rate"]) for p in found["grid"]] == [(4, 1e-3), (8, 1e-3)]
    scores = [epoch["validation"] for point in found["grid"] for epoch in point["epochs"]]
    assert found["chosen"]["validation"] == max(scores)
    assert counts["epochs_trained"] == len(scores)
    for point in found["grid"]:
        for epoch in point["epochs"]:
            assert len(epoch["loss_by_tenth"]) == epoch["steps"], "so few steps are a part each"
            assert epoch["still_falling"] is False
    steps_of_an_epoch = {4: 3, 8: 2}[found["chosen"]["batch_size"]]
    assert counts["steps"] == steps_of_an_epoch * found["chosen"]["epoch"]
    assert [epoch["steps"] for point in found["grid"] for epoch in point["epochs"][:1]] == [3, 2]
    assert not (folder / "checkpoints").exists() or not list((folder / "checkpoints").iterdir())


def test_resume_within_an_epoch_is_exact(run_finetuning: Finetune, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after every step and in the middle of every ranking, it does each of them once, and writes the same.

    The ranking of training queries comes last and is short: it begins anew.
    """
    reranking = RERANKING.model_copy(update={"batch_tokens": 100})  # several batches a ranking
    done: list[str] = []
    step, score = Trainer.begin, CrossEncoderModel.encode

    def train(self: Any, number: int, *rest: Any) -> Any:
        if len(done) == last:
            raise Stop
        done.append(f"step {number}")
        return step(self, number, *rest)

    def encode(self: Any, batch: Any, *rest: Any) -> Any:
        if not self.training:
            if len(done) == last:
                raise Stop
            done.append(f"score {len(batch.cls_rows)}")
        return score(self, batch, *rest)

    monkeypatch.setattr(Trainer, "begin", train)
    monkeypatch.setattr(CrossEncoderModel, "encode", encode)
    last = -1
    options = tuning_options(epochs=2)
    whole, _ = run_finetuning("whole", reranking=reranking, options=options)
    in_one_go = [*done]
    resumable = 10 + 5 * 4
    assert {name.split()[0] for name in in_one_go[resumable:]} == {"score"}
    done.clear()
    for number in range(1, resumable + 1):
        last = number
        with pytest.raises(Stop):
            run_finetuning("broken", reranking=reranking, options=options)
    last = -1
    resumed, _ = run_finetuning("broken", reranking=reranking, options=options)
    assert done == in_one_go
    for name in ("fold.run.gz", "fold.json"):
        assert sha256(resumed / name) == sha256(whole / name)
    assert not list((resumed / "checkpoints").iterdir())


def test_a_model_that_the_last_step_broke_is_in_no_checkpoint(
    run_finetuning: Finetune, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It chooses nothing, so no ranking sees it; and the checkpoint falls due when the steps are done."""
    end, saved, is_due = Progress.end_epoch, list[int](), [False]

    def ended(self: Progress, validation_score: float | None) -> dict[str, Any]:
        is_due[0] = True
        return end(self, validation_score)

    after_step(monkeypatch, 2, break_weights)
    monkeypatch.setattr(Progress, "end_epoch", ended)
    monkeypatch.setattr(CheckpointClock, "due", lambda self: is_due[0])
    monkeypatch.setattr(Checkpoints, "save", lambda self, step, state: saved.append(step))
    with pytest.raises(TrainingError, match="are not finite numbers, so nothing is written"):
        run_finetuning("broken", options=tuning_options(epochs=1, batch_sizes=[4], learning_rates=[1e-3]))
    assert saved == []


def test_test_queries_choose_nothing(
    run_finetuning: Finetune, collection: dict[str, Any], tmp_path: Path
) -> None:
    """Other judgements of the test fold change neither the choice nor the run."""
    first, _ = run_finetuning("first")
    lines = collection["qrels"].read_text().splitlines()
    changed = [
        line if line.split()[0] not in ("q00", "q05", "q10") else f"{line.split()[0]} 0 d30 1"
        for line in lines
    ]
    (tmp_path / "other.txt").write_text("\n".join(dict.fromkeys(changed)) + "\n")
    second, _ = run_finetuning("second", qrels=tmp_path / "other.txt")
    for name in ("fold.run.gz", "fold.json"):
        assert sha256(first / name) == sha256(second / name)


def test_patience_stops_a_grid_point(run_finetuning: Finetune, monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([0.3, 0.5, 0.5, 0.4, 0.2, 0.6, 0.1, 0.1, 0.7])
    monkeypatch.setattr(module, "mean_of_run", lambda *given: next(values))
    folder, counts = run_finetuning("run", options=tuning_options(epochs=9))
    found = report(folder)
    assert [[e["validation"] for e in p["epochs"]] for p in found["grid"]] == [
        [0.3, 0.5, 0.5, 0.4],
        [0.2, 0.6, 0.1, 0.1],
    ]
    assert found["chosen"] == {"batch_size": 8, "learning_rate": 1e-3, "epoch": 2, "validation": 0.6}
    assert counts["epochs_trained"] == 8


def test_first_of_equal_scores_is_chosen(run_finetuning: Finetune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "mean_of_run", lambda *given: 0.5)
    folder, _ = run_finetuning("run", options=tuning_options())
    assert report(folder)["chosen"] == {"batch_size": 4, "learning_rate": 1e-3, "epoch": 1, "validation": 0.5}


def test_only_candidates_down_to_the_depth_are_ranked(run_finetuning: Finetune) -> None:
    reranking = RERANKING.model_copy(update={"depth": 3})
    folder, _ = run_finetuning("shallow", options=tuning_options(epochs=1), reranking=reranking)
    # The relevant document is the fourth candidate of every query, so nothing can be found.
    assert {len(ranking) for ranking in read_run(folder / "fold.run.gz").values()} == {3}
    assert report(folder)["chosen"]["validation"] == 0.0


def test_another_data_set_is_ranked_whole(
    run_finetuning: Finetune, collection: dict[str, Any], tmp_path: Path
) -> None:
    """Fold 1 validates, folds 2 to 5 train, and the queries of the other data set are ranked, without judgements."""
    QUERIES.write(
        tmp_path / "others.parquet", [{"query_id": name, "text": "word01 word02"} for name in ("x", "y")]
    )
    write_run(tmp_path / "others.run.gz", {"x": [("d01", 2.0), ("d02", 1.0)], "y": [("d59", 1.0)]}, "bm25")
    test = Topics(collection["stores"], tmp_path / "others.parquet", tmp_path / "others.run.gz")
    folder, counts = run_finetuning("whole", fold=WHOLE, test=test)
    assert (counts["training_queries"], counts["validation_queries"], counts["test_queries"]) == (12, 3, 2)
    ranked = read_run(folder / "fold.run.gz")
    assert {query: sorted(name for name, _ in ranking) for query, ranking in ranked.items()} == {
        "x": ["d01", "d02"],
        "y": ["d59"],
    }


@pytest.mark.parametrize(
    ("regime", "fold", "training"), [("full", 1, 12), ("full", WHOLE, 15), ("few-shot-12", 1, 12)]
)
def test_no_fold_validates_where_nothing_is_chosen(
    run_finetuning: Finetune, collection: dict[str, Any], regime: str, fold: int, training: int
) -> None:
    """PHP's recipe: one batch size, one rate, one epoch. All queries but the tested ones train."""
    options = tuning_options(epochs=1, batch_sizes=[4], few_shot_batch_sizes=[4])
    same = Topics(collection["stores"], collection["queries"], collection["candidates"])
    test = same if fold == WHOLE else None
    folder, counts = run_finetuning("all", options=options, regime=regime, fold=fold, test=test)
    assert (counts["training_queries"], counts["validation_queries"]) == (training, 0)
    assert report(folder)["chosen"]["validation"] is None
    assert set(read_run(folder / "fold.run.gz")) == (
        set(read_run(collection["candidates"])) if fold == WHOLE else {"q00", "q05", "q10"}
    )


@pytest.mark.parametrize(
    "more", [{"epochs": 2}, {"batch_sizes": [4, 8]}, {"learning_rates": [1e-3, 1e-4]}], ids=str
)
def test_what_is_chosen_takes_a_validation_fold(more: dict[str, Any]) -> None:
    single = {"epochs": 1, "batch_sizes": [4], "learning_rates": [1e-3]}
    assert not tuning_options(**single).chooses("full")
    assert tuning_options(**{**single, **more}).chooses("full")


@pytest.mark.parametrize(
    ("regime", "groups", "expected"),
    [("full", 8, True), ("full", 31, True), ("full", 32, False), ("few-shot-8", 8, False)],
)
def test_a_fine_tuning_on_few_groups_says_so(
    capsys: pytest.CaptureFixture[str], regime: str, groups: int, expected: bool
) -> None:
    """Case few-topics-fine-tuned; a few-shot regime asks for few."""
    note_few_groups(groups, regime, "fine-tune")
    printed = capsys.readouterr()
    told = f"it learns from {groups} groups (relevant documents of training queries)"
    assert (told in printed.out + printed.err) == expected


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([1.3 - 0.01 * step for step in range(60)], True),
        ([1.3, 1.1] * 30, False),
        ([1.3] * 40 + [0.9] * 20, True),
        ([1.3] * 20 + [0.9] * 40, False),  # it fell early
        ([1.0 + 0.01 * step for step in range(60)], False),  # it rises
        ([1.3 - 0.1 * step for step in range(20)], False),  # too few steps to tell
    ],
)
def test_a_loss_that_still_falls_at_the_end(losses: list[float], expected: bool) -> None:
    assert is_falling(losses) == expected


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([1.387, 1.386, 1.386, 1.385, 1.386, 1.386, 1.38, 1.382, 1.386], True),
        ([1.39, 1.38, 1.20, 0.56, 0.60, 0.53, 0.35, 0.44, 0.29, 0.20], False),
        (
            [1.38, 1.374, 1.366, 1.36, 1.354, 1.35],
            False,
        ),  # measured: its order was better than before, by 0.108 nDCG@10
        ([1.0], False),
    ],
)
def test_a_loss_that_stays_at_that_of_equal_scores_says_so(
    capsys: pytest.CaptureFixture[str], losses: list[float], expected: bool
) -> None:
    """One relevant document and three others: the loss of equal scores is ln 4."""
    assert note_nothing_learned({"loss_by_tenth": losses}, math.log(4), "fine-tune") == expected
    printed = capsys.readouterr()
    assert (
        "ended at 1.384, and equal scores for all documents have 1.386" in printed.out + printed.err
    ) == expected


@pytest.mark.parametrize(
    ("falling", "epoch", "expected"), [(True, 2, True), (True, 1, False), (False, 2, False)]
)
def test_a_fine_tuning_that_ends_while_it_learns_says_so(
    capsys: pytest.CaptureFixture[str], falling: bool, epoch: int, expected: bool
) -> None:
    """An earlier epoch was chosen where a later one validated worse: then training was long enough."""
    chosen = {"epoch": epoch, "still_falling": falling, "loss_by_tenth": [1.3, 1.2, 1.1, 1.0, 0.9, 0.8]}
    assert note_still_learning(chosen, 2, "fine-tune") == expected
    printed = capsys.readouterr()
    assert ("still falling" in printed.out + printed.err) == expected
    assert ("1.200, 1.100, 1.000, 0.900, 0.800" in printed.out + printed.err) == expected


def test_few_shot_takes_so_many_training_queries(run_finetuning: Finetune) -> None:
    folder, counts = run_finetuning("few", regime="few-shot-4")
    assert counts["training_queries"] == 4
    assert [point["batch_size"] for point in report(folder)["grid"]] == [2]
    with pytest.raises(ConfigError, match="only 9 queries"):
        run_finetuning("more", regime="few-shot-10")


def test_nothing_to_train_on_is_an_error(
    run_finetuning: Finetune, collection: dict[str, Any], tmp_path: Path
) -> None:
    text = collection["qrels"].read_text()
    (tmp_path / "none.txt").write_text(text.replace(" 1\n", " 0\n"))
    with pytest.raises(InputError, match="none of the 9 training queries"):
        run_finetuning("none", qrels=tmp_path / "none.txt")


def test_sequences_longer_than_the_encoder_are_refused(run_finetuning: Finetune) -> None:
    with pytest.raises(ConfigError, match=r"finetuning\.max_length: 65 is longer"):
        run_finetuning("long", options=tuning_options(max_length=65))
    with pytest.raises(ConfigError, match=r"reranking\.max_length: 99 is longer"):
        run_finetuning("long", reranking=RerankingConfig(max_length=99, query_length=4))


def test_a_measure_is_checked_before_anything_is_trained(run_finetuning: Finetune, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'RRR@10' is not a measure"):
        run_finetuning("misspelt", measure="RRR@10")
    assert not (tmp_path / "misspelt").exists()


def test_which_queries_train_and_on_what(make_store: Callable[..., Path]) -> None:
    store = TokenStore.open([make_store({f"d{i}": "a" for i in range(6)})])
    qrels = {
        "q1": {"d0": 1, "lost": 1, "d5": 2, "d1": 0, "d2": -1},  # d5 is no candidate, lost not in the corpus
        "q2": {"lost": 1},
        "q3": {"d1": 0},
        "q4": {"d2": 1},
    }
    run = {
        "q1": [("d0", 3.0), ("d1", 2.0), ("d2", 1.5), ("d3", 1.0)],
        "q2": [("d0", 1.0)],
        "q3": [("d0", 1.0)],
        "q4": [("d2", 1.0)],
    }
    texts = {query: query.upper() for query in ("q1", "q2", "q3", "q4", "q5")}
    found, skipped = judged_queries(["q1", "q2", "q3", "q4", "q5"], texts, qrels, run, store, "all")
    (query,) = found
    assert (query.identifier, query.text) == ("q1", "Q1")
    assert (query.relevant.tolist(), query.negatives.tolist()) == ([0, 5], [1, 2, 3])
    assert skipped == {"without_relevant_document": 3, "without_other_candidate": 1}
    assert judged_queries([], texts, qrels, run, store, "all") == ([], {})


def test_positives_come_from_the_candidates_where_there_are_any(make_store: Callable[..., Path]) -> None:
    """q1 has relevant documents inside and outside its candidates, q2 outside alone, q3 inside and outside."""
    store = TokenStore.open([make_store({f"d{i}": "a" for i in range(8)})])
    qrels = {"q1": {"d7": 1, "d2": 2, "d0": 1}, "q2": {"d7": 1, "d6": 1, "gone": 1}, "q3": {"d3": 1, "d7": 1}}
    run = {query: [(f"d{i}", 9.0 - i) for i in range(4)] for query in qrels}
    texts = dict.fromkeys(qrels, "")
    expected = {"candidates": [[2, 0], [7, 6], [3]], "all": [[7, 2, 0], [7, 6], [3, 7]]}
    for positives, rows in expected.items():
        found, skipped = judged_queries([*qrels], texts, qrels, run, store, positives)
        assert [query.relevant.tolist() for query in found] == rows
        assert [query.negatives.tolist() for query in found] == [[1, 3], [0, 1, 2, 3], [0, 1, 2]]
        assert skipped == {}


def many(relevant: list[int], others: list[int], name: str = "q") -> JudgedQuery:
    return JudgedQuery(name, name.upper(), np.array(relevant), np.array(others))


def test_every_epoch_holds_every_relevant_document_once() -> None:
    queries = [many([0, 1], [5, 6, 7, 8], "q1"), many([2], [9, 10, 11], "q2")]
    source = JudgedGroups(queries, 2, 2, seed=1)
    assert source.steps_per_epoch == 2
    for epoch in range(20):
        groups = plain(source.groups(2 * epoch)) + plain(source.groups(2 * epoch + 1))
        assert groups == plain(source.epoch(epoch))
        assert sorted(group.documents[0].row for group in groups) == [0, 1, 2]
        for group in groups:
            first, *negatives = (span.row for span in group.documents)
            assert group.queries == (("Q2",) if first == 2 else ("Q1",))
            assert len(set(negatives)) == 2
            assert set(negatives) <= ({9, 10, 11} if first == 2 else {5, 6, 7, 8})
    assert [len(source.groups(step)) for step in range(4)] == [2, 1, 2, 1]


def test_scarce_negatives_are_drawn_with_replacement() -> None:
    source = JudgedGroups([many([0], [5, 6])], 7, 1, seed=1)
    (group,) = plain(source.groups(0))
    assert len(group.documents) == 8
    assert {span.row for span in group.documents[1:]} == {5, 6}


def test_negatives_depend_on_seed_query_and_epoch_alone() -> None:
    one, two = many([0], list(range(10, 40)), "q1"), many([1], list(range(10, 40)), "q2")

    def drawn(queries: list[JudgedQuery], epoch: int, seed: int = 1) -> dict[int, Sequence[StoreSpan]]:
        groups = plain(JudgedGroups(queries, 4, 2, seed).epoch(epoch))
        return {group.documents[0].row: group.documents[1:] for group in groups}

    assert drawn([one, two], 3)[0] == drawn([one], 3)[0]
    assert drawn([one], 3) != drawn([one], 4)
    assert drawn([one], 3) != drawn([one], 3, seed=2)
    assert drawn([one, two], 3)[0] != drawn([one, two], 3)[1]


def test_the_order_of_an_epoch_depends_on_seed_and_epoch_alone() -> None:
    def order(epoch: int, seed: int = 1, negatives: int = 2) -> list[int]:
        source = JudgedGroups([many(list(range(20)), [30, 31, 32])], negatives, 4, seed)
        return [group.documents[0].row for group in plain(source.epoch(epoch))]

    assert order(3) == order(3, negatives=1)
    orders = [order(0), order(1), order(2), order(0, seed=2), list(range(20))]
    assert len(set(map(tuple, orders))) == len(orders)
