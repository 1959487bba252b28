"""Fine-tuning for tasks beside retrieval: it learns, resumes bit for bit, and what is tested never chooses."""

from __future__ import annotations

import json

import pytest
import torch
from small_tasks import QUESTIONS, answering, labelling, marked_questions, sentences, write_questions

from irpretrain.contracts import PER_QUERY
from irpretrain.downstream import finetune as module
from irpretrain.downstream.evaluate import evaluate_downstream
from irpretrain.downstream.examples import prepare_task
from irpretrain.downstream.finetune import finetune_downstream
from irpretrain.downstream.order import EpochOrder
from irpretrain.downstream.question_answering import QuestionAnswering
from irpretrain.errors import InputError
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.provenance import sha256
from irpretrain.training.kept_batches import KeptBatches
from irpretrain.training.steps import Setting


@pytest.fixture
def pretrained(tiny_encoder, tmp_path):
    CrossEncoder.from_encoder(tiny_encoder, seed=3).save(tmp_path / "pretrained")
    return tmp_path / "pretrained"


@pytest.fixture
def questions(tmp_path):
    return write_questions(tmp_path, marked_questions(40), marked_questions(20, first=40))


@pytest.fixture
def finetune(tmp_path, pretrained, questions):
    """Return a function that fine-tunes in a folder of its own and returns that folder."""

    def run(name, options=None, task=QUESTIONS, examples=questions, **changes):
        folder = tmp_path / name
        given = {
            "model": pretrained,
            "examples": examples,
            "task": task,
            "options": options or answering(),
            "seed": 1,
            "predictions": folder / "predictions.json",
            "metrics": folder / "metrics.json",
            "checkpoints": folder / "checkpoints",
            "output": folder / "model",
        }
        finetune_downstream(**{**given, **changes})
        return folder

    return run


def report(folder):
    return json.loads((folder / "metrics.json").read_text())


def test_it_learns_where_the_answer_stands(finetune, pretrained, questions):
    options = answering(epochs=5)
    work = QuestionAnswering(pretrained, questions, options, seed=1)
    fresh = work.predict(
        work.model(), "test", Setting(torch.device("cpu"), options.compute, 1), KeptBatches()
    )
    assert work.measures(fresh, "test")["EM"] <= 0.2
    assert report(finetune("run", options))["tested"]["test"]["EM"] >= 0.8


def test_equal_runs_write_equal_files(finetune):
    """Also where batches are read ahead."""
    options = answering(dropout=0.1)
    ahead = options.model_copy(update={"compute": options.compute.model_copy(update={"prefetch": "on"})})
    one, other = finetune("one", options), finetune("other", ahead)
    for name in ("predictions.json", "metrics.json", "model"):
        assert sha256(one / name) == sha256(other / name)
    assert sha256(finetune("third", options, seed=2) / "model") != sha256(one / "model")


class Stop(Exception):
    """In place of a kill."""


