"""Tables of docs/results.md from the saved runs in docs: the papers' claims, and the models' means.

A verdict that another saved run does not share stands beside that run's: recipes and scales differ, so it flips.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean

from irpretrain.evaluation.verdicts import TESTED, VERDICTS
from irpretrain.foundation.atomic import read_csv
from irpretrain.report.claim_answers import Answer, read_answers

BLOCK = re.compile(r"(<!-- (claims|models) of ([\w-]+)(?:: (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
# Where a saved run's verdict holds, as a sentence says it.
RUNS = {"showcase": "where documents are cut", "equal-reading": "at equal reading", "one-gpu": "on one GPU"}
# The measure that a table does not repeat, and the data set of the table of models.
USUAL, DATASET = "RR@10", "squad"
# Of the table of models: columns by regime, and its rows in their order. Variants of these models are in other tables.
REGIMES = {"zero-shot": "zero-shot", "full": "fine-tuned"}
MODELS = {
    "control": "control", "prop": "**PROP**", "prop-rop": "ROP alone", "prop-random": "ROP alone, random words",
    "prop-mlm": "MLM alone", "ict": "ICT", "ares-simple": "**ARES_simple**", "ares-strict": "ARES_strict",
    "ares-hard": "ARES_hard", "ares-rank": "ARES_RANK", "ares-rep": "ARES_REP", "wikiformer": "**Wikiformer**",
    "php": "**PHP**", "php-without-mlm": "PHP without MLM", "duet-v2": "Duet v2", "conv-knrm": "Conv-KNRM",
    "knrm": "KNRM", "drmm": "DRMM",
}  # fmt: skip


def results_page(docs: Path) -> str:
    """Return the page with its tables made anew: a run's models, all its verdicts, or those tested of one paper."""

    def table(block: re.Match[str]) -> str:
        begin, kind, run, paper, end = block.groups()
        results = docs / run / "results"
        if kind == "models":
            return "\n".join([begin, *_models(sorted(results.glob("scores/*.csv"))), "", end])
        answers = list(read_answers([results / "claims.csv"]))
        if not paper:
            return "\n".join([begin, *_counts(answers), "", end])
        lines = _tested((answer for answer in answers if answer.paper == paper), _others(docs, run))
        return "\n".join([begin, *lines, "", end])

    return BLOCK.sub(table, (docs / "results.md").read_text(encoding="utf-8"))


def _others(docs: Path, run: str) -> dict[str, dict[tuple[str, str], Answer]]:
    """Return the tested claims of the other saved runs, by paper and name."""
    return {
        name: {
            (answer.paper, answer.claim): answer
            for answer in read_answers([path])
            if answer.verdict in TESTED
        }
        for name in RUNS
        if name != run and (path := docs / name / "results" / "claims.csv").is_file()
    }


def _counts(answers: Iterable[Answer]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for answer in answers:
        counts.setdefault(answer.paper, Counter())[answer.verdict] += 1
    yield f"| paper | {' | '.join(VERDICTS)} |"
    yield f"|---|{'---:|' * len(VERDICTS)}"
    for paper, of_paper in {**counts, "all": sum(counts.values(), Counter())}.items():
        yield f"| {paper} | {' | '.join(str(of_paper[verdict]) for verdict in VERDICTS)} |"


def _tested(
    answers: Iterable[Answer], others: Mapping[str, Mapping[tuple[str, str], Answer]]
) -> Iterator[str]:
    yield f"| claim | difference in {USUAL} [95 %] | power | verdict |"
    yield "|---|---:|---:|---|"
    for answer in answers:
        if answer.verdict not in TESTED:
            continue
        difference, low, high = map(_signed, (answer.difference, answer.low, answer.high))
        power = "" if math.isnan(answer.power) else f"{answer.power:.2f}"
        verdict = "; ".join(
            [
                f"**{answer.verdict}**" if answer.p_holm < 0.05 else answer.verdict,
                *filter(None, [answer.qualification]),
                *(
                    _otherwise(name, other)
                    for name, of_run in others.items()
                    if (other := of_run.get((answer.paper, answer.claim))) and other.verdict != answer.verdict
                ),
            ]
        )
        cells = (
            answer.says.removesuffix("."),
            ("" if answer.measure == USUAL else f"{answer.measure} ") + f"{difference} [{low}, {high}]",
            power,
            verdict,
        )
        yield f"| {' | '.join(cells)} |"


def _otherwise(run: str, answer: Answer) -> str:
    difference, low, high = map(_signed, (answer.difference, answer.low, answer.high))
    return f"{RUNS[run]} {answer.verdict} ({difference} [{low}, {high}])"


def _models(files: Iterable[Path]) -> Iterator[str]:
    """Each model's mean over seeds, and in brackets the seeds; a run that several files have counts once."""
    by_seed: dict[tuple[str, str], dict[int, float]] = {}
    for row in (row for file in files for row in read_csv(file)):
        if (row["dataset"], row["measure"], row["candidates"], row["fold"]) == (DATASET, USUAL, "bm25", "0"):
            by_seed.setdefault((row["model"], row["regime"]), {})[int(row["seed"])] = float(row["value"])
    yield f"| model | {' | '.join(REGIMES.values())} |"
    yield f"|---|{'---:|' * len(REGIMES)}"
    for model, label in MODELS.items():
        seeds_by_regime = [by_seed.get((model, regime), {}) for regime in REGIMES]
        if any(seeds_by_regime):
            yield f"| {label} | {' | '.join(map(_of_seeds, seeds_by_regime))} |"


def _of_seeds(by_seed: Mapping[int, float]) -> str:
    values = [value for _, value in sorted(by_seed.items())]
    return f"{fmean(values):.3f} ({', '.join(f'{value:.3f}' for value in values)})" if values else "not run"


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.3f}".replace("-", "−")
