"""profiles/gpu plans as many jobs that ask for a GPU at once as it says the machine has; the others ask for none."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from tiny import make_project, readme_command, run_command

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(300)]
RUN = "results/runs/tiny/bm25/prop/zero-shot/seed-1.run.gz"


def test_encoder_jobs_alone_ask_for_a_gpu(tmp_path):
    overlay = make_project(tmp_path)
    options = yaml.safe_load(overlay.read_text())
    for section in ("pretraining", "reranking"):
        options[section]["compute"] = {"gpus": 1}
    overlay.write_text(yaml.safe_dump(options))
    *command, arguments = readme_command("make run", tmp_path)
    done = run_command([*command, "PROFILE=profiles/gpu", f"{arguments} --dry-run {RUN}"])
    jobs = re.findall(r"^rule (\w+):\n((?:    .*\n)+)", done.stdout, re.MULTILINE)
    assert len(jobs) > 10
    assert {rule for rule, text in jobs if "gpu=1" in text} == {"pretrain", "rerank"}
