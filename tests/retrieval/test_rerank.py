"""Re-ranking: scores equal Hugging Face's own, one pair at a time, whatever the batches and the order."""

import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.evaluation.runs import read_run, write_run
from irpretrain.foundation.errors import ConfigError, InputError, TrainingError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_batches import EncoderBatch, PackedBatch
from irpretrain.retrieval.pair_scoring import SavedScores, batch_by_length
from irpretrain.retrieval.rerank import CorpusTexts, rerank, rerank_run
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.checkpoints import CheckpointClock
from irpretrain.training.leftovers import leftovers
from small_documents import write_candidates, write_queries

OPTIONS = RerankingConfig(max_length=24, query_length=6, batch_tokens=512, compute={"checkpoint_minutes": 0})
QUERY_TEXTS = {"q1": "word01 cab", "q2": "word02 word03 word04 word05 word06 word07 word08", "q3": ""}
BODIES = {f"d{i:02}": " ".join(f"word{(i * j) % 80:02}" for j in range(1, i + 1)) for i in range(40)}


@pytest.fixture(scope="module")
def model(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model") / "model"
    CrossEncoderModel.from_encoder(tiny_encoder).save(directory)
    return directory


@pytest.fixture
def files(tmp_path: Path, make_store: Callable[..., Path]) -> dict[str, Path]:
    return {
        "queries": write_queries(tmp_path / "queries.parquet", QUERY_TEXTS),
        "candidates": write_candidates(tmp_path / "candidates.run.gz", dict.fromkeys(("q1", "q2"), BODIES)),
        "store": make_store(BODIES),
    }


def call(
    model: Path, files: dict[str, Path], output: Path, options: RerankingConfig = OPTIONS, **more: Path
) -> dict[str, int]:
    corpus = CorpusTexts([files["store"]])
    return rerank(model, corpus, files["queries"], files["candidates"], options, output, **more)


def reference_score(model: Path, query: str, body: str) -> float:
    """One pair by Hugging Face alone: cut the query, then the document."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForSequenceClassification.from_pretrained(model).eval()
    pieces = tokenizer(query, add_special_tokens=False)["input_ids"][: OPTIONS.query_length]
    room = OPTIONS.max_length - 3 - len(pieces)
    document = tokenizer(body, add_special_tokens=False)["input_ids"][:room]
    start = [tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]
    ids = [*start, *document, tokenizer.sep_token_id]
    types = [0] * len(start) + [1] * (len(document) + 1)
    with torch.no_grad():
        return float(network(torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits)


def test_scores_are_those_of_hugging_face(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    counts = call(model, files, tmp_path / "run.gz")
    assert counts == {"queries": 3, "queries_without_candidates": 1, "pairs": 80}
    run = read_run(tmp_path / "run.gz")
    for query in ("q1", "q2"):
        found = dict(run[query])
        assert found.keys() == BODIES.keys()
        for document in ("d00", "d01", "d07", "d17", "d39"):
            expected = reference_score(model, QUERY_TEXTS[query], BODIES[document])
            assert found[document] == pytest.approx(expected, abs=1e-6)
        assert all(float(np.float32(score)) == float(np.float32(str(score))) for score in found.values())


def test_a_job_loads_its_model_on_its_threads_and_opens_its_stores_once(
    model: Path, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, opened = [], []
    load, open_stores = CrossEncoderModel.load, TokenStore.open
    monkeypatch.setattr(
        CrossEncoderModel, "load", lambda *given: threads.append(torch.get_num_threads()) or load(*given)
    )
    monkeypatch.setattr(TokenStore, "open", lambda given: opened.append(given) or open_stores(given))
    options = OPTIONS.model_copy(update={"compute": ComputeConfig(threads=3)})
    call(model, files, tmp_path / "run.gz", options, checkpoints=tmp_path / "checkpoints")
    assert threads == [3]
    assert opened == [[files["store"]]]


def test_order_of_candidates_changes_no_bit(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    call(model, files, tmp_path / "one.gz")
    shuffled = [(d, float(random.Random(d).random())) for d in BODIES]
    write_run(files["candidates"], {"q2": shuffled[::-1], "q1": shuffled}, "other")
    call(model, files, tmp_path / "two.gz")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_the_first_stage_s_best_are_scored_as_in_larger_batches(
    model: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    call(model, files, tmp_path / "all.gz", OPTIONS.model_copy(update={"batch_tokens": 16384}))
    counts = call(model, files, tmp_path / "run.gz", OPTIONS.model_copy(update={"depth": 3}))
    assert counts["pairs"] == 6
    expected = {name: score for name, score in read_run(tmp_path / "all.gz")["q1"] if name < "d03"}
    assert dict(read_run(tmp_path / "run.gz")["q1"]) == pytest.approx(expected, abs=1e-6)


def test_equal_scores_are_ordered_by_document(model: Path, make_store: Callable[..., Path]) -> None:
    """A constant scorer must not keep the candidates' order."""
    store = TokenStore.open([make_store(dict.fromkeys("cab", "word01"))])
    constant = CrossEncoderModel.load(model)
    constant.classifier.classifier.weight.data.zero_()
    candidates = {"q1": [("c", 3.0), ("a", 2.0), ("b", 1.0)]}
    run = rerank_run(constant, load_tokenizer(model), store, QUERY_TEXTS, candidates, OPTIONS)
    assert [document for document, _ in run["q1"]] == ["a", "b", "c"]
    assert len({score for _, score in run["q1"]}) == 1


def test_model_keeps_its_mode_and_threads_come_back(model: Path, files: dict[str, Path]) -> None:
    store, tokenizer = TokenStore.open([files["store"]]), load_tokenizer(model)
    network, threads = CrossEncoderModel.load(model, dropout=0.5).train(), torch.get_num_threads()
    options = OPTIONS.model_copy(update={"compute": ComputeConfig(threads=threads + 1, device="cpu")})
    inputs = network, tokenizer, store, QUERY_TEXTS, {"q1": [("d05", 1.0)], "q2": [("d39", 1.0)]}, options
    first, second = rerank_run(*inputs), rerank_run(*inputs)
    assert network.training
    assert torch.get_num_threads() == threads
    assert first == second
    assert not any(parameter.grad is not None for parameter in network.parameters())


def test_packed_and_padded_pairs_score_the_same(
    model: Path, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 1e-6 in single precision; packed batches are filled up with real word pieces."""
    read: dict[str, list[tuple[int, int]]] = {"off": [], "on": [], "auto": []}
    original, reading = CrossEncoderModel.encode, "off"

    def look(self: CrossEncoderModel, batch: EncoderBatch) -> object:
        if isinstance(batch, PackedBatch):
            read[reading].append((len(batch.cls_rows) * batch.max_length, len(batch.input_ids)))
        else:
            read[reading].append((batch.input_ids.size, int(batch.attention_mask.sum())))
        return original(self, batch)

    monkeypatch.setattr(CrossEncoderModel, "encode", look)
    for reading in read:
        compute = ComputeConfig(device="cpu", packing=reading)
        call(model, files, tmp_path / f"{reading}.gz", OPTIONS.model_copy(update={"compute": compute}))
    padded, packed, chosen = (read_run(tmp_path / f"{packing}.gz") for packing in read)
    assert chosen == packed
    for query in padded:
        assert dict(padded[query]) == pytest.approx(dict(packed[query]), abs=1e-6)
    assert read["auto"] == read["on"]
    assert all(positions <= 512 for positions, _ in read["off"])
    assert all(pieces <= 512 for _, pieces in read["on"])
    assert any(positions > 512 for positions, _ in read["on"])  # more rows than padding would leave room for


def test_bf16_is_close(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    call(model, files, tmp_path / "full.gz")
    narrow = OPTIONS.model_copy(update={"compute": ComputeConfig(precision="bf16", device="cpu")})
    call(model, files, tmp_path / "narrow.gz", narrow)
    full, half = (dict(read_run(tmp_path / f"{name}.gz")["q1"]) for name in ("full", "narrow"))
    assert full != half
    assert full == pytest.approx(half, abs=0.02)


def test_faults_are_named(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    write_run(files["candidates"], {"q9": [("d01", 1.0)]}, "x")
    with pytest.raises(InputError, match=r"candidates\.run\.gz: query 'q9' is not in the data set"):
        call(model, files, tmp_path / "run.gz")
    write_run(files["candidates"], {"q1": [("d99", 1.0)]}, "x")
    with pytest.raises(InputError, match="in none of 1 token store, such as d99"):
        call(model, files, tmp_path / "run.gz")
    write_run(files["candidates"], {"q1": [("d01", 1.0)]}, "x")
    for change, fault in (
        ({"query_length": 21}, "leaves no room for a document"),
        ({"max_length": 65}, r"reranking\.max_length: 65 is longer than the encoder's 64 positions"),
    ):
        with pytest.raises(ConfigError, match=fault):
            call(model, files, tmp_path / "run.gz", OPTIONS.model_copy(update=change))
    assert not (tmp_path / "run.gz").exists()


def test_scores_that_are_no_numbers_are_refused(model: Path, files: dict[str, Path]) -> None:
    broken = CrossEncoderModel.load(model)
    broken.classifier.classifier.bias.data.fill_(float("nan"))
    store = TokenStore.open([files["store"]])
    saved: list[dict[str, Any]] = []
    with pytest.raises(TrainingError, match="score of document 'd01' for query 'q1' is nan"):
        rerank_run(
            broken,
            load_tokenizer(model),
            store,
            QUERY_TEXTS,
            {"q1": [("d01", 1.0)]},
            OPTIONS,
            saved_scores=SavedScores(None, CheckpointClock(0), saved.append),
        )
    assert saved == []


def test_no_candidates_give_an_empty_run(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    write_run(files["candidates"], {}, "x")
    counts = call(model, files, tmp_path / "run.gz")
    assert counts == {"queries": 3, "queries_without_candidates": 3, "pairs": 0}
    assert read_run(tmp_path / "run.gz") == {}


@given(st.lists(st.integers(3, 40), max_size=60), st.integers(8, 200), st.booleans(), st.randoms())
def test_batches_keep_their_budget_and_miss_nothing(
    lengths: list[int], budget: int, padded: bool, shuffler: random.Random
) -> None:
    pairs = [(f"q{i % 3}", f"d{i}") for i in range(len(lengths))]
    batches = list(batch_by_length(pairs, lengths, budget, padded))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert longest == lengths[batch[0]]
        pieces = longest * len(batch) if padded else sum(lengths[i] for i in batch)
        assert len(batch) == 1 or pieces <= budget
    for batch, following in itertools.pairwise(batches):
        added = lengths[batch[0]] if padded else lengths[following[0]]
        pieces = added * len(batch) if padded else sum(lengths[i] for i in batch)
        assert pieces + added > budget, "a batch ends where the next pair does not fit"
    order = list(range(len(lengths)))
    shuffler.shuffle(order)
    other = batch_by_length([pairs[i] for i in order], [lengths[i] for i in order], budget, padded)
    assert [[pairs[order[i]] for i in batch] for batch in other] == [
        [pairs[i] for i in batch] for batch in batches
    ]
    done = len(batches) // 2
    remaining = batch_by_length(pairs, lengths, budget, padded, sum(map(len, batches[:done])))
    assert list(remaining) == batches[done:]


@pytest.fixture
def encoding(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the model has scored, pairs of each batch; at which batch it is interrupted, and what is added to scores."""
    state, encode = SimpleNamespace(scored=[], breaks_at=0, added=0.0), CrossEncoderModel.encode

    def counted(self: CrossEncoderModel, batch: PackedBatch) -> Any:
        state.scored.append(len(batch.cls_rows))
        if len(state.scored) == state.breaks_at:
            raise KeyboardInterrupt
        scores, states = encode(self, batch)
        return scores + state.added, states

    monkeypatch.setattr(CrossEncoderModel, "encode", counted)
    return state


def break_off(
    encoding: SimpleNamespace,
    batch: int,
    model: Path,
    files: dict[str, Path],
    output: Path,
    checkpoints: Path,
) -> None:
    """Call the re-ranking, which is interrupted in a batch; the next call is not."""
    encoding.scored.clear()
    encoding.breaks_at = batch
    with pytest.raises(KeyboardInterrupt):
        call(model, files, output, checkpoints=checkpoints)
    encoding.breaks_at = 0


def test_a_job_that_goes_on_where_sequences_are_packed_otherwise_scores_every_pair(
    model: Path,
    files: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoding: SimpleNamespace,
) -> None:
    """Broken off where padding counts, it goes on where it does not, in other batches."""
    call(model, files, tmp_path / "whole.run.gz")
    break_off(encoding, 3, model, files, tmp_path / "run.gz", tmp_path / "checkpoints")
    monkeypatch.setattr(
        "irpretrain.retrieval.pair_scoring.batch_by_length",
        lambda pairs, lengths, budget, *others: batch_by_length(pairs, lengths, 2 * budget, *others),
    )
    call(model, files, tmp_path / "run.gz", checkpoints=tmp_path / "checkpoints")
    whole, resumed = (read_run(tmp_path / name) for name in ("whole.run.gz", "run.gz"))
    for query, ranking in whole.items():
        assert dict(resumed[query]) == pytest.approx(dict(ranking), abs=1e-5)


def test_a_job_that_is_broken_off_goes_on_and_writes_the_same_bytes(
    model: Path,
    files: dict[str, Path],
    tmp_path: Path,
    encoding: SimpleNamespace,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Broken off in the third batch, the job scores only what is left; what it kept is gone at the end."""
    checkpoints = tmp_path / "results" / "checkpoints"
    call(model, files, tmp_path / "whole.run.gz")
    whole = [*encoding.scored]
    break_off(encoding, 3, model, files, tmp_path / "run.gz", checkpoints)
    (leftover,) = leftovers(tmp_path)  # what `make checkpoints` lists
    assert leftover.output == str(tmp_path / "run.gz")
    encoding.scored.clear()
    call(model, files, tmp_path / "run.gz", checkpoints=checkpoints)
    assert encoding.scored == whole[2:]
    assert re.search(r"\[re-rank\] \d+ of \d+ pairs were scored before\n", capsys.readouterr().err)
    assert (tmp_path / "run.gz").read_bytes() == (tmp_path / "whole.run.gz").read_bytes()
    assert list(checkpoints.iterdir()) == []


def test_retained_scores_of_another_number_of_pairs_are_not_used() -> None:
    saved: list[dict[str, Any]] = []
    SavedScores(None, CheckpointClock(0), saved.append).save(np.ones(3, np.float32), 2)
    retained = SavedScores(saved[0], CheckpointClock(0), saved.append)
    assert [retained.resume(pairs)[1] for pairs in (2, 3, 4)] == [0, 2, 0]
    assert retained.resume(3)[0].tolist() == [1, 1, 1]


def test_retained_scores_that_are_nan_are_computed_again(
    model: Path,
    files: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoding: SimpleNamespace,
) -> None:
    """Earlier code saved them; those that take their place are retained."""
    saved: list[dict[str, Any]] = []
    SavedScores(None, CheckpointClock(0), saved.append).save(np.float32([1, np.nan, 0]), 2)
    scores, done = SavedScores(saved[0], CheckpointClock(0), saved.append).resume(3)
    assert (scores.tolist(), done) == ([0, 0, 0], 0)
    call(model, files, tmp_path / "whole.run.gz")
    whole, job = [*encoding.scored], (model, files, tmp_path / "run.gz", tmp_path / "checkpoints")
    with monkeypatch.context() as patch:
        patch.setattr("irpretrain.retrieval.pair_scoring._refuse_broken", lambda *_: None)
        encoding.added = np.nan
        break_off(encoding, 4, *job)
    encoding.added = 0.0
    break_off(encoding, 3, *job)
    assert encoding.scored == whole[:3]
    encoding.scored.clear()
    call(model, files, tmp_path / "run.gz", checkpoints=tmp_path / "checkpoints")
    assert encoding.scored == whole[2:]
    assert (tmp_path / "run.gz").read_bytes() == (tmp_path / "whole.run.gz").read_bytes()
