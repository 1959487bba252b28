"""Weights of whole shards: the same bytes however the work is cut, and after a kill."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from numpy.testing import assert_allclose
from small_weights import TEXT, weighting

from irpretrain.foundation.contracts import TERM_VECTORS, TERM_WEIGHTS
from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.infer import WeightPredictor, infer_documents
from irpretrain.retrieval.term_weights.integers import write_vectors
from irpretrain.retrieval.term_weights.targets import write_frequencies
from irpretrain.retrieval.term_weights.weighing import WeightSource, weigh_documents, weigh_queries
from irpretrain.training.read_ahead import READER_PROCESSES
from small_documents import write_queries


@pytest.fixture(scope="module")
def model(tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("regressor") / "model"
    TermWeightRegressor.from_encoder(tiny_encoder).save(folder)
    return folder


def text(number):
    """A text of 0 to 21 words, some of them cut in pieces, some repeated."""
    draw = np.random.default_rng(number)
    return " ".join(str(draw.choice(["cab", "bad", "word07", f"word{n:02d}"])) for n in range(number % 22))


DOCUMENTS = {f"d{number:02d}": text(number) for number in range(40)}


@pytest.fixture
def infer(tmp_path, model):
    def run(documents, name, **changes):
        output = tmp_path / f"{name}.parquet"
        options = weighting(**{"window_overlap": 4, **changes})
        counts = infer_documents(model, documents, options, TEXT, output, tmp_path / "unfinished")
        return TERM_WEIGHTS.read(output), counts

    return run


@pytest.fixture
def predicting(monkeypatch):
    """Shapes of the batches that the model has read, and after how many of them it is interrupted."""
    state, original = SimpleNamespace(shapes=[], fails_at=None), TermWeightRegressor.weights

    def weights(self, batch):
        if len(state.shapes) == state.fails_at:
            raise KeyboardInterrupt
        state.shapes.append(batch.input_ids.shape)
        return original(self, batch)

    monkeypatch.setattr(TermWeightRegressor, "weights", weights)
    return state


def test_a_very_negative_weight_is_retained_and_counted(tiny_encoder, make_documents, tmp_path):
    network = TermWeightRegressor.from_encoder(tiny_encoder)
    with torch.no_grad():
        network.classifier.classifier.bias.fill_(-(2.0**100))
    network.save(tmp_path / "model")
    documents, weights = make_documents({"d": "cab bad cab"}), tmp_path / "weights"
    options = weighting(window_overlap=4)
    learned, unfinished = WeightSource([tmp_path / "model"]), tmp_path / "unfinished"
    counts = weigh_documents(learned, documents, options, TEXT, weights, unfinished, "weigh")
    assert counts["words_without_weight"] == 0
    [row] = TERM_WEIGHTS.read(weights).to_pylist()
    assert row["terms"] == [{"term": "bad", "weight": -(2.0**100)}, {"term": "cab", "weight": -(2.0**100)}]
    assert write_vectors(weights, 100, False, tmp_path / "vectors")["negative"] == 2


def test_any_cut_into_shards_and_blocks_gives_the_same_bytes(infer, make_documents, tmp_path, monkeypatch):
    whole, _ = infer(make_documents(DOCUMENTS), "whole")
    keys = list(DOCUMENTS)
    parts = []
    for number, (first, last, block) in enumerate([(0, 7, 2), (7, 8, 5), (8, 40, 11)]):
        shard = make_documents({k: DOCUMENTS[k] for k in keys[first:last]}, f"shard-{number}", first)
        monkeypatch.setattr("irpretrain.retrieval.term_weights.infer.TEXTS_IN_BLOCK", block)
        parts.append(infer(shard, f"part-{number}")[0])
    assert pa.concat_tables(parts).equals(whole)
    TERM_WEIGHTS.write(tmp_path / "joined.parquet", pa.concat_tables(parts))
    assert (tmp_path / "joined.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_packed_and_padded_texts_have_the_same_weights(infer, make_documents, monkeypatch):
    """Within 1e-6; packed, no position of padding is computed, and `auto` pads on a CPU."""
    monkeypatch.setattr("irpretrain.retrieval.term_weights.infer.TEXTS_IN_BLOCK", 40)
    documents, found = make_documents(DOCUMENTS), {}
    for packing in ("off", "on", "auto"):
        compute = {"device": "cpu", "packing": packing}
        inference = {"batch_tokens": 64, "compute": compute}
        found[packing] = infer(documents, packing, inference=inference)
    (padded, counts), (packed, packed_counts), (chosen, chosen_counts) = found.values()
    assert chosen.equals(padded)
    assert chosen_counts == counts
    assert packed_counts.pop("positions") == counts["word_pieces"] + 2 * counts["sequences"]
    assert counts.pop("positions") > counts["word_pieces"] + 2 * counts["sequences"]
    assert packed_counts == counts
    for one, other in zip(padded.to_pylist(), packed.to_pylist(), strict=True):
        assert [entry["term"] for entry in one["terms"]] == [entry["term"] for entry in other["terms"]]
        weights = [[entry["weight"] for entry in row["terms"]] for row in (one, other)]
        assert_allclose(*weights, atol=1e-6)


@pytest.mark.parametrize("processes", [1, 3])
def test_any_number_of_processes_beside_the_device_gives_the_same_bytes(
    infer, make_documents, monkeypatch, tmp_path, predicting, processes
):
    """Blocks without a word piece, first, last and between others, too."""
    empty = {f"{place}{number}": "" for place in "a6z" for number in range(3)}
    texts = {f"0{number}": text(number) for number in range(6)} | {f"7{n}": text(n) for n in range(12)}
    documents = make_documents({name: (empty | texts)[name] for name in sorted(empty | texts)})
    expected, counts = infer(documents, "alone")
    predicting.shapes.clear()
    monkeypatch.setattr(WeightPredictor, "helper_count", lambda *_: processes)
    predicting.fails_at = 5
    with pytest.raises(KeyboardInterrupt):
        infer(documents, "beside")
    predicting.fails_at = None
    found, counts_beside = infer(documents, "beside")
    assert (found.equals(expected), counts_beside) == (True, counts)
    assert (tmp_path / "beside.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()
    assert list((tmp_path / "unfinished").glob("*/")) == []


def test_beside_a_gpu_each_block_of_texts_has_a_process_up_to_the_threads(model):
    most = READER_PROCESSES + 2
    compute = {"device": "cpu", "threads": most}
    predictor = WeightPredictor.open(
        model, weighting(inference={"compute": compute}), TEXT, torch.device("cpu")
    )
    beside_gpu = replace(predictor, device=torch.device("cuda"))
    assert [beside_gpu.helper_count(texts) for texts in (0, 1, 3, 4, 300)] == [0, 1, 1, 2, most]
    assert predictor.helper_count(300) == 0


def end_itself(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_was_killed_is_reported(infer, make_documents, monkeypatch):
    monkeypatch.setattr(WeightPredictor, "helper_count", lambda *_: 2)
    monkeypatch.setattr(WeightPredictor, "write", end_itself)
    with pytest.raises(TrainingError, match="was killed"):
        infer(make_documents(DOCUMENTS), "killed")


def test_a_killed_inference_goes_on_after_its_last_batch(infer, make_documents, predicting, tmp_path):
    """Weights that were kept are the same to the last bit."""
    documents = make_documents(DOCUMENTS)
    whole, expected = infer(documents, "whole")
    in_one_go = [*predicting.shapes]
    predicting.shapes.clear()
    for predicting.fails_at in (1, 3, 4):
        with pytest.raises(KeyboardInterrupt):
            infer(documents, "killed")
    predicting.fails_at = None
    found, counts = infer(documents, "killed")
    assert predicting.shapes == in_one_go
    assert found.equals(whole)
    assert counts == expected
    assert list((tmp_path / "unfinished").glob("*/")) == []


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "a bit of rows": lambda folder: flip(folder / "block-000001.parquet"),
    "the newest checkpoint": lambda folder: flip(max(folder.glob("step-*.pt"))),
    "all checkpoints": lambda folder: [flip(path) for path in folder.glob("step-*.pt")],
    "code of another kind": lambda folder: (folder / "code.json").write_text("[1]"),
}


@pytest.mark.parametrize(
    "damage",
    [name if name == "a bit of rows" else pytest.param(name, marks=pytest.mark.deep) for name in DAMAGES],
)
def test_a_damaged_block_is_computed_again(infer, make_documents, monkeypatch, tmp_path, damage, capsys):
    documents = make_documents(DOCUMENTS)
    whole, expected = infer(documents, "whole")
    write = type(TERM_WEIGHTS).write

    def fail(self, path, tables):
        if Path(path).parent == tmp_path:  # the whole table, when all blocks are there
            raise KeyboardInterrupt
        return write(self, path, tables)

    with monkeypatch.context() as patch:
        patch.setattr(type(TERM_WEIGHTS), "write", fail)
        with pytest.raises(KeyboardInterrupt):
            infer(documents, "killed")
    (folder,) = (tmp_path / "unfinished").glob("*/")
    DAMAGES[damage](folder)
    capsys.readouterr()
    found, counts = infer(documents, "killed")
    assert found.equals(whole)
    assert counts == expected
    printed = capsys.readouterr().err
    if damage == "a bit of rows":
        assert f"{folder / 'block-000001.parquet'} is damaged" in printed
        assert "3 of 40 texts were done before" in printed


def test_a_job_that_was_killed_in_its_first_block_has_a_name(infer, make_documents, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(WeightPredictor, "read", interrupt)
        with pytest.raises(KeyboardInterrupt):
            infer(make_documents(DOCUMENTS), "killed")
    (job,) = (tmp_path / "unfinished").glob("*/job.json")
    assert json.loads(job.read_text())["output"] == str(tmp_path / "killed.parquet")


PROGRAM = """
import os, signal, sys
from importlib import import_module
sys.path.insert(0, {tests!r})
from small_weights import TEXT, weighting
from irpretrain.retrieval.term_weights import infer
from irpretrain.retrieval.term_weights.infer import infer_documents

