"""Queries for documents, from tiny random models: against a plain computation, and the same however the work is cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from small_lucene import TEXT
from transformers import AutoModelForSeq2SeqLM

from irpretrain.config.retrieval import Doc2QueryConfig
from irpretrain.contracts import EXPANSIONS
from irpretrain.errors import ConfigError, InputError
from irpretrain.models.query_generator import choose
from irpretrain.randomness import generator
from irpretrain.retrieval import query_generation
from irpretrain.retrieval.query_generation import QueryWriter, generate_queries
from irpretrain.text.pair_tokenizer import EncoderPieces
from small_documents import write_documents
from tiny_models import LETTERS, write_bart, write_t5

MODELS = {"t5": write_t5, "bart": write_bart}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MODELS[request.param](tmp_path_factory.mktemp(request.param) / "model")


def body(number: int) -> str:
    """0 to 24 words."""
    draw = np.random.default_rng(number)
    return " ".join(draw.choice(LETTERS, number % 25))


BODIES = {f"d{number:02d}": body(number) for number in range(30)}


def options(**changes: Any) -> Doc2QueryConfig:
    given = {"queries": 3, "query_length": 6, "max_length": 24}
    return Doc2QueryConfig(
        type="doc2query",
        model="given",
        compute={"device": "cpu", "checkpoint_minutes": 0},
        **{**given, **changes},
    )


@pytest.fixture
def generate(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[pa.Table, dict[str, int]]]:
    for name, value in (("TOP_K", 5), ("BATCH_QUERIES", 12), ("BLOCK", 7)):
        monkeypatch.setattr(query_generation, name, value)

    def run(documents: Path, name: str, **changes: Any) -> tuple[pa.Table, dict[str, int]]:
        output = tmp_path / f"{name}.parquet"
        counts = generate_queries(model, documents, options(**changes), TEXT, output, tmp_path / "unfinished")
        return EXPANSIONS.read(output), counts

    return run


def of(table: pa.Table) -> dict[str, list[str]]:
    return {row["document_id"]: row["queries"] for row in table.to_pylist()}


def scores(network: Any, given: list[int], before: list[int]) -> list[float]:
    """Logits of the piece that follows `before`, of one document without padding, computed from the beginning."""
    with torch.no_grad():
        out = network(
            input_ids=torch.tensor([given]), decoder_input_ids=torch.tensor([before]), use_cache=False
        )
    return out.logits[0, -1].tolist()


def plain_query(network: Any, given: list[int], numbers: np.ndarray, top_k: int) -> list[int]:
    """One query, a piece at a time: the likeliest pieces in turn until their probabilities exceed the number drawn."""
    found = [network.config.decoder_start_token_id]
    for number in numbers:
        logits = scores(network, given, found)
        best = sorted(range(len(logits)), key=lambda piece: -logits[piece])[:top_k]
        weights = np.exp([logits[piece] - logits[best[0]] for piece in best])
        below = 0.0
        chosen = None
        for piece, weight in zip(best, weights / weights.sum(), strict=True):
            below += weight
            if chosen is None and number < below:
                chosen = piece
        if chosen == network.config.eos_token_id:
            break
        found.append(chosen)
    return found[1:]


def test_sampled_queries_are_those_of_a_plain_computation(tmp_path: Path, model: Path, generate: Any) -> None:
    """One document and one query at a time, no padding, no cache."""
    table, counts = generate(write_documents(tmp_path / "documents.parquet", BODIES), "all")
    network, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(model).eval(), EncoderPieces(model)
    expected = {}
    for name, text in BODIES.items():
        numbers = generator(1, "doc2query", name).random((3, 6))
        [pieces] = tokenizer.encode([text])
        retained = [*tokenizer.prefix, *pieces.ids[: tokenizer.room(24)], *tokenizer.suffix]
        queries = [plain_query(network, retained, row, 5) for row in numbers] if text else []
        expected[name] = [text for text in map(tokenizer.decode, map(np.array, queries)) if text]
    assert of(table) == expected
    lengths = {len(query.split()) for queries in expected.values() for query in queries}
    assert len(lengths) > 3, "queries end at different places"
    cut = sum(len(text.split()) > tokenizer.room(24) for text in BODIES.values())
    assert counts == {
        "documents": 30,
        "documents_without_text": 2,
        "documents_cut": cut,
        "queries": sum(map(len, expected.values())),
        "empty_queries": 28 * 3 - sum(map(len, expected.values())),
    }
    assert cut > 0


def test_any_cut_into_shards_and_blocks_gives_the_same_bytes(
    tmp_path: Path, generate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(write_documents(tmp_path / "documents.parquet", BODIES), "whole")
    keys, parts = list(BODIES), []
    for number, (first, last, block) in enumerate([(0, 7, 2), (7, 8, 5), (8, 30, 11)]):
        chosen = {key: BODIES[key] for key in keys[first:last]}
        shard = write_documents(tmp_path / f"shard-{number}.parquet", chosen, first)
        monkeypatch.setattr(query_generation, "BLOCK", block)
        parts.append(generate(shard, f"part-{number}")[0])
    EXPANSIONS.write(tmp_path / "joined.parquet", pa.concat_tables(parts))
    assert (tmp_path / "joined.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_more_queries_begin_with_the_fewer_and_another_seed_has_others(tmp_path: Path, generate: Any) -> None:
    documents = write_documents(tmp_path / "documents.parquet", BODIES)
    few, many, other = (of(generate(documents, "out", **c)[0]) for c in ({}, {"queries": 5}, {"seed": 2}))
    assert all(many[name][: len(few[name])] == few[name] for name in few)
    assert many != few
    assert other != few


@pytest.mark.parametrize("fails_at", [1, 2, 5])
def test_a_broken_off_job_goes_on_after_its_last_batch(
    tmp_path: Path, generate: Any, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    documents = write_documents(tmp_path / "documents.parquet", BODIES)
    original, written = QueryWriter._write, list[list[str]]()

    def write(self: QueryWriter, texts: Any, pieces: Any, batch: Any) -> Any:
        names = [texts[position].document_id for position in batch.items]
        if len(written) == fails_at and "killed" in stage:
            raise KeyboardInterrupt
        written.append(names)
        return original(self, texts, pieces, batch)

    monkeypatch.setattr(QueryWriter, "_write", write)
    monkeypatch.setattr(query_generation, "BLOCK", 15)
    stage = ["whole"]
    expected = generate(documents, "whole")
    in_one_go = [*written]
    written.clear()
    stage = ["killed"]
    with pytest.raises(KeyboardInterrupt):
        generate(documents, "killed")
    stage = ["resumed"]
    assert generate(documents, "killed") == expected
    assert written == in_one_go
    assert list((tmp_path / "unfinished").glob("*/")) == []


def test_a_broken_off_job_goes_on_after_its_last_block(
    tmp_path: Path, generate: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = write_documents(tmp_path / "documents.parquet", BODIES)
    whole, expected = generate(documents, "whole")
    original, done = QueryWriter.rows, list[int]()

    def fail(self: QueryWriter, texts: Any, retained: Any) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(len(texts))
        return original(self, texts, retained)

    with monkeypatch.context() as patch:
        patch.setattr(QueryWriter, "rows", fail)
        with pytest.raises(KeyboardInterrupt):
            generate(documents, "killed")
    assert not (tmp_path / "killed.parquet").exists()
    assert generate(documents, "killed") == (whole, expected)
    assert " texts were done before" in capsys.readouterr().err


def test_one_piece_is_drawn_in_proportion_to_probabilities() -> None:
    """Of 1/2, 1/4, 1/8 and 1/8 the three likeliest are drawn from: 4/7, 2/7 and 1/7, the likeliest first."""
    logits = torch.log(torch.tensor([[0.125, 0.5, 0.124, 0.25]])).repeat(7, 1)
    drawn = choose(logits, np.array([0, 0.57, 0.572, 0.85, 0.858, 0.99, 1 - 2**-53]), 3)
    assert drawn.tolist() == [1, 1, 3, 3, 0, 0, 0]
    assert choose(logits, np.full(7, 0.999), 1).tolist() == [1] * 7
    assert choose(logits, np.full(7, 0.999), 99).tolist() == [2] * 7
    with pytest.raises(FloatingPointError):
        choose(torch.tensor([[0.0, float("nan")]]), np.zeros(1), 2)


def test_the_words_before_a_document_are_read(tmp_path: Path, generate: Any) -> None:
    documents = write_documents(tmp_path / "documents.parquet", BODIES)
    assert of(generate(documents, "with", prefix="a b ")[0]) != of(generate(documents, "without")[0])


def test_what_is_no_generator_is_refused(tmp_path: Path, model: Path, tiny_encoder: Path) -> None:
    def refused(directory: Path, **changes: Any) -> str:
        with pytest.raises((InputError, ConfigError)) as caught:
            QueryWriter(directory, options(**changes), torch.device("cpu"))
        return str(caught.value)

    assert "the model cannot be loaded" in refused(tiny_encoder)
    assert "the model cannot be loaded" in refused(tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in model.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    network = AutoModelForSeq2SeqLM.from_pretrained(model)
    (copy / "model.safetensors").unlink()
    torch.save(network.state_dict(), copy / "pytorch_model.bin")
    assert "model.safetensors (weights in other files are not read)" in refused(copy)
    if network.config.model_type == "bart":
        assert "max_length: 33 is longer than the model's 32 positions" in refused(model, max_length=33)
        assert "query_length: 33" in refused(model, query_length=33)
    network.config.decoder_start_token_id = network.generation_config.decoder_start_token_id = None
    network.save_pretrained(copy)
    assert "has decoder_start_token_id" in refused(copy)
