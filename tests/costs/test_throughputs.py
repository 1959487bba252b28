"""The command of each rate stands in docs/benchmarks.md, and its stage is one whose work is counted."""

import re
from pathlib import Path

import pytest

from irpretrain.workflow.costs.estimate import RULES
from irpretrain.workflow.costs.work import Throughput, read_throughputs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/benchmarks.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", PAGE, re.MULTILINE))
RATES = read_throughputs()


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.stage)
def test_the_benchmarks_say_how_it_was_measured(rate: Throughput) -> None:
    section = SECTIONS[rate.section]
    assert re.search(r"python benchmarks/|sidecars|of commit [0-9a-f]{8}", section)
    assert str(rate.date) in section


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.stage)
def test_the_work_of_its_stage_is_counted(rate: Throughput) -> None:
    assert rate.stage.split()[0] in RULES


def test_a_stage_has_one_rate() -> None:
    stages = [(rate.stage, rate.computing) for rate in RATES]
    assert all(stages.count(stage) == 1 for stage in stages)
