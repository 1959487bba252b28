"""A job's key depends on everything that decides its result: no job goes on from another's unfinished work.

Ingredients are those of the job that the code hands to `Checkpoints`, parameters those of the function's signature and
options those of the configuration, so that a new one needs a line in `JOBS`.
"""

import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import pytest
from pydantic import BaseModel
from tiny_training import training_options

import irpretrain
from irpretrain.config.base import leaves
from irpretrain.config.experiments import QuestionAnsweringConfig
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import GROUPS, QUERIES, SPAN_QUESTIONS, TERM_TARGETS
from irpretrain.foundation.provenance import content_hash
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.objectives.groups import Span, group
from irpretrain.retrieval.rerank import CorpusTexts
from irpretrain.text.token_store import write_token_store
from irpretrain.training.finetune import Topics
from small_documents import write_documents

CPU = {"device": "cpu"}
TEXT = TextConfig(words="alphanumeric")
BODY = TextConfig(words="alphanumeric", fields=["body"])
BODIES = {f"d{number}": f"word{number:02d} word{number + 10} cab" for number in range(8)}
SHORT = {"max_length": 24, "query_length": 4}
ENCODER = EncoderConfig(path="tiny", label="tiny")
TRAINING = {"steps": 6, "batch_size": 2, "compute": CPU}
WEIGHTING = TermWeightsConfig(
    label="x", dataset="x", max_length=12, training=TRAINING, inference={"compute": CPU}
)
TUNING = FinetuningConfig(
    **SHORT, negatives=1, batch_sizes=[2], few_shot_batch_sizes=[2], epochs=1, compute=CPU
)
RERANKING = RerankingConfig(**SHORT, compute=CPU)
ANSWERING = QuestionAnsweringConfig(max_length=24, stride=4, batch_size=8, compute=CPU)


class Caught(Exception):
    """Ends a job as soon as its key is known."""


class Job(NamedTuple):
    module: str
    function: str
    arguments: dict[str, Any]
    # Ingredient of the key → changed arguments, each of which must change it.
    changes: dict[str, list[dict[str, Any]]]
    # Parameters that do not decide the result: names, and outputs beside that of the key.
    free: set[str]
    # Ingredient that holds options → their class, and the keys of it that are left out.
    options: dict[str, tuple[type[BaseModel], set[str]]]


# Inputs, each with another of the same kind


class Inputs:
    """Small files; `self("name")` is a file and `self("name", 1)` one with other content."""

    def __init__(self, folder: Path, encoder: Path, other_encoder: Path) -> None:
        self._folder, self._made = folder, dict[tuple[str, int], Path]()
        self._encoders = encoder, other_encoder

    def __call__(self, name: str, other: int = 0) -> Path:
        if name == "encoder":
            return self._encoders[other]
        path = self._folder / f"{name}-{other}"
        if not path.exists():
            getattr(self, f"_{name}")(path, other)
        return path

    def _model(self, path: Path, other: int) -> None:
        CrossEncoderModel.from_encoder(self("encoder"), seed=other).save(path)

    def _regressor(self, path: Path, other: int) -> None:
        TermWeightRegressor.from_encoder(self("encoder"), seed=other).save(path)

    def _documents(self, path: Path, other: int) -> None:
        write_documents(path, BODIES | ({"d9": "bad"} if other else {}))

    def _tokens(self, path: Path, other: int) -> None:
        write_token_store(self("documents", other), self("encoder"), TEXT, path)

    def _groups(self, path: Path, other: int) -> None:
        queries = ("word00 cab", "word15" if other else "word16")
        GROUPS.write(path, [group((0, n), queries, [Span(f"d{n}")]) for n in range(8)])

    def _queries(self, path: Path, other: int) -> None:
        QUERIES.write(path, [{"query_id": f"q{n}", "text": f"word{n + 10 * other:02d}"} for n in range(6)])

    def _qrels(self, path: Path, other: int) -> None:
        path.write_text("".join(f"q{n} 0 d{n} {1 + other}\n" for n in range(6)))

    def _candidates(self, path: Path, other: int) -> None:
        write_run(path, {f"q{n}": [(f"d{n}", 2.0 + other), ("d7", 1.0)] for n in range(6)}, "bm25")

    def _folds(self, path: Path, other: int) -> None:
        path.write_text(json.dumps({"folds": 3, "queries": {f"q{n}": (n + other) % 3 + 1 for n in range(6)}}))

    def _targets(self, path: Path, other: int) -> None:
        row = {"part": 0, "sample": 0, "text": "word00 word01", "judged": 1, "targets": [1.0, float(other)]}
        TERM_TARGETS.write(path, [row | {"position": n, "document_id": f"q{n}"} for n in range(6)])

    def _examples(self, path: Path, other: int) -> None:
        rows = [
            {"role": role, "question_id": f"{role}{n}", "question": "word00", "context": "word01 cab",
             "answers": ["cab"], "starts": [7], "ends": [10]}
            for role in ("train", "choose", "test") for n in range(2 + other)
        ]  # fmt: skip
        SPAN_QUESTIONS.write(path, rows)


