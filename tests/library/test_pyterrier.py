"""Transformers of `irpretrain.pyterrier` in a real PyTerrier, without Java.

It is no dependency. The environment variable PYTERRIER names a folder that holds it and what it imports beside ours,
as `.ci/run` makes one.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library_page import lay_models

from irpretrain import Collection, CrossEncoder, Options, TermWeigher
from irpretrain.config.axioms import AXIOMS
from tiny_models import write_bert

FOLDER = os.environ.get("PYTERRIER", "")
THERE = bool(FOLDER) or importlib.util.find_spec("pyterrier") is not None
pytestmark = pytest.mark.skipif(
    not THERE, reason="PyTerrier is not installed, and PYTERRIER names no folder with it"
)
TEXTS = {"d0": "word01 word02 ab cd", "d1": "word01 ef gh word05", "d2": "word05 word02 word07 word01"}
TOPICS = {"1": "word01 word02", "2": "word05"}
CANDIDATES = [("1", "d2"), ("1", "d0"), ("2", "d1"), ("1", "d1")]
WORD_VECTORS = {"minimum_count": 1, "dimensions": 4}
PIPELINES = f"""
import json, sys
import pandas as pd
import pyterrier as pt
from irpretrain import Collection, Options
from irpretrain.pyterrier import Axioms, Reranker, TermWeights

texts, topics, candidates = {TEXTS!r}, {TOPICS!r}, {CANDIDATES!r}
frame = pd.DataFrame(candidates, columns=["qid", "docno"])
frame["query"], frame["text"] = frame["qid"].map(topics), frame["docno"].map(texts)
documents = pd.DataFrame(texts.items(), columns=["docno", "text"])
given = pd.DataFrame(topics.items(), columns=["qid", "query"])
first = pt.Transformer.from_df(frame.assign(score=1.0, rank=0))
rerank = Reranker("model", max_length=32, query_length=8)
fruit = Collection(texts, Options(word_vectors={WORD_VECTORS!r}))
print(json.dumps([
    (first >> rerank)(given).to_dict("records"),
    (first >> rerank % 1)(given).to_dict("records"),
    (first >> Axioms(fruit))(given).to_dict("records"),
    TermWeights("models/deepct", max_length=32)(documents).to_dict("records"),
    pt.inspect.transformer_outputs(rerank, ["qid", "query", "docno", "text"]),
]))
import irpretrain.pyterrier
from irpretrain.foundation.errors import ConfigError
weights, axioms = TermWeights("models/deepct", max_length=32), Axioms(fruit)
print(json.dumps([[repr(some) for some in (rerank, axioms, weights)], dir(irpretrain.pyterrier)]))
refusals = []
for transformer, column, value in (
    (rerank, "qid", None), (rerank, "text", None), (rerank, "text", float("nan")), (rerank, "query", 7),
    (axioms, "qid", 1.5), (axioms, "docno", None), (axioms, "docno", "d9"), (weights, "docno", None),
    (weights, "text", None),
):
    values = [*frame[column][:1], value, *frame[column][2:]]
    try:
        transformer(frame.assign(**{{column: pd.Series(values, dtype=object)}}))
    except ConfigError as error:
        refusals.append(str(error))
print(json.dumps(refusals))
try:
    rerank(frame.drop(columns="text"))
except pt.validate.InputValidationError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    lay_models(folder)
    write_bert(folder / "model", labels=1)
    return folder


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[Any]:
    paths = os.pathsep.join([str(Path(__file__).resolve().parents[2] / "src"), FOLDER])
    environment = {**os.environ, "PYTHONPATH": paths, "HOME": str(folder), "JAVA_HOME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", PIPELINES], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    first, names, refusals, message = done.stdout.strip().splitlines()[-4:]
    return [*json.loads(first), message, json.loads(names), json.loads(refusals)]


def test_documents_are_re_ranked(printed: list[Any], folder: Path) -> None:
    model = CrossEncoder(folder / "model", max_length=32, query_length=8)
    scored, best = printed[:2]
    pairs = [(row["qid"], row["docno"]) for row in scored]
    assert sorted(pairs) == sorted(CANDIDATES)
    expected = model.predict([(TOPICS[query], TEXTS[name]) for query, name in pairs])
    np.testing.assert_allclose([row["score"] for row in scored], expected, atol=2e-6)
    of_first = [row for row in scored if row["qid"] == "1"]
    by_rank = sorted(of_first, key=lambda row: row["rank"])
    assert [row["rank"] for row in by_rank] == [0, 1, 2]
    assert by_rank == sorted(of_first, key=lambda row: -row["score"])
    assert {(row["qid"], row["docno"]) for row in best} == {("1", by_rank[0]["docno"]), ("2", "d1")}


def test_each_two_documents_have_the_collection_s_preferences(printed: list[Any]) -> None:
    pairs = printed[2]
    assert len(pairs) == 3 * 3 + 1, "as ir_axioms, each document is paired with itself too"
    triples = [(row["query"], row["docno_a"], row["docno_b"]) for row in pairs]
    expected = Collection(TEXTS, Options(word_vectors=WORD_VECTORS)).axiom_preferences(triples)
    found = [[row[f"{axiom}_preference"] for axiom in AXIOMS] for row in pairs]
    assert found == expected.iloc[:, 3:].to_numpy().tolist()
    assert {value for row in found for value in row} == {-1, 0, 1}


def test_words_have_integer_weights(printed: list[Any], folder: Path) -> None:
    weights = TermWeigher(folder / "models/deepct", max_length=32).weigh(list(TEXTS.values()))
    found = {row["docno"]: row["toks"] for row in printed[3]}
    expected = [{word: round(100 * weight) for word, weight in some.items()} for some in weights]
    positive = [{word: weight for word, weight in some.items() if weight > 0} for some in expected]
    assert found == dict(zip(TEXTS, positive, strict=True))
    assert any(found.values())


def test_a_pipeline_knows_its_columns(printed: list[Any]) -> None:
    assert {"qid", "docno", "score", "rank"} <= set(printed[4])
    assert "text" in printed[5], "what is missing is named"


def test_transformers_name_what_they_apply(printed: list[Any]) -> None:
    (rerank, axioms, weights), names = printed[6]
    assert rerank == "Reranker(CrossEncoder('model', max_length=32, query_length=8))"
    assert axioms == "Axioms(<Collection: 3 documents, preset paper, seed 1>)"
    assert weights == "TermWeights(TermWeigher('models/deepct', max_length=32), square_root=False)"
    assert [name for name in names if not name.startswith("__")] == ["Axioms", "Reranker", "TermWeights"]


def test_a_missing_value_is_refused_with_its_column_and_row(printed: list[Any]) -> None:
    """pandas' IntCastingNaNError named no row, and a missing text was that of a pair."""
    of_row, identifier = "row 1 (qid 1, docno d0)", "a text or a whole number is needed"
    assert printed[7] == [
        f"column qid, row 1 (qid None, docno d0): {identifier}, not None",
        f"column text, {of_row}: a text is needed, not None",
        f"column text, {of_row}: a text is needed, not nan",
        f"column query, {of_row}: a text is needed, not 7",
        f"column qid, row 1 (qid 1.5, docno d0): {identifier}, not 1.5",
        f"column docno, row 1 (qid 1, docno None): {identifier}, not None",
        "column docno, row 1 (qid 1, docno d9): the collection has no document 'd9'",
        f"column docno, row 1 (qid 1, docno None): {identifier}, not None",
        f"column text, {of_row}: a text is needed, not None",
    ]
