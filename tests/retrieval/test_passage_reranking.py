"""BERT-maxP and its kin: a document has the score of its passages, each of which is scored as if it were a document."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from irpretrain.config.retrieval import PassagesConfig, RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import read_run
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import CorpusTexts, rerank
from irpretrain.text.passages import text_passages
from small_documents import write_candidates, write_documents, write_queries
from tiny_models import write_roberta

TEXT = TextConfig(words="alphanumeric")
QUERY_TEXTS = {"q1": "word01 cab", "q2": "word02 word03"}
BODIES = {f"d{i:02}": " ".join(f"word{(i * j) % 80:02}" for j in range(1, i + 1)) for i in range(0, 40, 3)}
PASSAGES = PassagesConfig(words=6, stride=4)


def options(**changes: Any) -> RerankingConfig:
    return RerankingConfig(
        max_length=30, query_length=6, batch_tokens=512, compute={"device": "cpu"}, **changes
    )


@pytest.fixture
def score(tmp_path: Path, make_store: Callable[..., Path]) -> Callable[..., dict[tuple[str, str], float]]:
    """Return a function that scores texts by a model: ours, or one with a tokenizer of its own."""

    def scores(
        model: Path, ours: bool, texts: dict[str, str], given: RerankingConfig
    ) -> dict[tuple[str, str], float]:
        name = f"store-{len(texts)}"
        if ours:
            corpus = CorpusTexts([make_store(texts, name)])
        else:
            corpus = CorpusTexts((), [write_documents(tmp_path / f"{name}.parquet", texts)], TEXT)
        queries = write_queries(tmp_path / "queries.parquet", QUERY_TEXTS)
        candidates = write_candidates(tmp_path / "candidates.gz", dict.fromkeys(QUERY_TEXTS, texts))
        rerank(model, corpus, queries, candidates, given, tmp_path / "new.gz")
        run = read_run(tmp_path / "new.gz")
        return {(query, name): value for query, ranking in run.items() for name, value in ranking}

    return scores


@pytest.fixture(params=["ours", "theirs"])
def model(request: pytest.FixtureRequest, tiny_encoder: Path, tmp_path: Path) -> tuple[Path, bool]:
    if request.param == "theirs":
        return write_roberta(tmp_path / "theirs"), False
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "ours")
    return tmp_path / "ours", True


def test_a_document_has_the_score_of_its_passages(
    model: tuple[Path, bool], score: Callable[..., dict[tuple[str, str], float]]
) -> None:
    cut = {name: text_passages(body, PASSAGES) for name, body in BODIES.items()}
    assert max(map(len, cut.values())) == 10
    alone = {f"{name}-{position}": text for name, some in cut.items() for position, text in enumerate(some)}
    parts = score(*model, alone, options())
    found = score(*model, BODIES, options(passages=PASSAGES))
    for (query, name), value in found.items():
        expected = max([parts[query, f"{name}-{position}"] for position in range(len(cut[name]))])
        assert value == pytest.approx(expected, abs=1e-5)


def test_a_document_of_one_passage_is_scored_as_without(
    model: tuple[Path, bool], score: Callable[..., dict[tuple[str, str], float]]
) -> None:
    whole = score(*model, BODIES, options())
    long = PassagesConfig(words=1000, stride=500)
    assert score(*model, BODIES, options(passages=long)) == whole


def test_of_very_many_passages_thirty_are_scored(
    model: tuple[Path, bool], score: Callable[..., dict[tuple[str, str], float]]
) -> None:
    passages = PassagesConfig(words=1, stride=1)
    words = [f"word{number:02d}" for number in range(80)]
    bounds = [round(position * 79 / 29) for position in range(30)]
    parts = score(*model, {words[position]: words[position] for position in bounds}, options())
    found = score(*model, {"long": " ".join(words)}, options(passages=passages))
    for (query, _), value in found.items():
        assert value == pytest.approx(max(parts[query, words[position]] for position in bounds), abs=1e-5)
