"""Saved models in sentence-transformers' own CrossEncoder, where that package can be had: the same raw scores.

It is no dependency. The environment variable SENTENCE_TRANSFORMERS names a folder that holds it and what it imports
beside ours, as `.ci/run` makes one.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from irpretrain import Collection, CrossEncoder, finetune, own_groups, pretrain
from irpretrain.models.cross_encoder import CrossEncoderModel, Head
from irpretrain.models.reranker import load_reranker
from tiny_models import FAMILIES, write_family

FOLDER = os.environ.get("SENTENCE_TRANSFORMERS", "")
THERE = bool(FOLDER) or importlib.util.find_spec("sentence_transformers") is not None
PAIRS = [
    ("word01 cab", "word03 bad"),
    ("word02", "word04 word05 word06 " * 3),
    ("word07 word08", "word07 word08 jab"),
    ("face", "word79"),
]
SCORE = """
import json, sys
from sentence_transformers import CrossEncoder
pairs, *models = sys.argv[1:]
for path in models:
    model = CrossEncoder(path, device="cpu", local_files_only=True)
    scores = model.predict(json.loads(pairs), show_progress_bar=False)
    print(json.dumps([float(score) for score in scores]))
"""


WITH_THEIRS = pytest.mark.skipif(
    not THERE, reason="sentence-transformers is not installed, and SENTENCE_TRANSFORMERS names no folder"
)


def their_scores(models: list[Path], pairs: list[tuple[str, str]] = PAIRS) -> list[list[float]]:
    environment = os.environ | {"PYTHONPATH": FOLDER, "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", SCORE, json.dumps(pairs), *map(str, models)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()[-len(models) :]]


def our_scores(model: Path) -> np.ndarray:
    reranker = load_reranker(model)
    tokenizer = reranker.tokenizer
    queries, documents = (tokenizer.encode(list(texts), 64) for texts in zip(*PAIRS, strict=True))
    ids, types, attention = (
        torch.from_numpy(part) for part in tokenizer.join(list(zip(queries, documents, strict=True)))
    )
    with torch.inference_mode():
        return reranker(ids, types, attention).numpy()


@WITH_THEIRS
def test_cross_encoder_has_equal_scores(tmp_path: Path, tiny_encoder: Path) -> None:
    heads: tuple[Head, ...] = ("mlp", "pooled")
    models = [tmp_path / head for head in heads]
    for head, model in zip(heads, models, strict=True):
        CrossEncoderModel.from_encoder(tiny_encoder, head).save(model)
    for family in FAMILIES:
        models.append(tmp_path / f"{family}-ranker")
        CrossEncoderModel.from_encoder(write_family(tmp_path / family, family)).save(models[-1])
    for model, theirs in zip(models, their_scores(models), strict=True):
        ours = our_scores(model)
        assert len(set(ours.tolist())) == len(PAIRS)
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=2e-6, err_msg=model.name)


@WITH_THEIRS
def test_texts_longer_than_those_of_training_are_cut_alike(tmp_path: Path, tiny_encoder: Path) -> None:
    """Nobody gives a length: both read as much as the model did in its training (case exported-model-max-length)."""
    words = [f"word{number:02}" for number in range(1, 60)]
    bodies = {"d0": " ".join(words[:30]), "d1": " ".join(words[20:50]), "d2": " ".join(words[5:15])}
    groups = Collection(bodies, encoder=tiny_encoder).groups("rop", minimum_count=1)
    lengths = {"query_length": 8}
    pretrain(groups, tmp_path / "prop", steps=2, batch_groups=2, max_length=24, **lengths)
    learned = own_groups([("word01", bodies["d0"]), ("word21", bodies["d1"])], encoder=tmp_path / "prop")
    finetune(learned, tmp_path / "tuned", epochs=1, max_length=32, **lengths)
    draw = np.random.default_rng(8)
    texts = [
        [" ".join(draw.permutation(words)[:size]) for size in sizes] for sizes in ((2, 10), (6, 50), (8, 5))
    ]
    pairs = [(query, document) for query, document in texts * 4]
    models = [tmp_path / "prop", tmp_path / "tuned"]
    for model, theirs in zip(models, their_scores(models, pairs), strict=True):
        ours = CrossEncoder(model).predict(pairs)
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=4e-6, err_msg=model.name)
