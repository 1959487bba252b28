"""A small workflow run made by formula: 20 queries, five models, values that can be checked in one's head."""

from collections.abc import Callable
from pathlib import Path

import pandas

from irpretrain.config import Config
from irpretrain.config.experiments import ModelConfig
from irpretrain.config.objectives import read_options
from irpretrain.config.pretraining import TaskConfig
from irpretrain.foundation.contracts import PER_QUERY

ROOT = Path(__file__).parents[2]
PROP_YAML = ROOT / "resources" / "published" / "prop.yaml"
WIKIFORMER_YAML = PROP_YAML.with_name("wikiformer.yaml")
PHP_YAML = PROP_YAML.with_name("php.yaml")
ARES_YAML = PROP_YAML.with_name("ares.yaml")
DEEPCT_YAML = PROP_YAML.with_name("deepct.yaml")
MANIFEST = ROOT / "resources" / "embedded.yaml"
QUERIES = 20
LEVELS = {
    "control": 0.2,
    "prop": 0.5,
    "prop-rop": 0.45,
    "prop-mlm": 0.3,
    "prop-random": 0.35,
    "prop-further": 0.5,
}
"""Mean of every model, zero-shot; fine-tuned is 0.2 higher."""


def value(model: str, regime: str, query: int, seed: int = 1) -> float:
    """Level of the model, plus a zigzag over queries whose mean is zero and whose width depends on the model."""
    if regime == "first-stage":
        return {"bm25": 0.6, "ql": 0.55}[model] + (0.1 if query % 2 else -0.1)
    name = model.partition("@")[0]
    zigzag = (0.05 + 0.01 * (list(LEVELS).index(name) % 3)) * (1 if query % 2 else -1)
    bonus = 0.0 if regime == "zero-shot" else 0.2
    if regime.startswith("few-shot"):
        bonus = 0.001 * int(regime.rpartition("-")[2])
    steps = int(model.partition("@")[2] or 200)
    return LEVELS[name] * (0.5 + steps / 400) + bonus + zigzag + 0.01 * (seed - 1)


def _rows(
    dataset: str,
    runs: list[tuple[str, str, int, str]],
    value_of: Callable[..., float],
    measures: dict[str, float],
) -> list[dict]:
    """Rows of runs (model, regime, seed, candidates): `value_of` gives a query's value, measures scale it."""
    return [
        {
            "dataset": dataset, "candidates": candidates, "model": model, "regime": regime, "seed": seed, "fold": 1,
            "query_id": f"q{query:02}", "measure": measure, "value": value_of(model, regime, query, seed) * scale,
        }
        for model, regime, seed, candidates in runs
        for measure, scale in measures.items()
        for query in range(QUERIES)
    ]  # fmt: skip


def rows_of(
    dataset: str, seeds: tuple[int, ...] = (1,), models: tuple[str, ...] = tuple(LEVELS)
) -> list[dict]:
    trained = [(model, regime) for model in models for regime in ("zero-shot", "full")]
    if "prop" in models:
        trained += [("prop", f"few-shot-{n}") for n in (10, 30, 50, 70)]
    if "prop-rop" in models:
        trained += [(f"prop-rop@{n}", "zero-shot") for n in (25, 50, 75)]
    runs = [(stage, "first-stage", 0, stage) for stage in ("bm25", "ql")]
    runs += [(*run, seed, "bm25") for run in trained for seed in seeds]
    return _rows(dataset, runs, value, {"nDCG@20": 1.0, "P@20": 0.1, "RR@10": 0.9})


def flat_rows(
    dataset: str,
    levels: dict[str, float],
    regimes: tuple[str, ...] = ("zero-shot",),
    measures: tuple[str, ...] = ("RR@10",),
    candidates: str = "bm25",
) -> list[dict]:
    """Runs of any models at their levels, 0.2 higher where fine-tuned, each query a little off; and first stages."""
    levels = {**levels, "bm25": 0.3, "ql": 0.25}
    places = {name: place for place, name in enumerate(levels)}
    runs = [(model, regime, 1, candidates) for model in levels for regime in regimes]
    runs = [run for run in runs if run[0] not in ("bm25", "ql")]
    runs += [(stage, "first-stage", 1, stage) for stage in ("bm25", "ql")]

    def value_of(model: str, regime: str, query: int, seed: int) -> float:
        bonus = 0.2 if regime not in ("zero-shot", "first-stage") else 0.0
        return levels[model] + bonus + (0.01 + 0.002 * places[model]) * (1 if query % 2 else -1)

    return _rows(dataset, runs, value_of, dict.fromkeys(measures, 1.0))


def write_results(directory: Path, rows: list[dict]) -> tuple[list[Path], list[Path]]:
    """Write scores.csv and per_query.parquet as the evaluation of one experiment does; return both kinds of files."""
    per_query, scores = directory / "per_query.parquet", directory / "scores.csv"
    PER_QUERY.write(per_query, rows)
    keys = ["dataset", "candidates", "model", "regime", "seed", "measure"]
    means = pandas.DataFrame(rows, columns=[*keys, "value"]).groupby(keys)["value"].agg(["mean", "count"])
    means = means.reset_index().assign(fold=0).rename(columns={"mean": "value", "count": "queries"})
    means[[*keys[:5], "fold", "measure", "value", "queries"]].to_csv(scores, index=False)
    return [scores], [per_query]


def with_harp(config: Config) -> Config:
    """The configuration with a model of one of HARP's objectives."""
    options = read_options("rqp", {"type": "rqp"})
    model = ModelConfig(label="HARP", collection="articles", tasks=[TaskConfig(objective="rqp")])
    objectives, models = {**config.objectives, "rqp": options}, {**config.models, "harp": model}
    return config.model_copy(update={"objectives": objectives, "models": models})
