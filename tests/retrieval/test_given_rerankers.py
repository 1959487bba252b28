"""Re-rankers that were not made here, and passages: scores are those of the libraries called on the two texts."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DistilBertForSequenceClassification,
)

from irpretrain.config.retrieval import PassagesConfig, RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.evaluation.runs import read_run, write_run
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import CorpusTexts, rerank
from irpretrain.text.passages import text_passages
from small_documents import document_rows, write_candidates, write_documents, write_queries
from tiny_models import write_bert, write_distilbert, write_roberta

OPTIONS = RerankingConfig(
    max_length=30, query_length=6, batch_tokens=512, compute=ComputeConfig(device="cpu")
)
TEXT = TextConfig(words="alphanumeric")
QUERY_TEXTS = {"q1": "word01 word02", "q2": "word03 word04 word05", "q3": ""}
BODIES = {f"d{i:02}": " ".join(f"word{(i * j) % 80:02}" for j in range(1, i + 1)) for i in range(20)}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    rows = [row | {"title": "word07"} for row in document_rows(BODIES)]
    for shard in range(2):
        DOCUMENTS.write(tmp_path / f"documents-{shard}.parquet", rows[shard * 10 : shard * 10 + 10])
    return {
        "queries": write_queries(tmp_path / "queries.parquet", QUERY_TEXTS),
        "candidates": write_candidates(tmp_path / "run.gz", dict.fromkeys(("q1", "q2"), BODIES)),
    }


def scores(model: Path, files: dict[str, Path], options: RerankingConfig = OPTIONS, text: TextConfig = TEXT):
    folder = files["queries"].parent
    documents = [folder / "documents-0.parquet", folder / "documents-1.parquet"]
    counts = score_all(model, CorpusTexts((), documents, text), files, options)
    assert counts == {"queries": 3, "queries_without_candidates": 1, "pairs": 40}
    return scores_of(folder / "new.gz")


def score_all(model: Path, corpus: CorpusTexts, files: dict[str, Path], options: RerankingConfig):
    output = files["queries"].parent / "new.gz"
    return rerank(model, corpus, files["queries"], files["candidates"], options, output)


def scores_of(run: Path) -> dict[tuple[str, str], float]:
    return {(q, d): score for q, ranking in read_run(run).items() for d, score in ranking}


def direct(model: Path) -> dict[tuple[str, str], float]:
    """One pair at a time: tokenizer(query, document), then the model; of two labels the difference."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForSequenceClassification.from_pretrained(model).eval()
    found = {}
    for query in ("q1", "q2"):
        for document, body in BODIES.items():
            text = f"word07. {body}" if body else "word07"
            with torch.no_grad():
                given = tokenizer(QUERY_TEXTS[query], text, return_tensors="pt")
                logits = network(**given).logits[0]
            found[query, document] = float(logits[0] if len(logits) == 1 else logits[1] - logits[0])
    return found


@pytest.mark.parametrize(
    "write",
    [lambda path: write_bert(path, 1), lambda path: write_bert(path, 2), write_distilbert, write_roberta],
    ids=["one label", "two labels", "without token types", "two separators"],
)
def test_scores_are_those_of_the_model_called_on_the_texts(tmp_path: Path, files, write) -> None:
    model = write(tmp_path / "model")
    expected = direct(model)
    assert max(expected.values()) - min(expected.values()) > 0.01
    assert scores(model, files) == pytest.approx(expected, abs=1e-5)


def test_long_texts_are_cut_as_ours_are(
    tmp_path: Path, files, tiny_encoder: Path, make_store: Callable[..., Path]
) -> None:
    """One of ours, read as a stranger, scores as with the token store: query cut first, then document."""
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "model")
    text = TEXT.model_copy(update={"fields": ["body"], "max_word_pieces": 5})
    options = OPTIONS.model_copy(update={"max_length": 12, "query_length": 2})
    foreign = scores(tmp_path / "model", files, options, text)
    score_all(tmp_path / "model", CorpusTexts([make_store(BODIES, max_word_pieces=5)]), files, options)
    assert foreign == pytest.approx(scores_of(tmp_path / "new.gz"), abs=1e-6)
    whole = scores(tmp_path / "model", files, options, TEXT.model_copy(update={"fields": ["body"]}))
    assert whole != pytest.approx(foreign, abs=1e-6), "room for two more pieces"


