"""The command of each rate stands in docs/benchmarks.md, and its stage is one whose work is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from irpretrain.errors import InputError
from irpretrain.workflow.costs.estimate import RULES
from irpretrain.workflow.costs.work import Throughput, read_throughputs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/benchmarks.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", PAGE, re.MULTILINE))
RATES = read_throughputs()


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.stage)
def test_the_benchmarks_say_how_it_was_measured(rate: Throughput) -> None:
    section = SECTIONS[rate.section]
    assert "python benchmarks/" in section or "sidecars" in section
    assert str(rate.date) in section


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.stage)
def test_the_work_of_its_stage_is_counted(rate: Throughput) -> None:
    assert rate.stage.split()[0] in RULES


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- {stage: search}", "per_second"),
        (
            "- {stage: search, per_second: 0, unit: queries, of: x, date: 2026-11-20, section: a}",
            "greater",
        ),
        ("3", "list of rates"),
        ("[", "list of rates"),
    ],
)
def test_what_is_no_rate_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "rates.yaml").write_text(content)
    with pytest.raises(InputError, match=said):
        read_throughputs(tmp_path / "rates.yaml")


def test_two_rates_of_a_stage_are_refused(tmp_path: Path) -> None:
    one = "- {stage: search, per_second: 2, unit: queries, of: x, date: 2026-11-20, section: a}\n"
    (tmp_path / "rates.yaml").write_text(2 * one)
    with pytest.raises(InputError, match="search twice"):
        read_throughputs(tmp_path / "rates.yaml")
