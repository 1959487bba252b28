"""What the jobs of a plan would cost: a row for each stage, disk, and memory."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from irpretrain.config.root import Config
from irpretrain.errors import ConfigError
from irpretrain.foundation.resources import gpu_rates
from irpretrain.foundation.wording import instead_of
from irpretrain.workflow.costs import PlannedJob
from irpretrain.workflow.costs.encoder_work import BERT_BASE, ENCODER_RULES, Shape
from irpretrain.workflow.costs.work import TEXT_RULES, Computing, Device, Throughput, Work, read_throughputs

RULES = {**TEXT_RULES, **ENCODER_RULES}
CARD = "NVIDIA A100-SXM4-80GB"
# Share of a card's peak rate that an estimate counts on.
UTILISATION = 0.3
# Stage or rule → bytes on disk per article of 1,000 words, or per pseudo-query (docs/benchmarks.md).
BYTES = {
    "read_corpus": 2632,
    "extract_links": 464,
    "build_graph": 339,
    "store_tokens": 6575,
    "build_groups hp": 1141,
    "build_groups shp": 463,
    "build_groups": 24,
    "merge_groups hp": 1141,
    "merge_groups shp": 463,
    "merge_groups": 24,
    "index_corpus": 549,
    "store_words": 4345,
    "build_postings": 3443,
    "build_positions": 6343,
    "weigh_textrank": 3131,
    "index_weights": 1539,
    "sample_pseudo_queries": 25,
    "compute_axioms": 48,
}


@dataclass(frozen=True)
class Card:
    """A GPU whose hours are estimated.

    Attributes:
        rates: precision → peak rate, in 10¹² floating-point operations a second.
    """

    name: str
    rates: Mapping[str, float]

    @classmethod
    def find(cls, name: str) -> "Card":
        """Return the card of resources/gpu_rates.yaml with this name, or the first whose name contains it."""
        cards = gpu_rates()
        fitting = [card for card in cards if name.lower() in card.lower()]
        if not fitting:
            raise ConfigError(f"card: {name!r} is not in resources/gpu_rates.yaml; {instead_of(name, cards)}")
        chosen = name if name in cards else fitting[0]
        return cls(chosen, cards[chosen])

    def operations_per_second(self, precision: str) -> float:
        """Return what it does at the utilisation that estimates count on."""
        rate = self.rates.get("bf16" if precision == "auto" else precision, self.rates["fp32"])
        return rate * 1e12 * UTILISATION


@dataclass
class CostRow:
    """A stage of the plan.

    Attributes:
        work: one of its parts of jobs, for what all have in common.
        rate: what was measured of it; None for nothing.
        order: index of its rule in `RULES`.
        per_second: units in a second of one core or GPU: measured, else estimated; None for neither.
        jobs: how many.
        amount: sum of the amounts that are known.
        unknown: jobs whose amount is not.
        is_second: whether another row counts its jobs too: training and ranking of a fine-tuning.
    """

    work: Work
    rate: Throughput | None
    order: int
    per_second: float | None = None
    jobs: int = 0
    amount: float = 0.0
    unknown: int = 0
    is_second: bool = False

    @property
    def hours(self) -> float | None:
        """Hours of one core or GPU for what is known; None where nothing is, or no rate is."""
        if self.per_second is None or self.unknown == self.jobs:
            return None
        return self.amount / self.per_second / 3600

    @property
    def device(self) -> Device:
        """On what it computes."""
        return "cpu" if self.work.computing is None else self.work.computing.device


@dataclass
class Estimate:
    """All jobs: a row for each stage whose work is counted, in the order of `RULES`; jobs by rule of the others; bytes
    on disk; memory of the largest job, in MB."""

    jobs: int = 0
    rows: list[CostRow] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    disk: float = 0.0
    memory_mb: int = 0
    card: Card = field(default_factory=lambda: Card.find(CARD))


def estimate(
    config: Config,
    jobs: Iterable[PlannedJob],
    rates: Sequence[Throughput] | None = None,
    shapes: Mapping[str, Shape] | None = None,
    card: str = CARD,
) -> Estimate:
    """Estimate a plan.

    Args:
        jobs: all that are to be run.
        rates: what was measured; by default `resources/throughput.yaml`.
        shapes: label → sizes of the encoders that are known; others count as BERT-base.
        card: GPU for what was not measured on one.

    Raises:
        ConfigError: no such card is known.
    """
    measured = {
        (throughput.stage, throughput.computing): throughput
        for throughput in (read_throughputs() if rates is None else rates)
    }
    rows: dict[tuple[str, Computing | None], CostRow] = {}
    variants = {stage.split()[0] for stage, _ in measured if " " in stage}
    order = {rule: number for number, rule in enumerate(RULES)}
    order["rerank_snapshot"] = order["rerank"]
    result = Estimate(card=Card.find(card))
    for rule, wildcards, memory_mb, _ in jobs:
        result.jobs += 1
        result.memory_mb = max(result.memory_mb, memory_mb)
        parts = RULES[rule](config, wildcards) if rule in RULES else []
        if not parts:
            result.others[rule] += 1
        for number, work in enumerate(parts):
            rate = measured.get((work.stage, work.computing))
            shape = (shapes or {}).get(work.computing.encoder if work.computing else "", BERT_BASE)
            result.disk += (work.amount or 0) * BYTES.get(work.stage, BYTES.get(rule, 0))
            if rule == "pretrain":
                result.disk += shape.model_bytes * (1 + len(config.training_of(wildcards["model"]).snapshots))
            # One row for all variants of a rule that were not measured.
            if rate is None and rule in TEXT_RULES:
                work = replace(work, stage=f"{rule}, others" if rule in variants else rule)
            per_second = (
                rate.per_second if rate else _estimated_rate(work, shape, result.card, measured.values())
            )
            row = rows.setdefault(
                (work.stage, work.computing),
                CostRow(work, rate, order[rule], per_second=per_second, is_second=number > 0),
            )
            row.jobs += 1
            row.amount += work.amount or 0.0
            row.unknown += work.amount is None
    result.rows = sorted(rows.values(), key=lambda row: (row.order, row.work.stage, str(row.work.computing)))
    return result


def _estimated_rate(work: Work, shape: Shape, card: Card, measured: Iterable[Throughput]) -> float | None:
    """Return word pieces per second: operations per second over those of a word piece. Operations per second are those
    of the most similar stage that was measured with the same computing, or else the card's; no CPU's are guessed."""
    if work.computing is None:
        return None
    shape = shape._replace(layers=work.computing.layers or shape.layers)
    operations = shape.operations(work.stage)
    others = {
        abs(math.log(shape.operations(rate.stage) / operations)): rate.per_second
        * shape.operations(rate.stage)
        for rate in measured
        if rate.computing == work.computing
    }
    if others:
        return others[min(others)] / operations
    if work.computing.device == "cpu":
        return None
    return card.operations_per_second(work.computing.precision) / operations