def test_no_batch_has_more_word_pieces_than_asked(tmp_path: Path, files, monkeypatch) -> None:
    plain, sizes = DistilBertForSequenceClassification.forward, set[int]()

    def forward(model, input_ids, **inputs):
        sizes.add(input_ids.numel())
        return plain(model, input_ids, **inputs)

    monkeypatch.setattr(DistilBertForSequenceClassification, "forward", forward)
    scores(write_distilbert(tmp_path / "model"), files, OPTIONS.model_copy(update={"batch_tokens": 70}))
    assert 50 < max(sizes) <= 70


def test_faults_are_named(tmp_path: Path, files) -> None:
    model = write_bert(tmp_path / "model", 1)
    with pytest.raises(ConfigError, match=r"reranking\.max_length: 65 is longer"):
        scores(model, files, OPTIONS.model_copy(update={"max_length": 65}))
    write_run(files["candidates"], {"q1": [("d99", 1.0)]}, "x")
    with pytest.raises(InputError, match="1 document not in the corpus, such as d99"):
        scores(model, files)


# A document has the score of its passages (BERT-maxP), each of which is scored as if it were a document.

LONG_BODIES = {
    f"d{i:02}": " ".join(f"word{(i * j) % 80:02}" for j in range(1, i + 1)) for i in range(0, 40, 3)
}
PASSAGES = PassagesConfig(words=6, stride=4)
Score = Callable[..., dict[tuple[str, str], float]]


def in_passages(passages: PassagesConfig) -> RerankingConfig:
    return OPTIONS.model_copy(update={"passages": passages})


@pytest.fixture
def score(tmp_path: Path, make_store: Callable[..., Path]) -> Score:
    """Return a function that scores texts by a model: ours, or one with a tokenizer of its own."""

    def scores_of_texts(
        model: Path, ours: bool, texts: dict[str, str], options: RerankingConfig
    ) -> dict[tuple[str, str], float]:
        name = f"store-{len(texts)}"
        if ours:
            corpus = CorpusTexts([make_store(texts, name)])
        else:
            corpus = CorpusTexts((), [write_documents(tmp_path / f"{name}.parquet", texts)], TEXT)
        inputs = {
            "queries": write_queries(tmp_path / "queries.parquet", QUERY_TEXTS),
            "candidates": write_candidates(tmp_path / "candidates.gz", dict.fromkeys(("q1", "q2"), texts)),
        }
        score_all(model, corpus, inputs, options)
        return scores_of(tmp_path / "new.gz")

    return scores_of_texts


@pytest.fixture(params=["ours", "theirs"])
def model(request: pytest.FixtureRequest, tiny_encoder: Path, tmp_path: Path) -> tuple[Path, bool]:
    if request.param == "theirs":
        return write_roberta(tmp_path / "theirs"), False
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "ours")
    return tmp_path / "ours", True


def test_a_document_has_the_score_of_its_passages(model: tuple[Path, bool], score: Score) -> None:
    cut = {name: text_passages(body, PASSAGES) for name, body in LONG_BODIES.items()}
    assert max(map(len, cut.values())) == 10
    alone = {f"{name}-{position}": text for name, some in cut.items() for position, text in enumerate(some)}
    parts = score(*model, alone, OPTIONS)
    found = score(*model, LONG_BODIES, in_passages(PASSAGES))
    for (query, name), value in found.items():
        expected = max([parts[query, f"{name}-{position}"] for position in range(len(cut[name]))])
        assert value == pytest.approx(expected, abs=1e-5)


def test_a_document_of_one_passage_is_scored_as_without(model: tuple[Path, bool], score: Score) -> None:
    whole = score(*model, LONG_BODIES, OPTIONS)
    long = PassagesConfig(words=1000, stride=500)
    assert score(*model, LONG_BODIES, in_passages(long)) == whole


def test_of_very_many_passages_thirty_are_scored(model: tuple[Path, bool], score: Score) -> None:
    passages = PassagesConfig(words=1, stride=1)
    words = [f"word{number:02d}" for number in range(80)]
    bounds = [round(position * 79 / 29) for position in range(30)]
    parts = score(*model, {words[position]: words[position] for position in bounds}, OPTIONS)
    found = score(*model, {"long": " ".join(words)}, in_passages(passages))
    for (query, _), value in found.items():
        assert value == pytest.approx(max(parts[query, words[position]] for position in bounds), abs=1e-5)