@pytest.fixture(scope="module")
def inputs(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path, make_encoder: Callable[..., Path]
) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs"), tiny_encoder, make_encoder(hidden_size=16))


def pretraining(at: Inputs) -> Job:
    task = TaskConfig(objective="rop")
    return Job(
        "training.pretrain",
        "pretrain",
        {
            "encoder": at("encoder"), "start": None, "groups": [at("groups")], "tokens": [at("tokens")],
            "tasks": [task], "options": training_options(), "encoder_options": ENCODER, "seed": 1,
            "output": "model", "metrics": "metrics", "probe": "probe", "checkpoints": "checkpoints",
        },
        {
            "from": [{"encoder": at("encoder", 1)}, {"start": at("model")}],
            "groups": [{"groups": [at("groups", 1)]}],
            "tokens": [{"tokens": [at("tokens", 1)]}],
            "tasks": [{"tasks": [task.model_copy(update={"weight": 2.0})]}],
            "options": [{"options": training_options(steps=7)}],
            "layers": [{"encoder_options": EncoderConfig(path="tiny", label="tiny", layers=1)}],
            "seed": [{"seed": 2}],
            "output": [{"output": "other"}],
        },
        {"metrics", "probe", "checkpoints", "title", "keeps_checkpoints"},
        {"options": (PretrainingConfig, set())},
    )  # fmt: skip


def finetuning(at: Inputs) -> Job:
    files = ("queries", "qrels", "candidates", "folds")
    test = Topics([at("tokens")], at("queries"), at("candidates"))
    other_tests = [
        test._replace(stores=[at("tokens", 1)]),
        test._replace(queries=at("queries", 1)),
        test._replace(candidates=at("candidates", 1)),
    ]
    return Job(
        "training.finetune",
        "finetune",
        {name: at(name) for name in files} | {
            "model": at("model"), "stores": [at("tokens")], "fold": 1, "regime": "full", "options": TUNING,
            "reranking": RERANKING, "measure": "RR@10", "seed": 1, "run": "run", "metrics": "metrics",
            "checkpoints": "checkpoints", "test": test,
        },
        {
            "from": [{"model": at("model", 1)}],
            "tokens": [{"stores": [at("tokens", 1)]}],
            "inputs": [{name: at(name, 1)} for name in files],
            "test": [{"test": other} for other in (None, *other_tests)],
            "fold": [{"fold": 2}],
            "regime": [{"regime": "few-shot-2"}],
            "options": [{"options": TUNING.model_copy(update={"negatives": 2})}],
            "reranking": [{"reranking": RERANKING.model_copy(update={"depth": 5})}],
            "measure": [{"measure": "nDCG@10"}],
            "seed": [{"seed": 2}],
            "output": [{"run": "other"}],
        },
        {"output", "metrics", "checkpoints", "title", "keeps_checkpoints"},
        {
            "options": (FinetuningConfig, {"keep_models", "recipe"}),
            "reranking": (RerankingConfig, set()),
        },
    )  # fmt: skip


