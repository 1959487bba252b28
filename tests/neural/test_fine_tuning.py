"""Rankers over words learn on the shared trainer, as cross-encoders do: same fine-tuning, same kinds of files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import read_run
from irpretrain.models.neural.registry import load_neural_ranker
from irpretrain.retrieval.pair_scoring import rerank_words
from irpretrain.text.texts import read_queries
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.finetune import finetune
from judged_collection import write_collection

QUERY_COUNT, FOLDS, WORDS = 30, 5, 40
RERANKING = RerankingConfig(compute={"device": "cpu"})
names = pytest.mark.parametrize("name", ["knrm", "conv-knrm", "drmm", "duet", "duet-v2"])
OPTIONS: dict[str, dict[str, Any]] = {
    "duet": {"query_words": 3, "document_words": 102},
    "duet-v2": {"query_words": 3, "document_words": 102},
}


@pytest.fixture
def collection(tmp_path: Path, make_corpus: Callable[..., Any]) -> dict[str, Any]:
    """Queries of two words, each with one document that holds both, one that holds one, and others with neither."""
    draw = np.random.default_rng(5)
    names = [f"word{number:02d}" for number in range(WORDS)]
    documents, queries, run, qrels = {}, {}, {}, {}
    for number in range(QUERY_COUNT):
        first, second, *others = draw.permutation(names)
        texts = [[first, second, *others[:5]], [first, *others[5:11]]]
        texts += [list(others[start : start + 7]) for start in (11, 18, 25)]
        ranking = []
        for position, words in enumerate(texts):
            name = f"d{number:02d}-{position}"
            documents[name] = " ".join(draw.permutation(words))
            ranking.append((name, float(draw.random())))
        query = f"q{number:02d}"
        queries[query], qrels[query], run[query] = f"{first} {second}", {f"d{number:02d}-0": 1}, ranking
    vectors = dict(zip(names, draw.normal(size=(WORDS, 12)).tolist(), strict=True))
    corpus = make_corpus(documents, vectors)
    return {
        "corpus": corpus,
        "stores": [corpus.words],
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
        "negatives": 3,
        "batch_sizes": [6],
        "learning_rates": [0.02],
        "few_shot_batch_sizes": [4],
        "epochs": 12,
        "optimiser": {"warmup": 0.0, "weight_decay": 0.0},
        "compute": {"device": "cpu", "checkpoint_minutes": 0},
    }
    return FinetuningConfig(**{**given, **changes})


@pytest.fixture(autouse=True)
def no_early_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irpretrain.training.finetune.PATIENCE", 12)


@pytest.fixture
def run_finetuning(tmp_path: Path, collection: dict[str, Any]) -> Callable[..., Path]:
    """Return a function that fine-tunes a fresh ranker in a folder of its own, and returns the folder."""

    def run(ranker: str, name: str = "run", **changes: Any) -> Path:
        given = {**collection, **changes}
        corpus = given.pop("corpus")
        folder = tmp_path / name
        if "model" not in given:
            options = {"type": ranker, **OPTIONS.get(ranker, {})}
            given["model"], _ = corpus.ranker(f"fresh-{ranker}-{name}", given["seed"], **options)
        finetune(
            **given,
            run=folder / "fold.run.gz",
            metrics=folder / "fold.json",
            checkpoints=folder / "checkpoints",
        )
        return folder

    return run


@names
def test_it_learns(run_finetuning: Callable[..., Path], name: str) -> None:
    """The loss falls, and of five candidates the right one is found far oftener than by chance, on queries not seen."""
    # The wide layers of Duet learn from a few epochs, and only at a lower rate.
    changes = {"learning_rates": [0.001], "epochs": 4} if name.startswith("duet") else {}
    folder = run_finetuning(name, options=tuning_options(**changes))
    epochs = json.loads((folder / "fold.json").read_text())["grid"][0]["epochs"]
    assert epochs[-1]["loss"] < epochs[0]["loss"]
    assert epochs[-1]["pair_accuracy"] > max(0.75, epochs[0]["pair_accuracy"])
    found = read_run(folder / "fold.run.gz")
    assert sorted(found) == ["q00", "q05", "q10", "q15", "q20", "q25"]
    ranks = [1 + [name for name, _ in ranking].index(f"d{query[1:]}-0") for query, ranking in found.items()]
    by_chance = np.mean([1 / rank for rank in range(1, 6)])
    assert np.mean([1 / rank for rank in ranks]) > by_chance


def test_the_retained_model_is_the_one_that_made_the_run(
    run_finetuning: Callable[..., Path], collection: dict[str, Any], tmp_path: Path
) -> None:
    folder = run_finetuning("knrm", options=tuning_options(epochs=2), output=tmp_path / "kept")
    ranked = read_run(folder / "fold.run.gz")
    candidates = {query: read_run(collection["candidates"])[query] for query in ranked}
    retained, documents = load_neural_ranker(tmp_path / "kept"), WordDocuments.open(collection["stores"])
    assert (
        rerank_words(retained, documents, read_queries(collection["queries"]), candidates, RERANKING)
        == ranked
    )


def test_batches_change_scores_by_rounding_alone(
    collection: dict[str, Any],
) -> None:
    directory, _ = collection["corpus"].ranker("conv", type="conv-knrm")
    made, documents = load_neural_ranker(directory), WordDocuments.open(collection["stores"])
    texts, candidates = read_queries(collection["queries"]), read_run(collection["candidates"])
    scores = []
    for budget in (512, 100_000):
        options = RERANKING.model_copy(update={"batch_tokens": budget})
        run = rerank_words(made, documents, texts, candidates, options)
        scores.append({(query, name): score for query, ranking in run.items() for name, score in ranking})
    assert scores[0].keys() == scores[1].keys()
    assert all(scores[0][key] == pytest.approx(scores[1][key], abs=1e-6) for key in scores[0])
