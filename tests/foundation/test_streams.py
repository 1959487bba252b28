"""Every random stream of the library depends on each thing that its name is made of.

The streams are those that the code opens (`opened`), so that a new one needs a line in `STREAMS`. Different names have
different draws (test_randomness.py); here each use of a stream gives the name that it should.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import numpy as np
import pyarrow as pa
import pytest
import torch

import irpretrain
from irpretrain.config.training import ComputeConfig, OptimiserConfig

ROOT = Path(irpretrain.__file__).parent
OPENERS = ("generator", "integer_seed", "stream_key")


def opened() -> dict[str, set[str]]:
    """Every place of the library that opens a stream → what its name is made of, constants left out."""
    streams: dict[str, set[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path.name == "randomness.py" or not any(name in source for name in OPENERS):
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OPENERS:
                parts = {part for argument in node.args for part in ingredients(argument)}
                streams[f"{module}: {ast.unparse(node)}"] = parts
    return streams


def ingredients(node: ast.expr) -> set[str]:
    """`self._seed` is `seed`, `query.identifier` is `identifier`; what is in capitals is a constant."""
    if isinstance(node, ast.Name):
        return set() if node.id.isupper() else {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr.removeprefix("_")}
    if isinstance(node, ast.Subscript):
        return ingredients(node.value)
    if isinstance(node, ast.Call):
        return {part for argument in node.args for part in ingredients(argument)}
    return {
        part
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.expr)
        for part in ingredients(child)
    }


class Opened(Exception):
    """Ends a function as soon as its stream is open."""


class Stream(NamedTuple):
    """How a stream is opened."""

    use: Callable[..., Any]  # called with the module, pytest's monkeypatch and the ingredients by their names
    # Ingredient → two values.
    values: dict[str, tuple[Any, Any]]
    skipped: Callable[..., int] = lambda **_: 0  # streams of the same kind that open before


def name_of(place: str, monkeypatch: pytest.MonkeyPatch, **values: Any) -> tuple[Any, ...]:
    """Use the module until it opens the stream; return (seed, stage, identifier)."""
    module = importlib.import_module(f"irpretrain.{place.partition(':')[0]}")
    opener = place.partition(": ")[2].partition("(")[0]
    stream, names = STREAMS[place], list[tuple[Any, ...]]()
    original = getattr(module, opener)

    def open_stream(*name: Any) -> Any:
        names.append(name)
        if len(names) > stream.skipped(**values):
            raise Opened
        return original(*name)

    with monkeypatch.context() as patch, suppress(Opened):
        patch.setattr(module, opener, open_stream)
        stream.use(module, patch, **values)
        pytest.fail(f"{place} did not open: {names}")
    return names[stream.skipped(**values)]


def of(**attributes: Any) -> Any:
    return SimpleNamespace(**attributes)


class Sized(SimpleNamespace):
    def __len__(self) -> int:
        return 4


# Uses that need more than a line.


def choose_diagnosis_pairs(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: str) -> None:
    patch.setattr(module, "whole_documents", lambda path: [of(document_ids=[name])])
    patch.setattr(module, "choose_pairs", lambda *_: of(accepted_counts=np.ones(1)))
    module.choose_diagnosis_pairs(["x"], MagicMock(), MagicMock(stm_2_threshold=0.5), seed, "x")


def sample_negative_queries(
    module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: tuple[str, str]
) -> None:
    document, query = name
    judged = pa.table({"document_id": [document], "query_id": [query], "terms": [1]})
    for replaced in (
        "PseudoQuerySampler",
        "read_terms",
        "WordDocuments",
        "at_temperature",
        "DOCUMENT_QUERIES",
    ):
        patch.setattr(module, replaced, MagicMock())
    patch.setattr(module, "AXIOM_VALUES", of(read=lambda *_: judged))
    module.sample_negative_queries("x", "x", "x", MagicMock(), MagicMock(), seed, "x")


def draw_ranked_documents(module: ModuleType, patch: pytest.MonkeyPatch, seed: int) -> None:
    patch.setattr(module, "open_terms", lambda *_: (None, of(lists=of(lengths=np.ones(3)))))
    module.RankSample([], "x", "x", MagicMock(), 2, seed)


def fit_predictor(
    module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: tuple[str, int] = ("gbdt", 1)
) -> None:
    pairs = of(documents=np.arange(100), features=np.ones((100, 9), np.int8), counts={})
    patch.setattr(module, "make_pairs", lambda *_: pairs)
    patch.setattr(module, "fit", lambda *_: None)
    patch.setattr(module, "tree_table", lambda *_: np.zeros(3**9))
    module._outcome(MagicMock(), MagicMock(model=name[0]), MagicMock(), seed, 1, "x")


def make_ares_groups(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: str) -> None:
    values = importlib.import_module("irpretrain.axioms.axiom_values")
    patch.setattr(values, "whole_documents", lambda path: [of(document_ids=[name])])
    patch.setattr(module, "_rule", lambda *_: None)
    next(module.make_groups(of(axiom_values="x", documents="x", seed=seed), None, {}))


def sample_pairs(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: str) -> None:
    patch.setattr(module, "texts_of", lambda *_: [])
    sampler = of(_seed=seed, _text=None, _number=lambda texts: ([], [], []))
    module.PairSampler.sample(sampler, pa.RecordBatch.from_pydict({"document_id": [name]}), np.zeros(1))


def train_vectors(module: ModuleType, patch: pytest.MonkeyPatch, seed: int) -> None:
    options = of(dimensions=2, epochs=1)
    module._train(of(collection_words=2), np.arange(1), np.arange(2), np.ones(2, int), options, seed)


def begin_step(
    module: ModuleType,
    patch: pytest.MonkeyPatch,
    seed: int,
    step: int,
    task_index: int = 0,
    batch_number: int = 0,
) -> None:
    optimiser, compute = OptimiserConfig(learning_rate=1e-3), ComputeConfig(device="cpu")
    trainer = module.Trainer(torch.nn.Linear(1, 1), optimiser, compute, torch.device("cpu"), seed, 9, 2)
    parts = [of(loss_denominator=1, batches={}, metrics=None) for _ in range(task_index)]
    parts.append(of(loss_denominator=1, batches={batch_number: None}, metrics=None))
    trainer._begin(step, [None] * len(parts), parts, 0.0)


def judged_groups(module: ModuleType, seed: int, identifier: str = "q1") -> Any:
    query = module.JudgedQuery(identifier, "cab", np.array([1]), np.array([2, 3]))
    return module.JudgedGroups([query], 1, 1, seed)


def judged_order(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, epoch: int) -> None:
    groups = judged_groups(module, seed)
    patch.setattr(module.JudgedGroups, "_documents", lambda *_: np.array([[1, 2]]))
    groups.epoch(epoch)


def check_training_order(module: ModuleType, patch: pytest.MonkeyPatch, seed: int) -> None:
    candidates, qrels = {"q1": [("d1", 2.0), ("d2", 1.0)]}, {"q1": {"d1": 1}}
    module.check_training_order(lambda _: {}, ["q1"], qrels, candidates, None, seed, "x", "all")


def probe(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, task: str) -> None:
    module.Probe(task, None, None, None, 1, seed)


def linear() -> Any:
    return torch.nn.Linear(2, 2)


def initialise(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: str) -> None:
    module.initialise(torch.nn.ModuleDict({name.partition(".")[0]: linear()}), {name}, 1.0, seed)


def draw_weights(module: ModuleType, patch: pytest.MonkeyPatch, seed: int, name: str) -> None:
    module.draw_weights(torch.nn.ModuleDict({name.partition(".")[0]: linear()}), seed)


SEED, EPOCH, NAME = {"seed": (1, 2)}, {"epoch": (0, 1)}, {"name": ("d1", "d2")}
STREAM = {"stream": ("rop", "ict")}
LAYER = {"name": ("one.weight", "two.weight")}
HIDDEN = {"name": ("first.weight", "second.weight")}  # a network is an encoder or a ranker over words
MANY = np.arange(40) / 40
ROWS = np.array([[0.0, 0.0], [1.0, 2.0]])

STREAMS = {
    "axioms.calibration: generator(seed, STAGE)": Stream(draw_ranked_documents, SEED),
    "axioms.diagnosis: stream_key(seed, STAGE, name)": Stream(choose_diagnosis_pairs, SEED | NAME),
    "axioms.diagnosis: stream_key(seed, DOCUMENT_STAGE, name)": Stream(
        choose_diagnosis_pairs, SEED | NAME, lambda **_: 1
    ),
    "axioms.predictor_pairs: stream_key(seed, STAGE, name)": Stream(
        lambda m, _, seed, name: m.draw_negatives(np.zeros(1, int), np.arange(2), np.ones(1), [name], seed),
        SEED | NAME,
    ),
    "axioms.predictor_queries: stream_key(seed, STAGE, name)": Stream(
        sample_negative_queries, SEED | {"name": (("d1", "q1"), ("d1", "q2"))}
    ),
    "axioms.pseudo_queries: stream_key(self._seed, STAGE, name)": Stream(
        lambda m, _, seed, name: m.PseudoQuerySampler.draw(
            of(_seed=seed), [], [], pa.chunked_array([[name]])
        ),
        SEED | NAME,
    ),
    "axioms.train_predictor: generator(seed, 'predictor-split')": Stream(
        lambda m, _, seed: m.split_documents(np.arange(4), seed), SEED
    ),
    "axioms.train_predictor: generator(seed, 'predictor-orientation')": Stream(
        lambda m, _, seed: m.orient(np.zeros(4), seed), SEED
    ),
    "axioms.train_predictor: integer_seed(seed, 'predictor-trees', name)": Stream(
        fit_predictor,
        SEED | {"name": (("gbdt", 1), ("gbdt", 2))},
        lambda seed, name: name[1] - 1,
    ),
    "axioms.train_predictor: generator(seed, 'predictor-bootstrap')": Stream(
        fit_predictor, SEED, lambda **_: 2
    ),
    "corpora.downstream_questions: stream_key(seed, stage, rows[position][ID_COLUMN])": Stream(
        lambda m, _, seed, stage, rows: m._drawn_order([{m.ID_COLUMN: rows}], seed, stage),
        SEED | {"stage": ("a", "b"), "rows": ("q1", "q2")},
    ),
    "corpora.make_folds: stream_key(seed, 'folds', query)": Stream(
        lambda m, _, seed, query: m.deal([query], 2, seed), SEED | {"query": ("q1", "q2")}
    ),
    "corpora.shared_queries: stream_key(seed, 'sample-queries', query)": Stream(
        lambda m, _, seed, query: m.sample({query: "cab"}, [query], of(sample_queries=1), seed, "x", ""),
        SEED | {"query": ("q1", "q2")},
    ),
    "evaluation.folds: stream_key(seed, 'few-shot', query)": Stream(
        lambda m, _, seed, query: m.training_queries([query], "few-shot-1", seed),
        SEED | {"query": ("q1", "q2")},
    ),
    "evaluation.significance: generator(seed, 'randomisation-test', name)": Stream(
        lambda m, _, seed, name: m.randomisation_test(MANY, MANY + 1, 9, seed, name), SEED | NAME
    ),
    "evaluation.significance: generator(seed, 'bootstrap', name)": Stream(
        lambda m, _, seed, name: m.bootstrap_interval(MANY, 9, 0.95, seed, name), SEED | NAME
    ),
    "evaluation.significance: generator(seed, 'bootstrap seeds', name)": Stream(
        lambda m, _, seed, name: m.bootstrap_interval(MANY, 9, 0.95, seed, name),
        SEED | NAME,
        lambda **_: 1,
    ),
    "models.neural.ranker: generator(seed, 'initialise', name)": Stream(draw_weights, SEED | HIDDEN),
    "models.neural.registry: generator(seed, 'initialise', 'word vectors')": Stream(
        lambda m, _, seed: m.draw_missing_vectors(ROWS, seed), SEED
    ),
    "models.parameters: generator(seed, 'initialise', name)": Stream(initialise, SEED | LAYER),
    "objectives.ares: stream_key(shard.seed, STAGE, name)": Stream(make_ares_groups, SEED | NAME),
    "objectives.prop.pair_sampler: stream_key(self._seed, STAGE, name)": Stream(sample_pairs, SEED | NAME),
    "objectives.shard: generator(self.seed, objective, identifier)": Stream(
        lambda m, _, seed, **name: m.Shard.stream(of(seed=seed), **name),
        SEED | {"objective": ("rwi", "atm"), "identifier": ("d1", "d2")},
    ),
    "retrieval.term_weights.sequences: generator(seed, 'data order', f'term weights/{epoch}')": Stream(
        lambda m, _, seed, epoch: m.TrainingSequences._position(Sized(_epoch=-1), 4 * epoch, seed),
        SEED | EPOCH,
    ),
    "text.train_vectors: stream_key(seed, STAGE, name)": Stream(
        lambda m, _, seed, name: m._choose_documents(
            of(document_ids=pa.array([name])), np.zeros(1, int), 1, seed
        ),
        SEED | NAME,
    ),
    "text.train_vectors: stream_key(seed, STAGE)": Stream(train_vectors, SEED),
    "text.train_vectors: generator(seed, STAGE)": Stream(train_vectors, SEED),
    "training.group_table: generator(self._seed, 'data order', f'{self._stream}/{epoch}')": Stream(
        lambda m, _, seed, stream, epoch: m.GroupTable._permutation(
            of(_epoch=-1, _seed=seed, _stream=stream, trained_indices=lambda: np.arange(4)), epoch
        ),
        SEED | STREAM | EPOCH,
    ),
    "evaluation.evaluate: generator(seed, 'random-order', query)": Stream(
        lambda m, _, seed, query: m.random_order({query: [("d1", 1.0)]}, {query: {"d1": 1}}, ["RR"], seed),
        SEED | {"query": ("q1", "q2")},
    ),
    "training.judged_queries: generator(self._seed, 'data order', f'judged/{epoch}')": Stream(
        judged_order, SEED | EPOCH
    ),
    "training.judged_queries: generator(self._seed, 'negatives', f'{query.identifier}/{epoch}')": Stream(
        lambda m, _, seed, identifier, epoch: judged_groups(m, seed, identifier).epoch(epoch),
        SEED | EPOCH | {"identifier": ("q1", "q2")},
    ),
    "training.judged_queries: generator(seed, STAGE)": Stream(check_training_order, SEED),
    "training.masking: stream_key(self._seed, 'masking', f'{self._stream}/{step}')": Stream(
        lambda m, _, seed, stream, step: m.Masker.apply(
            of(_options=None, _seed=seed, _stream=stream), None, step
        ),
        SEED | STREAM | {"step": (0, 1)},
    ),
    "training.probe: generator(seed, 'probe', task)": Stream(probe, SEED | {"task": ("rop", "ict")}),
    "training.trainer: integer_seed(self._seed, 'dropout', str(step))": Stream(
        begin_step, SEED | {"step": (0, 1)}
    ),
    "training.trainer: integer_seed(self._seed, 'dropout', f'{step}/{task_index}/{batch_number}')": Stream(
        begin_step,
        SEED | {"step": (0, 1), "task_index": (0, 1), "batch_number": (0, 1)},
        lambda **_: 1,
    ),
}
"""Place that opens a stream → how it is opened, and two values of each ingredient of its name."""


def test_every_stream_of_the_library_is_listed_with_what_its_name_is_made_of() -> None:
    assert opened() == {place: set(stream.values) for place, stream in STREAMS.items()}


@pytest.mark.parametrize(
    ("place", "changed"), [(place, part) for place, stream in STREAMS.items() for part in stream.values]
)
def test_each_ingredient_changes_the_stream(
    place: str, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {part: first for part, (first, _) in STREAMS[place].values.items()}
    other = values | {changed: STREAMS[place].values[changed][1]}
    name = name_of(place, monkeypatch, **values)
    assert name_of(place, monkeypatch, **values) == name
    assert name_of(place, monkeypatch, **other) != name
    assert name[0] == values["seed"]


def test_streams_of_two_places_never_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of one name would be the same draws: seeds of a bootstrap, say, would go with its queries."""
    names = {}
    for place, stream in STREAMS.items():
        values = {part: first for part, (first, _) in stream.values.items()}
        name = name_of(place, monkeypatch, **values)
        # Word vectors begin with and are trained with draws of one name; another name would alter every result.
        names.setdefault(name if "text.train_vectors" not in place else place, []).append(place)
    shared = [places for places in names.values() if len(places) > 1]
    assert shared == []
