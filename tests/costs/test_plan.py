"""A dry run ends with what its jobs would cost, and the full scale is planned without its data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from irpretrain.costs.plan import main

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
PAPER = ["--configfile", str(ROOT / "configs/paper.yaml")]


def test_the_full_scale_is_planned_with_its_cost(capfd) -> None:
    assert main(PAPER) == 0
    shown = "".join(capfd.readouterr())
    [planned] = set(re.findall(r"^total +(\d+)$", shown, re.MULTILINE))
    _, estimate = shown.split("Estimated cost\n")
    # 64 parts of Wikipedia: 7M articles at 1,582 a second of one core
    assert re.search(r"^read_corpus wikipedia-dump +64  7M documents +1\.2  ", estimate, re.MULTILINE)
    assert re.search(rf"^all that was measured +{planned} ", estimate, re.MULTILINE)
    assert re.search(r"^pretrain with MLM +4 .*not measured: BERT-base, bf16 on gpu$", estimate, re.MULTILINE)


def test_quiet_is_quiet(capfd) -> None:
    assert main([*PAPER, "--quiet", "all"]) == 0
    assert "Estimated cost" not in "".join(capfd.readouterr())


def test_a_configuration_that_is_refused_has_one_message(capfd, tmp_path) -> None:
    (tmp_path / "wrong.yaml").write_text("pretraining: {steps: none}\n")
    assert main(["--configfile", str(tmp_path / "wrong.yaml")]) == 1
    shown = "".join(capfd.readouterr())
    assert "pretraining.steps" in shown
    assert "Traceback" not in shown
