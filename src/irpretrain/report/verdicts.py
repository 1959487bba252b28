"""Verdicts: does a number, or a claim, of the paper hold here?

A number is reproduced when the printed value lies in our confidence interval or differs from our mean by at most
the tolerance of `resources/published/<paper>.yaml`. A claim ("significantly better than that baseline", or worse) is
read off the marks that every value of a row carries; it is reproduced when ours is so too with p at most the level.
Claims are what can be checked on a data set that the paper does not have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from irpretrain.report.published import Direction, PublishedValue

ROUNDING = 1e-9
"""Slack of the comparison with the tolerance: 0.512 - 0.502 is not 0.010 in binary."""

NAMED = 3
"""Keys that a verdict names at most."""

MEANINGS = {
    REPRODUCED: "the printed number lies in our interval or near our mean, or ours is significantly better than the "
    "baseline that the paper's mark names (worse, where the mark says that)",
    OFF: "the number does not, or ours is not",
    NOT_RUN: "nothing of ours to compare; the reason stands under the table",
    NOTHING_PUBLISHED: "ours alone: the paper prints no such number",
    OTHER_RECIPE: "both numbers are there, but ours comes with another fine-tuning, or other lengths of query and "
    "document, than the paper's recipe has",
}
"""What the outcomes mean, for a reader of the report."""


def number_verdict(published: PublishedValue, ours: Ours, tolerance: float) -> Verdict:
    """Return whether our value agrees with the printed one."""
    difference = ours.mean - published.value
    inside = ours.low <= published.value <= ours.high
    if inside:
        return Verdict(
            REPRODUCED,
            f"differs by {difference_text(difference)}; the published value is in our interval",
            "number",
        )
    if abs(difference) <= tolerance + ROUNDING:
        return Verdict(
            REPRODUCED, f"differs by {difference_text(difference)}, within {tolerance:g}", "number"
        )
    missed = (
        f"more than {tolerance:g}" if math.isnan(ours.low) else "the published value is outside our interval"
    )
    return Verdict(OFF, f"differs by {difference_text(difference)}; {missed}", "number")


def claim_verdict(
    mark: str, against: str, found: Comparison | None, absent: str, direction: Direction = "better"
) -> Verdict:
    """Return whether ours is significantly better (or worse) than the baseline, as the paper's mark says.

    Args:
        mark: the paper's mark.
        against: label of the baseline.
        found: our comparison, or None where the baseline was not run here.
        absent: why it was not run.
        direction: what the mark says.
    """
    if found is None:
        return Verdict(NOT_RUN, f"its baseline was not run: {absent}", "claim", against, mark, direction)
    difference = difference_text(found.difference)
    ours = "equal" if float(difference) == 0 else "better" if found.difference > 0 else "worse"
    text = f"{ours}, {difference}, {p_text(found.p)}"
    return Verdict(REPRODUCED if found.holds else OFF, text, "claim", against, mark, direction)


def not_run(reason: str) -> Verdict:
    """Return the verdict of a cell without a value of ours."""
    return Verdict(NOT_RUN, reason)


def nothing_published(reason: str) -> Verdict:
    """Return the verdict of a value that the paper has no counterpart of."""
    return Verdict(NOTHING_PUBLISHED, reason)


def other_recipe(paper: str, differing: Sequence[str]) -> Verdict:
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
