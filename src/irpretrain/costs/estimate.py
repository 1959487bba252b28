"""What the jobs of a plan would cost: a row for each stage, and the table that a dry run ends with."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from irpretrain.config.root import Config
from irpretrain.costs.encoder_work import ENCODER_RULES
from irpretrain.costs.text_work import TEXT_RULES
from irpretrain.costs.work import Computing, Device, Throughput, Wildcards, Work, read_throughputs

RULES = {**TEXT_RULES, **ENCODER_RULES}
HEAD = ("stage", "jobs", "work", "core-hours", "GPU-hours", "measured")
NOTES = """\
Hours are of one core or one GPU, extrapolated from small runs on one machine (docs/benchmarks.md), as if documents
were as long as those. Word pieces are counted as if every sequence were as long as it may be. Sizes that the
configuration does not say are counted in the files, of large ones in their beginnings. A size that is unknown can be
given as `about` of corpora, queries and qrels; what was not measured, in resources/throughput.yaml."""


@dataclass
class Row:
    """A stage of the plan.

    Attributes:
        work: one of its parts of jobs, for what all have in common.
        rate: what was measured of it; None for nothing.
        place: of its rule in `RULES`.
        jobs: how many.
        amount: sum of the amounts that are known.
        unknown: jobs whose amount is not.
    """

    work: Work
    rate: Throughput | None
    place: int
    jobs: int = 0
    amount: float = 0.0
    unknown: int = 0

    @property
    def hours(self) -> float | None:
        """Hours of one core or GPU for what is known; None where nothing is, or nothing was measured."""
        if self.rate is None or self.unknown == self.jobs:
            return None
        return self.amount / self.rate.per_second / 3600

    @property
    def device(self) -> Device:
        """On what it computes."""
        return "cpu" if self.work.computing is None else self.work.computing.device


@dataclass
class Estimate:
    """All jobs; a row for each stage whose work is counted, in the order of `RULES`; jobs by rule of the others."""

    jobs: int = 0
    rows: list[Row] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


def estimate(
    config: Config, jobs: Iterable[tuple[str, Wildcards]], rates: Sequence[Throughput] | None = None
) -> Estimate:
    """Estimate a plan.

    Args:
        jobs: rule and wildcards of every job that is to be run.
        rates: what was measured; by default `resources/throughput.yaml`.
    """
    measured = {
        (throughput.stage, throughput.computing): throughput
        for throughput in (read_throughputs() if rates is None else rates)
    }
    rows: dict[tuple[str, Computing | None], Row] = {}
    variants = {stage.split()[0] for stage, _ in measured if " " in stage}
    places = {rule: place for place, rule in enumerate(RULES)} | {
        "rerank_snapshot": list(RULES).index("rerank")
    }
    result = Estimate()
    for rule, wildcards in jobs:
        result.jobs += 1
        parts = RULES[rule](config, wildcards) if rule in RULES else []
        if not parts:
            result.others[rule] += 1
        for work in parts:
            rate = measured.get((work.stage, work.computing))
            # One row for all variants of a rule that were not measured.
            if rate is None and rule in TEXT_RULES:
                work = replace(work, stage=f"{rule}, others" if rule in variants else rule)
            row = rows.setdefault((work.stage, work.computing), Row(work, rate, places[rule]))
            row.jobs += 1
            row.amount += work.amount or 0.0
            row.unknown += work.amount is None
    result.rows = sorted(rows.values(), key=lambda row: (row.place, row.work.stage, str(row.work.computing)))
    return result


def table(found: Estimate) -> str:
    """Return an estimate as plain text."""
    lines = [HEAD, *(_cells(row) for row in found.rows), _totals(found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD) - 1)]
    printed = ["Estimated cost", *(_line(line, widths) for line in lines)]
    rule = "-" * max(map(len, printed))
    printed = [printed[0], printed[1], rule, *printed[2:-1], rule, printed[-1]]
    if found.others:
        count, names = sum(found.others.values()), ", ".join(sorted(found.others))
        printed.append(f"Not estimated: {count} jobs of {names}.")
    return "\n".join([*printed, NOTES])


def _cells(row: Row) -> tuple[str, ...]:
    hours = "" if row.hours is None else _number(row.hours)
    amount = (
        f"{_number(row.amount)} {row.work.unit}" if row.unknown < row.jobs else f"{row.work.unit} unknown"
    )
    if 0 < row.unknown < row.jobs:
        amount += f" + {row.unknown} jobs unknown"
    columns = (hours, "") if row.device == "cpu" else ("", hours)
    return (row.work.stage, str(row.jobs), amount, *columns, _measured(row))


def _measured(row: Row) -> str:
    if row.rate is not None:
        return f"{row.rate.per_second:,g}/s, {row.rate.of}, {row.rate.date}"
    used = row.work.computing
    if used is None:
        return "not measured"
    return f"not measured: {used.encoder}, {used.precision} on {used.device}"


def _totals(estimated: Estimate) -> tuple[str, ...]:
    sums = {
        device: [row.hours for row in estimated.rows if row.device == device] for device in ("cpu", "gpu")
    }
    columns = (_number(sum(filter(None, hours))) if any(hours) else "" for hours in sums.values())
    unmeasured = sum(row.rate is None or row.unknown > 0 for row in estimated.rows)
    rest = f"{unmeasured} of {len(estimated.rows)} rows are not in it or not whole" if unmeasured else ""
    return ("all that was measured", str(estimated.jobs), "", *columns, rest)


def _number(value: float) -> str:
    """A number with two or three digits that count: 0.05, 1.2, 37, 5.2k, 3.2M, 9.8G."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scaled = value / (1e3 if letter == "k" else size)
            return f"{scaled:.3g}{letter}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    stage, *middle = (
        cell.ljust(width) if place in (0, 2) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    return "  ".join([stage, *middle, cells[-1]]).rstrip()