infer.TEXTS_IN_BLOCK = 3
module, _, path = {position!r}.rpartition(":")
owner = import_module(module)
*classes, name = path.split(".")
for one in classes:
    owner = getattr(owner, one)
original, calls = getattr(owner, name), []

def kill(*given, **named):
    calls.append(1)
    if len(calls) == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*given, **named)

setattr(owner, name, kill)
options = weighting(window_overlap=4)
infer_documents({model!r}, {documents!r}, options, TEXT, {output!r}, {unfinished!r})
"""
POSITIONS = {
    "computing": ("irpretrain.retrieval.term_weights.infer:WeightPredictor.read", 6, 5),
    "between a block and its checkpoint": ("irpretrain.retrieval.term_weights.infer:sha256", 6, 3),
    "writing the table": ("irpretrain.foundation.tables:ContractWriter.add", 16, 14),
}
"""Function that is never returned from, at which call, and how many of 14 blocks are whole then."""


@pytest.mark.parametrize(
    "name",
    [
        name if name == "writing the table" else pytest.param(name, marks=pytest.mark.deep)
        for name in POSITIONS
    ],
)
def test_a_job_killed_as_kill_9_kills_gives_the_same_bytes(
    name, tmp_path, model, infer, make_documents, request, capsys
):
    documents = make_documents(DOCUMENTS)
    _, counts = infer(documents, "whole")
    position, call, whole = POSITIONS[name]
    output, unfinished = tmp_path / "killed.parquet", tmp_path / "unfinished"
    program = PROGRAM.format(
        tests=str(request.path.parent), position=position, call=call, model=str(model),
        documents=str(documents), output=str(output), unfinished=str(unfinished),
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not output.exists()
    capsys.readouterr()
    assert infer(documents, "killed")[1] == counts
    assert f"{min(3 * whole, 40)} of 40 texts were done before" in capsys.readouterr().err
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert list(unfinished.glob("*/")) == []


def test_words_beyond_the_only_window_and_texts_without_words_are_counted(infer, make_documents):
    words = [f"word{n:02d}" for n in range(14)]
    table, counts = infer(
        make_documents({"a": "?!", "b": "", "c": " ".join(words)}), "cut", window_overlap=None
    )
    assert [[e["term"] for e in terms] for terms in table["terms"].to_pylist()] == [[], [], words[:10]]
    assert (counts["texts"], counts["texts_without_words"], counts["words_without_weight"]) == (3, 2, 4)


def test_queries_are_weighted_by_the_model_of_their_fold(tmp_path, tiny_encoder, model):
    other = tmp_path / "other"
    TermWeightRegressor.from_encoder(tiny_encoder, seed=9).save(other)
    write_queries(tmp_path / "q", dict.fromkeys("abcd", "word01 word02"))
    (tmp_path / "folds.json").write_text('{"folds": 3, "queries": {"a": 2, "b": 1, "c": 3, "d": 2}}')
    output = tmp_path / "out.parquet"

    def terms(models, folds):
        counts = weigh_queries(WeightSource(models), folds, tmp_path / "q", weighting(), TEXT, output)
        assert counts["texts"] == 4
        table = TERM_WEIGHTS.read(output)
        assert table["document_id"].to_pylist() == ["a", "b", "c", "d"]
        return table["terms"].to_pylist()

    first, second = terms([model], None)[0], terms([other], None)[0]
    assert first != second
    assert terms([model, other, model], tmp_path / "folds.json") == [second, first, first, second]
    with pytest.raises(InputError, match="3 folds for 2 models"):
        terms([model, other], tmp_path / "folds.json")
    (tmp_path / "folds.json").write_text('{"folds": 1, "queries": {"a": 1, "b": 1, "c": 1}}')
    with pytest.raises(InputError, match="query 'd' has no fold"):
        terms([model], tmp_path / "folds.json")


def test_frequencies_are_how_often_words_occur(tmp_path, make_documents):
    documents = make_documents({"a": ("Cab", "cab, bad cab"), "b": ""})
    counts = write_frequencies(documents, TEXT, tmp_path / "tf.parquet")
    [first, second] = TERM_VECTORS.read(tmp_path / "tf.parquet").to_pylist()
    assert first["terms"] == [{"term": "bad", "weight": 1}, {"term": "cab", "weight": 3}]
    assert second["terms"] == []
    assert counts == {"texts": 2, "texts_without_terms": 1, "terms": 2}


def test_an_oracles_weights_are_the_targets(tmp_path, make_documents, make_queries):
    from irpretrain.config.term_weights import TermLabelsConfig
    from irpretrain.retrieval.term_weights.targets import passage_targets

    documents = make_documents({"p1": "The cats chase grey mice", "p2": "rain"})
    learned, options = WeightSource([], targets=tmp_path / "t"), weighting(model="oracle")
    queries, qrels = make_queries({"q1": ("cat", ["p1"]), "q2": ("grey cats", ["p1"])})
    for rows in ("per-text", "per-pair"):
        passage_targets([documents], queries, qrels, TermLabelsConfig(rows=rows), TEXT, tmp_path / "t")
        counts = weigh_documents(learned, documents, options, TEXT, tmp_path / "w", tmp_path, "weigh")
        [first, second] = TERM_WEIGHTS.read(tmp_path / "w")["terms"].to_pylist()
        weights = {"cats": 1, "chase": 0, "grey": 0.5, "mice": 0, "the": 0}
        assert {entry["term"]: entry["weight"] for entry in first} == weights
        assert second == []
        assert counts == {"texts": 2, "texts_without_targets": 1}
