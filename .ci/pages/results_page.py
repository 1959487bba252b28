"""Tables of the papers' claims in docs/results.md, from the claims of the saved runs in docs."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from irpretrain.claims.verdicts import TESTED, VERDICTS
from irpretrain.report.claim_answers import Answer, read_answers

BLOCK = re.compile(r"(<!-- claims of (\w+)(?:: (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
# The measure that a table does not repeat.
USUAL = "RR@10"


def results_page(docs: Path) -> str:
    """Return the page with its tables made anew: all verdicts of a run, or what was tested of a paper's claims."""

    def table(found: re.Match[str]) -> str:
        begin, run, paper, end = found.groups()
        answers = list(read_answers([docs / run / "results/claims.csv"]))
        lines = _tested(answer for answer in answers if answer.paper == paper) if paper else _counts(answers)
        return "\n".join([begin, *lines, "", end])

    return BLOCK.sub(table, (docs / "results.md").read_text(encoding="utf-8"))


def _counts(answers: Iterable[Answer]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for answer in answers:
        counts.setdefault(answer.paper, Counter())[answer.verdict] += 1
    yield f"| paper | {' | '.join(VERDICTS)} |"
    yield f"|---|{'---:|' * len(VERDICTS)}"
    for paper, of_paper in {**counts, "all": sum(counts.values(), Counter())}.items():
        yield f"| {paper} | {' | '.join(str(of_paper[verdict]) for verdict in VERDICTS)} |"


def _tested(answers: Iterable[Answer]) -> Iterator[str]:
    yield f"| claim | difference in {USUAL} [95 %] | power | verdict |"
    yield "|---|---:|---:|---|"
    for answer in answers:
        if answer.verdict not in TESTED:
            continue
        difference, low, high = map(_signed, (answer.difference, answer.low, answer.high))
        power = "" if math.isnan(answer.power) else f"{answer.power:.2f}"
        verdict = f"**{answer.verdict}**" if answer.p_holm < 0.05 else answer.verdict
        cells = (
            answer.says.removesuffix("."),
            ("" if answer.measure == USUAL else f"{answer.measure} ") + f"{difference} [{low}, {high}]",
            power,
            verdict,
        )
        yield f"| {' | '.join(cells)} |"


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.3f}".replace("-", "−")
