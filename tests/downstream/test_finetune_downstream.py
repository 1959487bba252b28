"""Fine-tuning for tasks beside retrieval: it learns, goes on after a kill, and what is tested never chooses."""

import json

import numpy as np
import pytest
import torch
from small_tasks import QUESTIONS, answering, marked_questions, write_questions

from irpretrain.evaluation.answers import evaluate_downstream
from irpretrain.foundation.contracts import PER_QUERY, SPAN_QUESTIONS
from irpretrain.foundation.errors import ConfigError, InputError, TrainingError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.training import downstream as module
from irpretrain.training.downstream import finetune_downstream


@pytest.fixture
def pretrained(tiny_encoder, tmp_path):
    CrossEncoderModel.from_encoder(tiny_encoder, seed=3).save(tmp_path / "pretrained")
    return tmp_path / "pretrained"


@pytest.fixture
def questions(tmp_path):
    return write_questions(tmp_path, marked_questions(40), marked_questions(20, first=40))


@pytest.fixture
def finetune(tmp_path, pretrained, questions):
    """Return a function that fine-tunes in a folder of its own and returns that folder."""

    def run(name, options=None, examples=questions, **changes):
        folder = tmp_path / name
        arguments = {
            "model": pretrained,
            "examples": examples,
            "options": options or answering(),
            "seed": 1,
            "predictions": folder / "predictions.json",
            "metrics": folder / "metrics.json",
            "checkpoints": folder / "checkpoints",
        }
        finetune_downstream(**{**arguments, **changes})
        return folder

    return run


def report(folder):
    return json.loads((folder / "metrics.json").read_text())


def test_it_learns_where_the_answer_stands(finetune):
    assert report(finetune("run", answering(epochs=6)))["tested"]["test"]["EM"] >= 0.8


@pytest.mark.deep
def test_equal_runs_write_equal_files(finetune):
    options = answering(dropout=0.1)
    one, other = finetune("one", options), finetune("other", options)
    for name in ("predictions.json", "metrics.json"):
        assert sha256(one / name) == sha256(other / name)


class Stop(Exception):
    """In place of a kill."""


def test_a_broken_off_run_goes_on_after_its_last_epoch(finetune, monkeypatch):
    options = answering(epochs=3)
    epochs = []

    def broken(self, args, state, control, **_):
        epochs.append(round(state.epoch))
        if len(epochs) == 2:
            raise Stop

    monkeypatch.setattr(module._StatusLines, "on_epoch_end", broken, raising=False)
    with pytest.raises(Stop):
        finetune("run", options)
    folder = finetune("run", options)
    assert epochs == [1, 2, 2, 3]
    assert [record["epoch"] for record in report(folder)["epochs"]] == [1, 2, 3]
    assert not [path for path in (folder / "checkpoints").iterdir() if path.is_dir()]


def test_the_best_epoch_is_taken(finetune):
    found = report(finetune("run", answering(epochs=3)))
    values = [record["F1"] for record in found["epochs"]]
    assert found["chosen"] == {"epoch": 1 + values.index(max(values)), "F1": max(values)}


def test_nothing_to_train_on(finetune, questions, tmp_path):
    rows = [row for row in SPAN_QUESTIONS.read(questions).to_pylist() if row["role"] != "train"]
    SPAN_QUESTIONS.write(tmp_path / "none.parquet", rows)
    with pytest.raises(InputError, match="no training example can be used"):
        finetune("run", examples=tmp_path / "none.parquet")


@pytest.mark.parametrize("name", ["qa_outputs.bias", "bert.embeddings.word_embeddings.weight"])
def test_weights_that_are_nan_are_in_no_checkpoint_and_no_output(finetune, monkeypatch, tmp_path, name):
    """Also those of a word piece that no text has."""

    def spoil(self, model, inputs, _=None):
        with torch.no_grad():
            model.get_parameter(name)[-1] = torch.nan
        return torch.tensor(0.0)

    monkeypatch.setattr(module.Trainer, "training_step", spoil)
    with pytest.raises(TrainingError, match=f"the weights {name} are not finite numbers"):
        finetune("run")
    assert not list((tmp_path / "run").rglob("*.safetensors")) + list((tmp_path / "run").glob("*.json"))