def answering(at: Inputs) -> Job:
    return Job(
        "training.downstream",
        "finetune_downstream",
        {
            "model": at("model"), "examples": at("examples"), "options": ANSWERING, "seed": 1,
            "predictions": "predictions", "metrics": "metrics", "checkpoints": "checkpoints",
        },
        {
            "from": [{"model": at("model", 1)}],
            "examples": [{"examples": at("examples", 1)}],
            "options": [{"options": ANSWERING.model_copy(update={"stride": 5})}],
            "seed": [{"seed": 2}],
            "output": [{"predictions": "other"}],
        },
        {"metrics", "checkpoints", "title"},
        {"options": (QuestionAnsweringConfig, set())},
    )  # fmt: skip


def all_but(*keys: str) -> set[str]:
    """The keys of a weighting, but for those that the job reads."""
    return set(TermWeightsConfig.model_fields) - set(keys)


def term_weights(at: Inputs) -> Job:
    return Job(
        "retrieval.term_weights.train",
        "train_regressor",
        {
            "encoder": at("encoder"), "targets": at("targets"), "options": WEIGHTING, "encoder_options": ENCODER,
            "text": TEXT, "seed": 1, "output": "model", "metrics": "metrics", "checkpoints": "checkpoints",
            "folds": at("folds"), "fold": 1,
        },
        {
            "from": [{"encoder": at("encoder", 1)}],
            "targets": [{"targets": at("targets", 1)}],
            "folds": [{"folds": at("folds", 1)}, {"fold": 2}, {"folds": None}],
            "options": [{"options": WEIGHTING.model_copy(update={"max_length": 13})}],
            "layers": [{"encoder_options": EncoderConfig(path="tiny", label="tiny", layers=1)}],
            "words": [{"text": TextConfig(words="letters")}],
            "seed": [{"seed": 2}],
            "output": [{"output": "other"}],
        },
        {"metrics", "checkpoints", "title"},
        {"options": (TermWeightsConfig, all_but("training", "max_length", "window_overlap"))},
    )  # fmt: skip


def weights_of_words(at: Inputs) -> Job:
    return Job(
        "retrieval.term_weights.infer",
        "infer_documents",
        {
            "model": at("regressor"), "documents": at("documents"), "options": WEIGHTING, "text": TEXT,
            "output": "weights", "checkpoints": "checkpoints",
        },
        {
            "kind": [{"options": WEIGHTING.model_copy(update={"model": "word-vectors"})}],
            "model": [{"model": at("regressor", 1)}],
            "documents": [{"documents": at("documents", 1)}],
            "options": [{"options": WEIGHTING.model_copy(update={"max_length": 13})}],
            "text": [{"text": TextConfig(words="letters")}, {"text": BODY}],
            "output": [{"output": "other"}],
        },
        {"checkpoints", "title"},
        {"options": (TermWeightsConfig, all_but("max_length", "window_overlap", "inference"))},
    )  # fmt: skip


def reranking(at: Inputs) -> Job:
    outside = CorpusTexts((), [at("documents")], TEXT)
    return Job(
        "retrieval.rerank",
        "rerank",
        {
            "model": at("model"), "corpus": CorpusTexts([at("tokens")]), "queries": at("queries"),
            "candidates": at("candidates"), "options": RERANKING, "output": "run", "checkpoints": "checkpoints",
        },
        {
            "model": [{"model": at("model", 1)}],
            "tokens": [{"corpus": CorpusTexts([at("tokens", 1)])}],
            "queries": [{"queries": at("queries", 1)}],
            "candidates": [{"candidates": at("candidates", 1)}],
            "options": [{"options": RERANKING.model_copy(update={"depth": 5})}],
            "output": [{"output": "other"}],
            # Of a re-ranker that reads texts, which has no tokens.
            "documents": [{"corpus": outside}, {"corpus": CorpusTexts((), [at("documents", 1)], TEXT)}],
            "text": [{"corpus": outside}, {"corpus": CorpusTexts((), [at("documents")], BODY)}],
        },
        {"checkpoints"},
        {"options": (RerankingConfig, set())},
    )  # fmt: skip


JOBS = {
    "pretrain": pretraining,
    "finetune": finetuning,
    "downstream": answering,
    "term weights": term_weights,
    "weights of words": weights_of_words,
    "rerank": reranking,
}
EVERYWHERE = {"stage", "device", "versions"}

each_job = pytest.mark.parametrize("stage", JOBS)


