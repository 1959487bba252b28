"""The page that a dry run ends with: what to get, what it takes, what comes out. It fits 100 columns."""

import textwrap
from collections.abc import Iterable, Sequence

from irpretrain.config.papers import read_paper
from irpretrain.config.root import Config
from irpretrain.config.usage import active_experiments
from irpretrain.foundation.progress import size_text
from irpretrain.workflow.costs import PlannedJob
from irpretrain.workflow.costs.encoder_work import encoders
from irpretrain.workflow.costs.estimate import UTILISATION, CostRow, Estimate

WIDTH = 100
HEAD = ("stage", "jobs", "work", "core time", "GPU time", "basis")
BASIS = (
    "Measured: on one core, articles of 1,000 words (docs/benchmarks.md). Estimate: operations of all word pieces over "
    "those per second of another measured stage of the encoder, or else over "
    f"{UTILISATION:.0%} of the peak rate of one {{card}} (--card NAME: of another); an encoder whose config.json is "
    "missing counts as BERT-base. Sequences count as long as they may be, and fine-tuning with all its epochs: upper "
    "bounds. A size that is unknown can be given as `about` of corpora, queries and qrels."
)


def needed_entries(
    config: Config, missing: dict[str, list[str]], jobs: Sequence[PlannedJob]
) -> dict[str, list[str]]:
    """Return what is missing without the data sets that no planned job reads."""
    required = {job.wildcards["entry"] for job in jobs if job.rule == "require_dataset"}
    paths = {encoder.path for encoder in encoders(config)}
    paths |= {path for job in jobs for path in job.inputs if not path.startswith("results/")}
    return {
        name: files
        for name, files in missing.items()
        if name in required or any(f"/{file.strip('/')}/" in f"/{path}/" for path in paths for file in files)
    }


def columns_text(config: Config, jobs: Iterable[PlannedJob]) -> str:
    """Return which columns of which tables the planned jobs fill; nothing where none is evaluated."""
    scored = {job.wildcards["experiment"] for job in jobs if job.rule == "evaluate"}
    lines, named = [], set[str]()
    for paper in config.report.papers:
        published = read_paper(paper)
        shown = active_experiments(config.of_papers([paper]))
        datasets = {shown[name].dataset: name for name in scored & shown.keys()}
        for name, table in published.tables.items():
            columns: dict[str, list[str]] = {}
            for column in table.columns:
                if column.dataset in datasets:
                    columns.setdefault(published.datasets[column.dataset].label, []).append(column.measure)
                    named.update(other for other in scored if other in shown)
            if columns:
                parts = (
                    f"{label} ({', '.join(dict.fromkeys(measures))})" for label, measures in columns.items()
                )
                lines.append(f"{paper} {name}: {'; '.join(parts)}")
    own = [f"{name} on {config.experiments[name].dataset}" for name in sorted(scored - named)]
    lines += [f"experiments of your own: {', '.join(own)}"] if own else []
    return (
        "\n".join(["Comes out, as columns of tables:", *(_wrapped(line) for line in lines)]) if lines else ""
    )


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="      ")


def table(found: Estimate) -> str:
    """Return an estimate as plain text."""
    if not found.rows:
        return _others(found)
    lines = [HEAD, *(_cells(row) for row in found.rows), _totals(found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD) - 1)]
    printed = ["Estimated cost", *(_line(line, widths) for line in lines)]
    rule = "-" * min(WIDTH, max(map(len, printed)))
    printed = [printed[0], printed[1], rule, *printed[2:-1], rule, printed[-1]]
    incomplete = [row.work.stage for row in found.rows if row.hours is None or row.unknown]
    if incomplete:
        printed.append(
            textwrap.fill(f"Not whole in the total: {'; '.join(dict.fromkeys(incomplete))}.", WIDTH)
        )
    if found.others:
        printed.append(_others(found))
    disk = f"Disk: about {size_text(found.disk)} of results, beside the data. "
    memory = f"Memory: {size_text(found.memory_mb * 1e6)} for the largest job." if found.memory_mb else ""
    printed += [disk + memory, textwrap.fill(BASIS.format(card=found.card.name), WIDTH)]
    return "\n".join(printed)


def _others(found: Estimate) -> str:
    # Rules that have a row have jobs without work too: a model without objectives is its encoder with a fresh head.
    names = (f"{rule} without training" if rule == "pretrain" else rule for rule in sorted(found.others))
    return textwrap.fill(f"Without an estimate: {found.others.total():,} jobs of {', '.join(names)}.", WIDTH)


def _cells(row: CostRow) -> tuple[str, ...]:
    hours = "" if row.hours is None else time_text(row.hours)
    amount = f"{'≥ ' * bool(row.unknown)}{_number(row.amount)} {row.work.unit}"
    if row.unknown == row.jobs:
        amount = f"{row.work.unit} unknown"
    columns = (hours, "") if row.device == "cpu" else ("", hours)
    jobs = "" if row.is_second else str(row.jobs)
    return (row.work.stage, jobs, amount, *columns, _basis(row))


def _basis(row: CostRow) -> str:
    kind = "measured" if row.rate is not None else "unknown" if row.per_second is None else "estimate"
    return kind if row.work.computing is None else f"{kind}: {row.work.computing.encoder[:16]}"


def _totals(found: Estimate) -> tuple[str, ...]:
    sums = (sum(row.hours or 0 for row in found.rows if row.device == device) for device in ("cpu", "gpu"))
    return ("total", str(found.jobs), "", *(time_text(hours) if hours else "" for hours in sums), "")


def time_text(hours: float) -> str:
    """Return hours as a person says them; minutes below one hour."""
    if hours < 1:
        return f"{hours * 60:.0f} min" if hours * 60 >= 1 else "< 1 min"
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"


def _number(value: float) -> str:
    """A number with two or three digits that count: 0.05, 1.2, 37, 5.2k, 3.2M, 9.8G."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scaled = value / (1e3 if letter == "k" else size)
            return f"{scaled:.3g}{letter}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    stage, *middle = (
        cell.ljust(width) if column in (0, 2) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    return "  ".join([stage, *middle, cells[-1]]).rstrip()
