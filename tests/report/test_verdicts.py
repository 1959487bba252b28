import pytest

from irpretrain.report.cells import NOT_RUN, OFF, REPRODUCED, Comparison, Ours
from irpretrain.report.published import PublishedValue
from irpretrain.report.scores import RunName
from irpretrain.report.verdicts import claim_verdict, number_verdict


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
    found = claim_verdict("†", "BERT", Comparison("BERT", "†", difference, p, p <= 0.05), "unused")
    assert (found.outcome, found.reason, found.against, found.mark) == (outcome, reason, "BERT", "†")


def test_a_claim_without_its_baseline() -> None:
    found = claim_verdict("‡", "Transformer_ICT", None, "no such objective")
    assert (found.outcome, found.reason) == (NOT_RUN, "its baseline was not run: no such objective")
