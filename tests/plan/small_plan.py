"""A configuration that one can hold in one's head, and its plan."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from irpretrain.config import parse_config
from irpretrain.config.load import deep_merge
from irpretrain.corpora.embedded import read_manifest
from irpretrain.workflow.plan.whole import Plan

ROOT = Path(__file__).resolve().parents[2]
SMALL = yaml.safe_load("""
corpora:
  wiki: {format: wikipedia-dump, path: "embedded:enwiki-excerpt", shards: 2}
  web: {format: jsonl, path: web.jsonl, entry: robust04}
collections:
  both: [wiki, web]
encoder: {path: encoder, label: E}
objectives:
  rop: {type: rop}
pretraining: {steps: 10, batch_groups: 2, snapshots: [5]}
models:
  base: {label: Base}
  prop: {label: PROP, collection: both, tasks: [{objective: rop}]}
datasets:
  news:
    label: News
    corpus: web
    queries: {format: tsv, path: news.tsv}
    qrels: {format: trec, path: news.qrels}
    folds: 3
    measures: [nDCG@5]
first_stages:
  deep: {label: Deep, model: bm25}
experiments:
  main: {dataset: news, models: [base, prop], regimes: [zero-shot, full], seeds: [3]}
report: {papers: [prop]}
""")


class W:
    """Wildcards of a job."""

    def __init__(self, **wildcards: str) -> None:
        self.__dict__ = wildcards

    def items(self) -> Any:
        return self.__dict__.items()


def plan_of(changes: str = "{}") -> Plan:
    """Return the plan of the small configuration with some changes laid over it."""
    given = deep_merge(copy.deepcopy(SMALL), yaml.safe_load(changes))
    return Plan(parse_config(given, "small"), manifest())


@cache
def manifest() -> Any:
    return read_manifest(ROOT / "resources" / "embedded.yaml")
