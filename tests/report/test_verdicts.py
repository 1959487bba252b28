import pytest

from irpretrain.papers.base import PublishedValue
from irpretrain.report.cells import (
    NOT_RUN,
    NOTHING_PUBLISHED,
    OFF,
    OTHER_RECIPE,
    REPRODUCED,
    Comparison,
    Ours,
)
from irpretrain.report.plans import CellPlan, Mark
from irpretrain.report.scores import RunName
from irpretrain.report.verdicts import decide, mark_verdict, number_verdict


def _ours(mean: float, half: float) -> Ours:
    return Ours(RunName("d", "bm25", "m", "full"), "P@20", mean, mean - half, mean + half, (1,), 250)


@pytest.mark.parametrize(
    ("mean", "half", "outcome", "reason"),
    [
        (0.470, 0.030, OFF, "differs by -0.032; the published value is outside our interval"),
        (0.490, 0.030, REPRODUCED, "differs by -0.012; the published value is in our interval"),
        (0.492, 0.001, REPRODUCED, "differs by -0.010, within 0.01"),
        (0.512, 0.001, REPRODUCED, "differs by +0.010, within 0.01"),
        (0.513, 0.001, OFF, "differs by +0.011; the published value is outside our interval"),
    ],
)
def test_numbers(mean: float, half: float, outcome: str, reason: str) -> None:
    found = number_verdict(PublishedValue.parse("0.502*"), _ours(mean, half), 0.01)
    assert (found.outcome, found.reason, found.kind) == (outcome, reason, "number")


@pytest.mark.parametrize(
    ("difference", "p", "outcome", "reason"),
    [
        (0.1, 0.04, REPRODUCED, "better, +0.100, p = 0.040"),
        (0.1, 0.06, OFF, "better, +0.100, p = 0.060"),
        (-0.1, 0.0001, OFF, "worse, -0.100, p < 0.001"),
        (0.0, 1.0, OFF, "equal, +0.000, p = 1.000"),
    ],
)
def test_claims(difference: float, p: float, outcome: str, reason: str) -> None:
    comparison = Comparison("BERT", "†", difference, p, p <= 0.05)
    found = mark_verdict(Mark("†", "BERT", "unused"), [comparison])
    assert (found.outcome, found.reason, found.against, found.mark) == (outcome, reason, "BERT", "†")


def test_a_claim_without_its_baseline() -> None:
    found = mark_verdict(Mark("‡", "Transformer_ICT", "no such objective"), [])
    assert (found.outcome, found.reason) == (NOT_RUN, "its baseline was not run: no such objective")


PRINTED = PublishedValue.parse("0.502")
CLAIM = Mark("†", "BERT", "it was not run")


@pytest.mark.parametrize(
    ("said", "mean", "outcomes"),
    [
        ({"reason": "no experiment"}, None, [NOT_RUN]),
        ({"printed": PRINTED, "marks": (CLAIM,)}, 0.5, [REPRODUCED]),
        ({"printed": PRINTED, "other_recipe": ("prop", "finetuning.epochs")}, 0.5, [OTHER_RECIPE]),
        ({"marks": (CLAIM, CLAIM)}, 0.5, [NOT_RUN, NOT_RUN]),
        ({"alone": "the paper has no such row"}, 0.5, [NOTHING_PUBLISHED]),
    ],
    ids=["not run", "number before marks", "other recipe", "each mark", "alone"],
)
def test_one_policy_for_every_cell(said: dict, mean: float | None, outcomes: list[str]) -> None:
    plan = CellPlan("row", "d", "bm25", "P@20", "full", **said)
    decided = decide(plan, None if mean is None else _ours(mean, 0.001), tolerance=0.01)
    assert [verdict.outcome for verdict in decided] == outcomes
    assert decided[0].reason in (said.get("reason"), said.get("alone")) or decided[0].kind