def test_the_rate_rises_over_a_tenth_of_the_steps_and_falls_to_zero(finetune, monkeypatch):
    train, groups = module.Trainer.training_step, []

    def watch(self, *inputs):
        groups.append(dict(self.optimizer.param_groups[0]))
        return train(self, *inputs)

    monkeypatch.setattr(module.Trainer, "training_step", watch)
    finetune("run", answering(batch_size=4, epochs=1, learning_rate=1.0))
    assert [group["lr"] for group in groups] == pytest.approx([0, *(1 - step / 9 for step in range(9))])
    assert {group["weight_decay"] for group in groups} == {0.01}


def test_what_the_optimiser_has_gathered_is_finite_in_checkpoints(finetune, monkeypatch, tmp_path):
    """An infinite second moment stops a weight for ever, and its loss stays finite."""
    train = module.Trainer.training_step

    def spoil(self, *inputs):
        for gathered in self.optimizer.state.values():
            gathered["exp_avg_sq"].fill_(torch.inf)
        return train(self, *inputs)

    monkeypatch.setattr(module.Trainer, "training_step", spoil)
    with pytest.raises(TrainingError, match=r"the weights .* \(the optimiser's exp_avg_sq\) are not finite"):
        finetune("run")
    assert not list((tmp_path / "run").rglob("*.safetensors")) + list((tmp_path / "run").glob("*.json"))


def test_outputs_that_are_nan_are_named(pretrained, questions):
    task = module.QuestionAnswering(pretrained, questions, answering())
    with pytest.raises(TrainingError, match="the model's outputs are NaN; lower the learning rate"):
        task.predictions("test", [np.full((1, 4), np.nan)] * 2)


def test_the_encoder_is_taken_and_the_output_layer_is_fresh(pretrained, questions):
    before = CrossEncoderModel.load(pretrained)
    work = module.QuestionAnswering(pretrained, questions, answering())
    one, other, again = (module._network(work, 0.25, seed) for seed in (1, 2, 1))
    for name, tensor in one.bert.state_dict().items():
        assert torch.equal(tensor, before.classifier.bert.state_dict()[name])
    assert torch.equal(one.qa_outputs.weight, again.qa_outputs.weight)
    assert not torch.equal(one.qa_outputs.weight, other.qa_outputs.weight)
    assert {m.p for m in one.modules() if isinstance(m, torch.nn.Dropout)} == {0.25}


def test_sequences_longer_than_the_encoders_are_refused(finetune):
    with pytest.raises(
        ConfigError, match=r"question_answering\.max_length: 65 is longer than the encoder's 64"
    ):
        finetune("run", answering(max_length=65))


# Evaluation


def test_evaluation(tmp_path, questions):
    tested = [row for row in SPAN_QUESTIONS.read(questions).to_pylist() if row["role"] == "test"]
    right = {row["question_id"]: row["answers"][0] for row in tested}
    half = {name: answer if position % 2 else "" for position, (name, answer) in enumerate(right.items())}
    runs = []
    for model, predictions in (("good", right), ("bad", half)):
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps(predictions))
        runs.append({"task": "made", "model": model, "seed": 1, "path": str(path)})
    tasks = {"made": {"task": QUESTIONS.model_dump(), "examples": str(questions)}}
    out = [tmp_path / name for name in ("out.parquet", "out.csv", "out.md")]
    counts = evaluate_downstream(runs, tasks, {"good": "Good", "bad": "Bad | worse"}, *out)
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
        r"| Bad \| worse | 1 | 50.00 | 50.00 |",
        "| Good | 1 | 100.00 | 100.00 |",
    ]
    rows = PER_QUERY.read(out[0]).to_pylist()
    assert {(row["candidates"], row["regime"], row["fold"]) for row in rows} == {("", "full", 0)}
    unmatched = "10 examples are predicted and not tested, or tested and not predicted"
    for content, message in (
        ("{}", unmatched),
        *((text, "these are not predictions") for text in ("", "[]", "3")),
    ):
        (tmp_path / "good.json").write_text(content)
        with pytest.raises(InputError, match=message):
            evaluate_downstream(runs, tasks, {}, *out)