@pytest.mark.parametrize("at", [1, 5, 8])
def test_a_broken_off_run_ends_as_one_that_was_not(at, finetune, monkeypatch):
    options = answering(dropout=0.1, learning_rates=[5e-3, 2e-3])
    whole = finetune("whole", options)
    step, calls = module.Trainer.step, []

    def broken(self, *given):
        calls.append(1)
        if len(calls) == at:
            raise Stop
        return step(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(module.Trainer, "step", broken)
        with pytest.raises(Stop):
            finetune("again", options)
    assert list((whole.parent / "again/checkpoints").iterdir())
    again = finetune("again", options)
    for name in ("predictions.json", "metrics.json", "model"):
        assert sha256(again / name) == sha256(whole / name)
    assert not [path for path in (again / "checkpoints").iterdir() if path.is_dir()]


@pytest.mark.parametrize("at", [1, 5, 9, 11])
def test_a_broken_off_prediction_goes_on_where_it_was(at, finetune, monkeypatch):
    options = answering(dropout=0.1, prediction_batch=3)
    batches = []
    results = KeptBatches.results

    def counted(self, items, compute, *rest):
        def counting(some):
            if len(batches) == fails_at:
                raise Stop
            batches.append(len(some))
            return compute(some)

        return results(self, items, counting, *rest)

    monkeypatch.setattr(KeptBatches, "results", counted)
    fails_at = None
    whole = finetune("whole", options)
    in_one_go = [*batches]
    assert at < len(in_one_go)
    batches.clear()
    fails_at = at
    with pytest.raises(Stop):
        finetune("again", options)
    fails_at = None
    again = finetune("again", options)
    assert batches == in_one_go
    for name in ("predictions.json", "metrics.json", "model"):
        assert sha256(again / name) == sha256(whole / name)


def test_accumulation_changes_rounding_only(finetune):
    one, other = (report(finetune(f"parts-{n}", answering(accumulation=n, epochs=1))) for n in (1, 3))
    assert one["tried"][0]["epochs"][0]["measures"] == pytest.approx(
        other["tried"][0]["epochs"][0]["measures"], abs=0.15
    )


def test_the_best_epoch_of_all_rates_is_taken(finetune):
    found = report(finetune("run", answering(learning_rates=[1e-6, 5e-3], epochs=3)))
    records = [
        (record["chosen_by"], tried["learning_rate"], record["epoch"])
        for tried in found["tried"]
        for record in tried["epochs"]
    ]
    best = max(value for value, _, _ in records)
    first = next((rate, epoch) for value, rate, epoch in records if value == best)
    assert (found["chosen"]["learning_rate"], found["chosen"]["epoch"]) == first


def test_the_kept_model_gives_the_predictions(finetune):
    from transformers import AutoModelForQuestionAnswering

    folder = finetune("run")
    kept = AutoModelForQuestionAnswering.from_pretrained(folder / "model")
    assert kept.config.architectures == ["BertForQuestionAnswering"]
    predictions = json.loads((folder / "predictions.json").read_text())
    assert len(predictions) == 10
    assert all(isinstance(answer, str) and answer for answer in predictions.values())


def test_nothing_to_train_on(finetune, questions, tmp_path):
    with pytest.raises(InputError, match="no training example can be used"):
        finetune("run", answering(without_answer="drop"), examples=_without_answers(questions, tmp_path))


def _without_answers(examples, tmp_path):
    from irpretrain.contracts import SPAN_QUESTIONS

    rows = SPAN_QUESTIONS.read(examples).to_pylist()
    SPAN_QUESTIONS.write(tmp_path / "none.parquet", [{**row, "starts": [], "ends": []} for row in rows])
    return tmp_path / "none.parquet"


def test_an_epoch_sees_every_sequence_once():
    order = EpochOrder(7, 3, seed=1)
    assert order.steps_per_epoch == 3
    epochs = [[place for n in range(3) for place in order.places(3 * epoch + n)] for epoch in (0, 1, 0)]
    assert all(sorted(found) == list(range(7)) for found in epochs)
    assert epochs[0] == epochs[2] != epochs[1]


# GLUE


def labelled(task: str, folder, count: int = 48):
    """CoLA: acceptable with word01. STS-B: 5 where both sentences are the same."""
    lines = []
    for number in range(count):
        other = f"word{number % 50 + 20}"
        if task == "cola":
            lines.append(f"x\t{number % 2}\t\t{other} {'word01' if number % 2 else 'word02'}\n")
        else:
            same = number % 2
            lines.append(f"{number}\tm\t{other}\t{other if same else 'word10'}\t{5.0 if same else 0.5}\n")
    head = "" if task == "cola" else "index\tgenre\tsentence1\tsentence2\tscore\n"
    for name, part in (("train.tsv", lines), ("dev.tsv", lines[: count // 2])):
        (folder / name).write_text(head + "".join(part))
    section = sentences(task, held_out=0.25)
    sources = {"train": [folder / "train.tsv"], "development": [folder / "dev.tsv"]}
    prepare_task(task, section, sources, 1, folder / "labelled.parquet")
    return section, folder / "labelled.parquet"


@pytest.mark.parametrize(("task", "measure"), [("cola", "Matthews"), ("sts-b", "Pearson")])
def test_sentences_are_learned(task, measure, finetune, tmp_path):
    section, examples = labelled(task, tmp_path)
    folder = finetune("run", labelling(epochs=10), section, examples)
    assert report(folder)["tested"]["test"][measure] > 0.8
    predictions = json.loads((folder / "predictions.json").read_text())
    assert list(predictions)[:2] == ["development-1", "development-2"] if task == "cola" else True
    assert len(predictions) == 24


# Evaluation


def test_evaluation(tmp_path, questions):
    tested = [row for row in module.SPAN_QUESTIONS.read(questions).to_pylist() if row["role"] == "test"]
    right = {row["question_id"]: row["answers"][0] for row in tested}
    half = {name: answer if place % 2 else "" for place, (name, answer) in enumerate(right.items())}
    runs = []
    for model, predictions in (("good", right), ("bad", half)):
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps(predictions))
        runs.append({"task": "made", "model": model, "seed": 1, "path": str(path)})
    tasks = {"made": {"task": QUESTIONS.model_dump(), "examples": str(questions)}}
    out = [tmp_path / name for name in ("out.parquet", "out.csv", "out.md")]
    counts = evaluate_downstream(runs, tasks, {"good": "Good", "bad": "Bad"}, *out)
    assert counts == {"runs": 2, "rows": 2 * 2 * 10}
    assert out[1].read_text().splitlines() == [
        "task,model,seed,set,measure,value,examples",
        "made,bad,1,test,F1,0.5,10",
        "made,bad,1,test,EM,0.5,10",
        "made,good,1,test,F1,1.0,10",
        "made,good,1,test,EM,1.0,10",
    ]
    assert out[2].read_text().splitlines() == [
        "| Model | Seed | made, F1 | made, EM |",
        "| --- | ---: | ---: | ---: |",
        "| Bad | 1 | 50.00 | 50.00 |",
        "| Good | 1 | 100.00 | 100.00 |",
    ]
    rows = PER_QUERY.read(out[0]).to_pylist()
    assert {(row["candidates"], row["regime"]) for row in rows} == {("", "full")}
    runs[0]["path"] = str(tmp_path / "short.json")
    (tmp_path / "short.json").write_text("{}")
    with pytest.raises(
        InputError, match="10 examples are predicted and not tested, or tested and not predicted"
    ):
        evaluate_downstream(runs, tasks, {}, *out)
