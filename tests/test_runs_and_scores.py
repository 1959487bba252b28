"""docs/runs-and-scores.md is followed: each block runs over a small tree of results.

The tools that it shows are no dependencies. The environment variables RANX, PYTERRIER and SENTENCE_TRANSFORMERS name
folders that hold them and what they import beside ours, as `.ci/run` makes them.
"""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from irpretrain.evaluation.evaluate import evaluate
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import QUERIES
from small_documents import write_documents

ROOT = Path(__file__).resolve().parents[1]
TOOLS = {"ranx": "RANX", "pyterrier": "PYTERRIER", "sentence_transformers": "SENTENCE_TRANSFORMERS"}
NAMES = "pandas", "ir_measures", "ranx", "pyterrier", "searches", "reranker", "axioms", "scores", "training"
"""What the blocks show, in their order."""
PAGE = (ROOT / "docs/runs-and-scores.md").read_text()
BLOCKS = dict(zip(NAMES, re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL), strict=True))
TEXTS = {"d1": "Word01 word02 cab.", "d2": "Word03 word04.", "d3": "word05 bad face"}
TOPICS = {"1": "word01", "2": "word03 word04"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with the files that the page names."""
    results = tmp_path / "results"
    (results / "datasets/squad").mkdir(parents=True)
    qrels = results / "datasets/squad/qrels.txt"
    qrels.write_text("1 0 d1 1\n2 0 d2 1\n")
    QUERIES.write(
        results / "datasets/squad/queries.parquet",
        [{"query_id": name, "text": text} for name, text in TOPICS.items()],
    )
    (results / "corpora/squad-dev").mkdir(parents=True)
    write_documents(results / "corpora/squad-dev/documents-0.parquet", TEXTS)
    described = []
    for model, regime, seed, name in (
        ("bm25", "first-stage", 0, "first-stage"),
        ("prop", "zero-shot", 1, "prop/zero-shot/seed-1"),
    ):
        path = results / f"runs/squad/bm25/{name}.run.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        scores = {"d1": 3.0, "d2": 2.0 + seed * 2, "d3": 1.0}
        write_run(path, {query: scores.items() for query in TOPICS}, "irpretrain")
        run = {"dataset": "squad", "candidates": "bm25", "model": model, "regime": regime, "seed": seed}
        described.append({**run, "paths": [path]})
    outputs = results / "per_query.parquet", results / "scores.csv"
    evaluate(described, qrels, None, ["nDCG@10", "RR@10"], *outputs)
    return tmp_path


@pytest.fixture
def run_code(tree: Path, make_encoder: Callable[..., Path]) -> Callable[[str], str]:
    """Return a function that runs code in that folder, with models, and returns what it prints."""
    from irpretrain.models.cross_encoder import CrossEncoderModel

    encoder = make_encoder(max_position_embeddings=96)  # as many as the page's longest pair
    CrossEncoderModel.from_encoder(encoder, "pooled").save(tree / "results/models/pretrained/prop/seed-1")

    def run(code: str) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                [str(ROOT / "src"), *(os.environ.get(n, "") for n in TOOLS.values())]
            ),
            "HOME": str(tree),
            "JAVA_HOME": "/nowhere",
        }
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tree, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return run


def skip_without(code: str) -> None:
    for tool, variable in TOOLS.items():
        missing = not os.environ.get(variable) and importlib.util.find_spec(tool) is None
        if re.search(rf"(import|from) {tool}\b", code) and missing:
            pytest.skip(f"{tool} is not installed, and {variable} names no folder")


@pytest.mark.parametrize("name", ["pandas", "ir_measures"])
def test_a_block_runs_here(
    tree: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tree)
    exec(BLOCKS[name], {})
    assert "nDCG@10" in capsys.readouterr().out


def test_the_table_of_means_mixes_no_data_sets_or_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case pivot-mixes-data-sets: BM25 has 0.8364 on one and 0.8409 on another, and the table said 0.8386."""
    rows = [
        "dataset,candidates,model,regime,seed,fold,measure,value,queries",
        "squad,bm25,bm25,first-stage,0,0,RR@10,0.8364,150",
        "squad-first-stages,bm25,bm25,first-stage,0,0,RR@10,0.8409,2000",
        "squad,bm25,prop,zero-shot,1,0,RR@10,0.6,150",
        "squad,bm25,prop,zero-shot,2,0,RR@10,0.7,150",
        "squad,ql,prop,zero-shot,1,0,RR@10,0.5,150",
        "squad,bm25,prop,zero-shot,1,1,RR@10,0.1,30",
    ]
    (tmp_path / "results").mkdir()
    (tmp_path / "results/scores.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS["pandas"], {})
    printed = [float(text) for text in re.findall(r"0\.\d+", capsys.readouterr().out)]
    # PROP's two seeds are averaged, its candidates are not.
    assert sorted(printed) == [0.5, 0.65, 0.8364, 0.8409]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "result"),
    [("ranx", "PROP"), ("pyterrier", "BM25"), ("searches", "RR@10"), ("reranker", "docno")],
)
def test_a_block_runs_beside_its_tool(run_code: Callable[[str], str], name: str, result: str) -> None:
    skip_without(BLOCKS[name])
    assert result in run_code(BLOCKS[name])