@pytest.fixture
def key_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Return a function that begins a job and returns what it hands to `Checkpoints`."""

    def catch(root: Path, job: dict[str, Any], title: str, minutes: float) -> None:
        raise Caught(job)

    def begin(job: Job, replaced: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        module = importlib.import_module(f"irpretrain.{job.module}")
        with monkeypatch.context() as patch:
            for place in (module, importlib.import_module("irpretrain.training.checkpoints")):
                if hasattr(place, "Checkpoints"):
                    patch.setattr(place, "Checkpoints", catch)
            for name, value in (replaced or {}).items():
                for place in (module, importlib.import_module("irpretrain.training.compute")):
                    if hasattr(place, name):
                        patch.setattr(place, name, value)
            with pytest.raises(Caught) as caught:
                getattr(module, job.function)(**{**job.arguments, **changes})
        return caught.value.args[0]

    return begin


Begin = Callable[..., dict[str, Any]]


def test_every_job_with_checkpoints_is_listed(inputs: Inputs) -> None:
    root = Path(irpretrain.__file__).parent
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in root.rglob("*.py")
        if " Checkpoints(" in path.read_text(encoding="utf-8")
    }
    assert modules == {job(inputs).module for job in JOBS.values()}


@each_job
def test_every_ingredient_changes_the_key_and_no_other_part_of_it(
    stage: str, inputs: Inputs, key_of: Begin
) -> None:
    job = JOBS[stage](inputs)
    key = key_of(job)
    assert key["stage"] == stage
    assert set(key) == set(job.changes) | EVERYWHERE
    assert content_hash(key_of(job)) == content_hash(key)
    for ingredient, changes in job.changes.items():
        keys = [key, *(key_of(job, **change) for change in changes)]
        values = [json.dumps(changed[ingredient], default=str) for changed in keys]
        assert len(set(values)) == len(values), ingredient
        assert len(set(map(content_hash, keys))) == len(keys)
        if ingredient not in ("documents", "text", "kind"):  # with which tokens or options change
            for changed in keys:
                assert {k: v for k, v in changed.items() if k != ingredient} == {
                    k: v for k, v in key.items() if k != ingredient
                }


@each_job
def test_device_and_versions_change_the_key(stage: str, inputs: Inputs, key_of: Begin) -> None:
    job = JOBS[stage](inputs)
    key = key_of(job)

    @contextmanager
    def on_gpu(options: ComputeConfig) -> Iterator[Any]:
        yield SimpleNamespace(type="cuda")

    gpu = {
        "reproducible": on_gpu,
        "choose_device": lambda options: SimpleNamespace(type="cuda"),
        "Trainer": MagicMock(),
        "WeightPredictor": MagicMock(),
    }
    if stage == "rerank":
        del gpu["reproducible"]
    assert key_of(job, gpu) == key | {"device": "cuda"}
    assert key_of(job, {"versions": lambda: {"torch": "0"}}) == key | {"versions": {"torch": "0"}}


@each_job
def test_every_parameter_changes_the_key_or_is_free(stage: str, inputs: Inputs) -> None:
    job = JOBS[stage](inputs)
    function = getattr(importlib.import_module(f"irpretrain.{job.module}"), job.function)
    changing = {name for changes in job.changes.values() for change in changes for name in change}
    assert changing | job.free == set(inspect.signature(function).parameters)
    assert not changing & job.free


def decided_keys(section: type[BaseModel], left_out: set[str]) -> Iterator[str]:
    """The keys of a section that decide the result, with those of its sections."""
    for name, field in section.model_fields.items():
        extra = field.json_schema_extra
        if name in left_out or (isinstance(extra, dict) and not extra.get("decides", True)):
            continue
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name}.{key}" for key in decided_keys(field.annotation, set()))
        else:
            yield name


@each_job
def test_every_key_of_the_options_is_in_the_key(stage: str, inputs: Inputs, key_of: Begin) -> None:
    job = JOBS[stage](inputs)
    key = key_of(job)
    assert job.options
    for ingredient, (section, left_out) in job.options.items():
        assert {name for name, _ in leaves(key[ingredient])} == set(decided_keys(section, left_out))
