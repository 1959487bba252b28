"""profiles/gpu plans as many jobs that ask for a GPU at once as it says the machine has; the others ask for none."""

import re
from pathlib import Path

import pytest
import yaml
from tiny import make_project, readme_command, run_command

pytestmark = pytest.mark.workflow
RUN = "results/runs/tiny/bm25/prop/zero-shot/seed-1.run.gz"


def planned(tmp_path: Path, arguments: str, **compute: dict[str, int]) -> dict[str, str]:
    """What a dry run says of the rules that lead to RUN, given `compute` of sections."""
    overlay = make_project(tmp_path)
    options = yaml.safe_load(overlay.read_text())
    for section, given in compute.items():
        options[section]["compute"] = given
    overlay.write_text(yaml.safe_dump(options))
    *command, own = readme_command("make run", tmp_path)
    done = run_command([*command, "PROFILE=profiles/gpu", f"{own} --dry-run --verbose {RUN} {arguments}"])
    jobs = dict(re.findall(r"^rule (\w+):\n((?:    .*\n)+)", done.stdout, re.MULTILINE))
    assert len(jobs) > 10
    return jobs


def test_encoder_jobs_alone_ask_for_a_gpu(tmp_path):
    jobs = planned(tmp_path, "", pretraining={"gpus": 1}, reranking={"gpus": 1})
    assert {rule for rule, text in jobs.items() if "gpu=1" in text} == {"pretrain", "rerank"}


def test_a_pre_training_on_two_gpus_asks_for_them_and_for_the_threads_and_memory_of_two_processes(tmp_path):
    jobs = planned(
        tmp_path, "--resources gpu=2 --cores 8", pretraining={"gpus": 2, "threads": 3}, reranking={"gpus": 1}
    )
    assert "gpu=1" in jobs["rerank"]
    assert all(text in jobs["pretrain"] for text in ("gpu=2", "threads: 6", "mem_mb=16000"))