@pytest.mark.deep
def test_a_cutoff_keeps_as_many_documents_as_it_says(run_code: Callable[[str], str]) -> None:
    """PyTerrier keeps ranks below the cutoff and counts from 0; a TREC file, read as it is, counts from 1."""
    skip_without(BLOCKS["reranker"])
    assert "% 10" in BLOCKS["reranker"]
    kept = "\nprint((candidates % 2)(topics).groupby('qid').size().tolist())"
    assert run_code(BLOCKS["reranker"] + kept).endswith("[2, 2]\n")


@pytest.mark.deep
def test_axioms_go_on_from_the_re_ranking(run_code: Callable[[str], str]) -> None:
    skip_without(BLOCKS["reranker"] + BLOCKS["axioms"])
    assert "PROX-1_preference" in run_code(BLOCKS["reranker"] + BLOCKS["axioms"])


EQUAL = """
from irpretrain import CrossEncoder as Ours
theirs = model.predict(pairs)
ours = Ours("{directory}").predict(pairs)
assert len(set(ours.tolist())) == len(pairs)
assert abs(theirs - ours).max() <= 4e-6, (theirs, ours)
"""


@pytest.mark.deep
def test_our_model_scores_alike_in_sentence_transformers(run_code: Callable[[str], str]) -> None:
    skip_without(BLOCKS["scores"])
    equal = EQUAL.format(directory="results/models/pretrained/prop/seed-1")
    assert "'corpus_id': 0" in run_code(BLOCKS["scores"] + equal)


@pytest.mark.deep
def test_what_sentence_transformers_trains_scores_alike_here(
    run_code: Callable[[str], str], tree: Path
) -> None:
    skip_without(BLOCKS["training"])
    if not (os.environ.get(TOOLS["sentence_transformers"]) or importlib.util.find_spec("datasets")):
        pytest.skip("the package datasets is not installed")
    folder = tree / "runs/mine"
    folder.mkdir(parents=True)
    (folder / "documents.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in TEXTS.items()))
    (folder / "topics.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in TOPICS.items()))
    (folder / "qrels.txt").write_text("1 0 d1 1\n2 0 d2 1\n")
    pairs = (
        f"import torch\npairs = {[(query, text) for query in TOPICS.values() for text in TEXTS.values()]}\n"
    )
    run_code(BLOCKS["training"] + pairs + EQUAL.format(directory="models/theirs"))
    before, after = (
        (tree / path / "model.safetensors").read_bytes()
        for path in ("results/models/pretrained/prop/seed-1", "models/theirs")
    )
    assert before != after
