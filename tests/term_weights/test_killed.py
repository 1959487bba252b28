"""Inference that is killed as `kill -9` kills, wherever it is, ends as one that was not."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from small_weights import TEXT, weighting

from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.infer import infer_documents

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


def text(number):
    draw = np.random.default_rng(number)
    return " ".join(str(draw.choice(["cab", "word07", f"word{n:02d}"])) for n in range(number % 22))


@pytest.mark.parametrize(
    "name",
    [
        name if name == "writing the table" else pytest.param(name, marks=pytest.mark.deep)
        for name in POSITIONS
    ],
)
def test_a_killed_job_gives_the_same_bytes(name, tmp_path, tiny_encoder, make_documents, request, capsys):
    TermWeightRegressor.from_encoder(tiny_encoder).save(tmp_path / "model")
    documents = make_documents({f"d{number:02d}": text(number) for number in range(40)})
    options = weighting(window_overlap=4)
    counts = infer_documents(
        tmp_path / "model", documents, options, TEXT, tmp_path / "whole", tmp_path / "other"
    )
    position, call, whole = POSITIONS[name]
    output, unfinished = tmp_path / "killed", tmp_path / "unfinished"
    program = PROGRAM.format(
        tests=str(request.path.parent), position=position, call=call, model=str(tmp_path / "model"),
        documents=str(documents), output=str(output), unfinished=str(unfinished),
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not output.exists()
    capsys.readouterr()
    assert infer_documents(tmp_path / "model", documents, options, TEXT, output, unfinished) == counts
    assert f"{min(3 * whole, 40)} of 40 texts were done before" in capsys.readouterr().err
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()
    assert list(unfinished.glob("*/")) == []
