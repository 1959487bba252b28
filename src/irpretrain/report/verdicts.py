"""Verdicts: does a number, or a mark, that the paper prints hold here? `decide` alone says which verdict a cell has.

A number is reproduced when the printed value lies in our confidence interval or differs from our mean by at most
the tolerance of `resources/published/<paper>.yaml`. A mark ("significantly better than that baseline", or worse) is
read off the marks that every value of a row carries; it is reproduced when ours is so too with p at most the level.
Marks are what can be checked on a data set that the paper does not have. Statements of its text are in `claims`.
"""

import math
from collections.abc import Sequence

from irpretrain.papers.base import PublishedValue
from irpretrain.report.cells import (
    NOT_RUN,
    NOTHING_PUBLISHED,
    OFF,
    OTHER_RECIPE,
    REPRODUCED,
    Comparison,
    Ours,
    Verdict,
    difference_text,
    p_text,
)
from irpretrain.report.plans import CellPlan, Mark

ROUNDING = 1e-9
"""Slack of the comparison with the tolerance: 0.512 - 0.502 is not 0.010 in binary."""

NAMED = 3
"""Keys that a verdict names at most."""

MEANINGS = {
    REPRODUCED: "the printed number lies in our interval or near our mean, or ours is significantly better than the "
    "baseline that the paper's mark names (worse, where the mark says that)",
    OFF: "the printed number does not, or the difference that the paper marks is not significant in ours",
    NOT_RUN: "nothing of ours to compare; the reason stands under the table",
    NOTHING_PUBLISHED: "ours alone: the paper prints no such number",
    OTHER_RECIPE: "both numbers are there, but ours comes with another fine-tuning, or other lengths of query and "
    "document, than the paper's recipe has",
}
"""What the outcomes mean, for a reader of the report."""


def decide(plan: CellPlan, ours: Ours | None, tolerance: float) -> tuple[Verdict, ...]:
    """Return the verdicts of a cell.

    Without a value of ours it was not run. A printed number decides alone, unless ours comes with another recipe. Where
    the paper prints no number, each of its marks is decided; where it has none, ours stands alone.

    Args:
        tolerance: largest difference from a printed number that counts as reproduced.
    """
    if ours is None:
        return (Verdict(NOT_RUN, plan.reason),)
    if plan.printed is not None:
        if plan.other_recipe:
            return (other_recipe(*plan.other_recipe),)
        return (number_verdict(plan.printed, ours, tolerance),)
    marks = tuple(mark_verdict(mark, ours.comparisons) for mark in plan.marks)
    return marks or (Verdict(NOTHING_PUBLISHED, plan.alone),)


def number_verdict(published: PublishedValue, ours: Ours, tolerance: float) -> Verdict:
    """Return whether our value agrees with the printed one."""
    difference = ours.mean - published.value
    differs = f"differs by {difference_text(difference)}"
    if ours.low <= published.value <= ours.high:
        return Verdict(REPRODUCED, f"{differs}; the published value is in our interval", "number")
    if abs(difference) <= tolerance + ROUNDING:
        return Verdict(REPRODUCED, f"{differs}, within {tolerance:g}", "number")
    missed = (
        f"more than {tolerance:g}" if math.isnan(ours.low) else "the published value is outside our interval"
    )
    return Verdict(OFF, f"{differs}; {missed}", "number")


def mark_verdict(mark: Mark, comparisons: Sequence[Comparison]) -> Verdict:
    """Return whether ours is significantly better (or worse) than the baseline, as the paper's mark says."""
    made = next((c for c in comparisons if (c.mark, c.over) == (mark.mark, mark.against)), None)
    if made is not None and made.difference == 0 and mark.unordered:
        return Verdict(
            NOTHING_PUBLISHED, f"all {mark.unordered} candidates count, so no order of them is better"
        )
    where = ("mark", mark.against, mark.mark, mark.direction)
    if made is None:
        return Verdict(NOT_RUN, f"its baseline was not run: {mark.absent}", *where)
    difference = difference_text(made.difference)
    ours = "equal" if float(difference) == 0 else "better" if made.difference > 0 else "worse"
    return Verdict(REPRODUCED if made.holds else OFF, f"{ours}, {difference}, {p_text(made.p)}", *where)


def other_recipe(paper: str, *differing: str) -> Verdict:
    """Return the verdict of a number where options are not those of the paper's recipe.

    Args:
        paper: the recipe's name.
        differing: keys of the configuration, one at least.
    """
    named = ", ".join(differing[:NAMED]) + (
        f" and {more} more" if (more := len(differing) - NAMED) > 0 else ""
    )
    reason = f"not by the recipe {paper}, which configs/{paper}-paper.yaml has: other {named}"
    return Verdict(OTHER_RECIPE, reason, "number")
