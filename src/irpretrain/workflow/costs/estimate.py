"""Hours of the planned jobs at measured rates, and the page that a dry run ends with."""

import math
import os
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from irpretrain.config.papers import read_paper
from irpretrain.config.root import Config
from irpretrain.corpora.catalogue.absence import missing_data_text
from irpretrain.foundation.errors import ConfigError, instead_of
from irpretrain.foundation.progress import size_text
from irpretrain.foundation.resources import gpu_rates
from irpretrain.workflow.costs import CARD_VARIABLE, REFUSED, PlannedJob, PlannedTime
from irpretrain.workflow.costs.encoder_work import (
    BERT_BASE,
    ENCODER_RULES,
    TYPICAL_WORDS,
    Shape,
    encoders,
    shapes,
)
from irpretrain.workflow.costs.work import TEXT_RULES, Computing, Device, Throughput, Work, read_throughputs
from irpretrain.workflow.plan.preparation import Prepared

RULES = {**TEXT_RULES, **ENCODER_RULES}
DEFAULT_CARD = "NVIDIA A100-SXM4-80GB"
# Share of a card's peak rate that an estimate counts on.
UTILISATION = 0.3
# Stage or rule → bytes on disk per article of 1,000 words, or per pseudo-query (docs/benchmarks.md).
BYTES_PER_ARTICLE = {
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
        matching_cards = [card for card in cards if name.lower() in card.lower()]
        if not matching_cards:
            raise ConfigError(f"card: {name!r} is not in resources/gpu_rates.yaml; {instead_of(name, cards)}")
        card_name = name if name in cards else matching_cards[0]
        return cls(card_name, cards[card_name])

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
        rule_index: index of its rule in `RULES`.
        per_second: units in a second of one core or GPU: measured, else estimated; None for neither.
        jobs: how many.
        amount: sum of the amounts that are known.
        unknown_jobs: how many whose amount is not known.
        repeats_jobs: whether another row counts its jobs too: training and ranking of a fine-tuning.
    """

    work: Work
    rate: Throughput | None
    rule_index: int
    per_second: float | None = None
    jobs: int = 0
    amount: float = 0.0
    unknown_jobs: int = 0
    repeats_jobs: bool = False

    @property
    def hours(self) -> float | None:
        """Hours of one core or GPU for what is known; None where nothing is, or no rate is."""
        if self.per_second is None or self.unknown_jobs == self.jobs:
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
    unestimated: Counter[str] = field(default_factory=Counter)
    disk: float = 0.0
    memory_mb: int = 0
    card: Card = field(default_factory=lambda: Card.find(DEFAULT_CARD))


def estimate(
    config: Config,
    jobs: Iterable[PlannedJob],
    rates: Sequence[Throughput] | None = None,
    shapes: Mapping[str, Shape] | None = None,
    card: str = DEFAULT_CARD,
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
    rows: dict[tuple[str, Computing | None], CostRow] = {}
    rule_indices = {rule: index for index, rule in enumerate(RULES)}
    rule_indices["rerank_snapshot"] = rule_indices["rerank"]
    result = Estimate(card=Card.find(card))
    job_rates = _Rates(read_throughputs() if rates is None else rates, shapes or {}, result.card)
    for rule, wildcards, memory_mb, *_ in jobs:
        result.jobs += 1
        result.memory_mb = max(result.memory_mb, memory_mb)
        works = RULES[rule](config, wildcards) if rule in RULES else []
        if not works:
            result.unestimated[rule] += 1
        for position, work in enumerate(works):
            known_amount = 0.0 if math.isnan(work.amount) else work.amount
            result.disk += known_amount * BYTES_PER_ARTICLE.get(work.stage, BYTES_PER_ARTICLE.get(rule, 0))
            if rule == "pretrain":
                snapshots = config.training_of(wildcards["model"]).snapshots
                result.disk += job_rates.shape(work).model_bytes * (1 + len(snapshots))
            new_row = CostRow(
                work, job_rates.throughput(work), rule_indices[rule], job_rates.per_second(work)
            )
            new_row.repeats_jobs = position > 0
            row = rows.setdefault((work.stage, work.computing), new_row)
            row.jobs += 1
            row.amount += known_amount
            row.unknown_jobs += math.isnan(work.amount)
    result.rows = sorted(
        rows.values(), key=lambda row: (row.rule_index, row.work.stage, str(row.work.computing))
    )
    return result


def job_times(
    config: Config,
    jobs: Iterable[PlannedJob],
    rates: Sequence[Throughput] | None = None,
    shapes: Mapping[str, Shape] | None = None,
) -> list[PlannedTime]:
    """Return how long each job computes: on one GPU, or on its threads at the rate of one core; as in `estimate`."""
    job_rates = _Rates(read_throughputs() if rates is None else rates, shapes or {}, Card.find(DEFAULT_CARD))
    times = []
    for job in jobs:
        seconds = 0.0
        for work in RULES[job.rule](config, job.wildcards) if job.rule in RULES else []:
            devices = 1 if work.computing and work.computing.device == "gpu" else job.threads
            seconds += work.amount / (job_rates.per_second(work) or math.nan) / devices
        times.append(PlannedTime(job.rule, seconds))
    return times


class _Rates:
    """What a core or GPU does of some work in a second."""

    def __init__(self, rates: Sequence[Throughput], shapes: Mapping[str, Shape], card: Card) -> None:
        self._rates = {(rate.stage, rate.computing): rate for rate in rates}
        self._shapes, self._card = shapes, card

    def throughput(self, work: Work) -> Throughput | None:
        return self._rates.get((work.stage, work.computing))

    def shape(self, work: Work) -> Shape:
        return self._shapes.get(work.computing.encoder if work.computing else "", BERT_BASE)

    def per_second(self, work: Work) -> float | None:
        """Return the measured rate. Else word pieces per second: operations per second over those of a word piece.

        Operations per second are those of the most similar stage that was measured with the same computing, or else
        the card's; no CPU's are guessed.
        """
        if rate := self.throughput(work):
            return rate.per_second
        if work.computing is None:
            return None
        shape = self.shape(work)
        shape = shape._replace(layers=work.computing.layers or shape.layers)
        operations = shape.operations(work.stage)
        rate_by_distance = {
            abs(math.log(shape.operations(rate.stage) / operations)): rate.per_second
            * shape.operations(rate.stage)
            for rate in self._rates.values()
            if rate.computing == work.computing
        }
        if rate_by_distance:
            return rate_by_distance[min(rate_by_distance)] / operations
        if work.computing.device == "cpu":
            return None
        return self._card.operations_per_second(work.computing.precision) / operations


# The page that a dry run ends with: what to get, what it takes, what comes out. It fits 100 columns.

WIDTH = 100
HEADINGS = ("stage", "jobs", "work", "core time", "GPU time", "basis")
MEASURED = "Measured: on one core, articles of 1,000 words (docs/benchmarks.md)."
ESTIMATED = (
    "Estimate: operations of all word pieces over those per second of another measured stage of the encoder{card}; an "
    "encoder whose config.json is missing counts as BERT-base."
)
BY_CARD = f", or else over {UTILISATION:.0%} of the peak rate of one {{name}} (--card NAME: of another)"
ASSUMED = (
    f"Sequences count as long as they may be, documents that are cut into passages as {TYPICAL_WORDS} words, and "
    "fine-tuning with all its epochs. A slow or busy machine takes longer."
)
UNKNOWN_SIZE = "A size that is unknown can be given as `about` of corpora, queries and qrels."


def costs_text(prepared: Prepared, jobs: Sequence[PlannedJob]) -> str:
    """Return what planned jobs need, would cost and fill, and what no paper of the report shows."""
    config, missing_by_entry = prepared.config, prepared.missing
    known_shapes = shapes(config, prepared.manifest)
    cost_estimate = estimate(
        config, jobs, shapes=known_shapes, card=os.environ.get(CARD_VARIABLE, DEFAULT_CARD)
    )
    if not prepared.as_if_there:
        consequence = "left out is what needs them"
    elif REFUSED in os.environ:
        consequence = "planned as if they were; a run is refused without them"
    else:
        consequence = "planned as if they were; a run leaves out what needs them"
    if prepared.as_if_there:
        missing_by_entry = needed_entries(config, missing_by_entry, jobs)
    paragraphs = [
        estimate_text(cost_estimate) if jobs else "",
        columns_text(config, jobs),
        "\n".join(config.hidden_views()),
        missing_data_text(missing_by_entry, f"Not there, and {consequence}:"),
    ]
    return "".join(f"\n{paragraph}\n" for paragraph in paragraphs if paragraph)


def needed_entries(
    config: Config, missing_by_entry: dict[str, list[str]], jobs: Sequence[PlannedJob]
) -> dict[str, list[str]]:
    """Return what is missing without the data sets that no planned job reads."""
    required_datasets = {job.wildcards["entry"] for job in jobs if job.rule == "require_dataset"}
    paths = {encoder.path for encoder in encoders(config)}
    paths |= {path for job in jobs for path in job.inputs if not path.startswith("results/")}
    return {
        name: files
        for name, files in missing_by_entry.items()
        if name in required_datasets
        or any(f"/{file.strip('/')}/" in f"/{path}/" for path in paths for file in files)
    }


def columns_text(config: Config, jobs: Iterable[PlannedJob]) -> str:
    """Return which columns of which tables the planned jobs fill; nothing where none is evaluated."""
    evaluated = {job.wildcards["experiment"] for job in jobs if job.rule == "evaluate"}
    lines, experiments_in_tables = [], set[str]()
    for paper in config.report.papers:
        published = read_paper(paper)
        experiments_of_paper = config.of_papers([paper]).active_experiments
        evaluated_here = evaluated & experiments_of_paper.keys()
        datasets = {experiments_of_paper[name].dataset for name in evaluated_here}
        for name, table in published.tables.items():
            columns: dict[str, list[str]] = {}
            for column in table.columns:
                if column.dataset in datasets:
                    columns.setdefault(published.datasets[column.dataset].label, []).append(column.measure)
            if columns:
                experiments_in_tables |= evaluated_here
                column_texts = (
                    f"{label} ({', '.join(dict.fromkeys(measures))})" for label, measures in columns.items()
                )
                lines.append(f"{paper} {name}: {'; '.join(column_texts)}")
    untabled = [
        f"{name} on {config.experiments[name].dataset}" for name in sorted(evaluated - experiments_in_tables)
    ]
    lines += [f"experiments of your own: {', '.join(untabled)}"] if untabled else []
    return (
        "\n".join(["Comes out, as columns of tables:", *(_wrapped(line) for line in lines)]) if lines else ""
    )


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="      ")


def estimate_text(cost_estimate: Estimate) -> str:
    """Return an estimate as plain text."""
    if not cost_estimate.rows:
        return _unestimated_text(cost_estimate)
    lines = [HEADINGS, *(_row_cells(row) for row in cost_estimate.rows), _total_cells(cost_estimate)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS) - 1)]
    output_lines = ["Estimated cost", *(_join_cells(line, widths) for line in lines)]
    rule = "-" * min(WIDTH, max(map(len, output_lines)))
    output_lines = [output_lines[0], output_lines[1], rule, *output_lines[2:-1], rule, output_lines[-1]]
    incomplete = [row.work.stage for row in cost_estimate.rows if row.hours is None or row.unknown_jobs]
    if incomplete:
        output_lines.append(
            textwrap.fill(f"Not whole in the total: {'; '.join(dict.fromkeys(incomplete))}.", WIDTH)
        )
    if cost_estimate.unestimated:
        output_lines.append(_unestimated_text(cost_estimate))
    disk = f"Disk: about {size_text(cost_estimate.disk)} of results, beside the data. "
    memory = (
        f"Memory: {size_text(cost_estimate.memory_mb * 1e6)} for the largest job."
        if cost_estimate.memory_mb
        else ""
    )
    output_lines += [disk + memory, textwrap.fill(_explanation(cost_estimate), WIDTH)]
    return "\n".join(output_lines)


def _explanation(cost_estimate: Estimate) -> str:
    """Return what the table's numbers rest on; of estimates and unknown sizes only where it has some."""
    estimated_rows = [row for row in cost_estimate.rows if row.rate is None and row.per_second is not None]
    card_phrase = (
        BY_CARD.format(name=cost_estimate.card.name)
        if any(row.device == "gpu" for row in estimated_rows)
        else ""
    )
    sentences = [
        MEASURED,
        ESTIMATED.format(card=card_phrase) if estimated_rows else "",
        ASSUMED if any(row.work.computing for row in cost_estimate.rows) else "",
        UNKNOWN_SIZE if any(row.unknown_jobs for row in cost_estimate.rows) else "",
    ]
    return " ".join(filter(None, sentences))


def _unestimated_text(cost_estimate: Estimate) -> str:
    # Rules that have a row have jobs without work too: a model without objectives is its encoder with a fresh head.
    names = (
        f"{rule} without training" if rule == "pretrain" else rule
        for rule in sorted(cost_estimate.unestimated)
    )
    return textwrap.fill(
        f"Without an estimate: {cost_estimate.unestimated.total():,} jobs of {', '.join(names)}.", WIDTH
    )


def _row_cells(row: CostRow) -> tuple[str, ...]:
    hours = "" if row.hours is None else time_text(row.hours)
    amount = f"{'≥ ' * bool(row.unknown_jobs)}{_amount_text(row.amount)} {row.work.unit}"
    if row.unknown_jobs == row.jobs:
        amount = f"{row.work.unit} unknown"
    columns = (hours, "") if row.device == "cpu" else ("", hours)
    jobs = "" if row.repeats_jobs else str(row.jobs)
    return (row.work.stage, jobs, amount, *columns, _basis(row))


def _basis(row: CostRow) -> str:
    basis = "measured" if row.rate is not None else "unknown" if row.per_second is None else "estimate"
    return basis if row.work.computing is None else f"{basis}: {row.work.computing.encoder[:16]}"


def _total_cells(cost_estimate: Estimate) -> tuple[str, ...]:
    sums = (
        sum(row.hours or 0 for row in cost_estimate.rows if row.device == device) for device in ("cpu", "gpu")
    )
    return ("total", str(cost_estimate.jobs), "", *(time_text(hours) if hours else "" for hours in sums), "")


def time_text(hours: float) -> str:
    """Return hours as a person says them; minutes below one hour."""
    if hours < 1:
        return f"{hours * 60:.0f} min" if hours * 60 >= 1 else "< 1 min"
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"


def _amount_text(value: float) -> str:
    """A number with two or three digits that count: 0.05, 1.2, 37, 5.2k, 3.2M, 9.8G."""
    rounded = float(f"{value:.3g}")  # 999,999 is 1M, not 1e+03k
    for threshold, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if rounded >= threshold:
            return f"{rounded / (1e3 if letter == 'k' else threshold):.3g}{letter}"
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def _join_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    stage, *middle = (
        cell.ljust(width) if column in (0, 2) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    return "  ".join([stage, *middle, cells[-1]]).rstrip()
