"""The workflow on a real Slurm of one node, through profiles/slurm, with what goes wrong on clusters: a job over its
time limit, a job that someone cancels, and a Snakemake that is killed and resumed. What Slurm's own books say is
compared with what the rules ask for, and the results with those of a run without Slurm."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from one_node import HAS_PLUGIN, ON_SLURM, OneNode
from tiny import ROOT, make_project, readme_command, run_workflow

pytestmark = [pytest.mark.workflow, *ON_SLURM]

RUN = "results/runs/tiny/bm25/prop/zero-shot/seed-1.run.gz"
TARGETS = (RUN, "results/datasets/tiny/folds.json")
MODEL = "results/models/pretrained/prop/seed-1/model.safetensors"
GPU_RULES = {"pretrain", "rerank"}
QUICK = "--slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 --latency-wait 10"
OVERTIME = "--set-resources 'index_corpus:runtime=10**(attempt-1)'"
"""One minute, then ten."""


class Request(NamedTuple):
    """What a job asks for at its first attempt."""

    cpus: int
    memory_mb: int
    minutes: int
    gpus: int


class Entry(NamedTuple):
    """One job in Slurm's books."""

    job: str
    rule: str
    partition: str
    state: str
    asked: dict[str, str]
    got: dict[str, str]
    minutes: int
    start: str
    end: str


def project(folder: Path) -> None:
    """The tiny project, whose encoder jobs ask for a GPU but compute without: the cluster's is only a name."""
    on_paper = {"compute": {"gpus": 1, "device": "cpu"}}
    path = make_project(folder)
    overlay = yaml.safe_load(path.read_text())
    for section in ("pretraining", "reranking"):
        overlay[section] |= on_paper
    path.write_text(yaml.safe_dump(overlay))


def requests(folder: Path) -> dict[str, Request]:
    """Rule → what Snakemake itself says that its job asks for, from a dry run."""
    plan = run_workflow(folder, "--dry-run", *TARGETS).stdout
    found = {}
    for block in re.split(r"\n(?=(?:local)?rule )", plan):
        if head := re.match(r"rule (\w+):\n", block):
            numbers = {name: int(value) for name, value in re.findall(r"(\w+)[=:] ?(\d+)\b", block)}
            found[head[1]] = Request(
                numbers.get("threads", 1), numbers["mem_mb"], numbers["runtime"], numbers.get("gpu", 0)
            )
    return found


def command(words: str, folder: Path) -> list[str]:
    """A make command through the profile."""
    made = readme_command(words, folder)
    installed = ["PROFILE=profiles/slurm", *HAS_PLUGIN]
    return [*made[:-1], *installed, f"{made[-1]} {' '.join(TARGETS)} {QUICK} {OVERTIME}"]


def books(cluster: OneNode) -> list[Entry]:
    """All jobs of the cluster so far, as sacct tells."""
    columns = "JobIDRaw,Comment,Partition,State,ReqTRES,AllocTRES,TimelimitRaw,Start,End"
    entries = []
    for line in cluster.run("sacct", "-X", "-n", "-P", f"--format={columns}").splitlines():
        job, comment, partition, state, asked, got, minutes, start, end = line.split("|")
        rule = comment.removeprefix("rule_").partition("_wildcards_")[0]
        tres = [dict(item.split("=") for item in text.split(",") if item) for text in (asked, got)]
        entries.append(Entry(job, rule, partition, state.split()[0], *tres, int(minutes), start, end))
    return entries


def running(cluster: OneNode, rule: str) -> str:
    """The id of the job of a rule that runs now, or an empty string."""
    for line in cluster.run("squeue", "-h", "-t", "RUNNING", "-o", "%i|%k").splitlines():
        job, _, comment = line.partition("|")
        if comment.removeprefix("rule_").partition("_wildcards_")[0] == rule:
            return job
    return ""


def processes(folder: Path, rule: str) -> str:
    """Ids of the processes in `folder` that run a rule's script."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            if f".{rule}.py".encode() in words and (entry / "cwd").samefile(folder):
                found.append(entry.name)
    return " ".join(found)


def overtime(cluster: OneNode) -> str:
    """The id of a job that Slurm has ended at its time limit, or an empty string."""
    return next((entry.job for entry in books(cluster) if entry.state == "TIMEOUT"), "")


def wait_for(what: str, ask: Callable[[], str], process: subprocess.Popen[bytes], log: Path) -> str:
    """What `ask` answers as soon as it answers anything, while the workflow goes on."""
    end = time.monotonic() + 600
    while not (answer := ask()):
        assert process.poll() is None, f"it ended before {what}:\n{log.read_text()[-6000:]}"
        assert time.monotonic() < end, f"no {what}:\n{log.read_text()[-6000:]}"
        time.sleep(0.5)
    return answer


def start(words: str, folder: Path, cluster: OneNode, log: Path) -> subprocess.Popen[bytes]:
    with open(log, "ab") as handle:
        return subprocess.Popen(
            command(words, folder),
            cwd=ROOT,
            env=cluster.environment,
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            start_new_session=True,
        )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill -9 make and Snakemake, but nothing that Slurm has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Request]]:
    """The targets made on this machine without Slurm, and what their jobs would ask for."""
    folder = tmp_path_factory.mktemp("local")
    project(folder)
    asked = requests(folder)
    run_workflow(folder, *TARGETS)
    return folder, asked


@pytest.fixture(scope="module")
def on_slurm(cluster: OneNode, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Entry]]:
    """The same made by Slurm, after an overtime, a cancelled job, and a killed Snakemake; and the books."""
    folder = tmp_path_factory.mktemp("on-slurm")
    project(folder)
    log = folder / "run.log"
    process = start("make run", folder, cluster, log)
    try:
        begun = wait_for(
            "indexing", lambda: overtime(cluster) or processes(folder, "index_corpus"), process, log
        )
        for one in () if overtime(cluster) else begun.split():  # on a busy machine it needs no help
            os.kill(int(one), signal.SIGSTOP)
        cancelled = wait_for("searching", lambda: running(cluster, "search"), process, log)
        cluster.run("scancel", cancelled)
        left = wait_for("re-ranking", lambda: running(cluster, "rerank"), process, log)
    finally:
        kill(process)
    assert running(cluster, "rerank") == left, "Slurm's jobs outlive Snakemake"
    resumed = start("make resume", folder, cluster, log)
    try:
        assert resumed.wait(timeout=600) == 0, log.read_text()[-6000:]
    finally:
        kill(resumed)
    assert f"Cancelling 1 Slurm jobs of a run that is dead: {left}" in log.read_text()
    return folder, books(cluster)


def by_rule(entries: list[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: int(entry.job)):
        found.setdefault(entry.rule, []).append(entry)
    return found


def test_every_rule_asked_for_and_got_what_it_says(local, on_slurm):
    asked, entries = local[1], by_rule(on_slurm[1])
    grouped = asked["prepare_dataset"], asked["make_folds"]
    alone = {
        rule: request for rule, request in asked.items() if rule not in ("prepare_dataset", "make_folds")
    }
    # A group of one rule after the other: the longer list of needs, and all the time.
    alone["dataset_make_folds_prepare_dataset"] = Request(
        1, max(one.memory_mb for one in grouped), sum(one.minutes for one in grouped), 0
    )
    assert set(entries) == set(alone)
    assert len(alone) > 10
    for rule, request in alone.items():
        first = entries[rule][0]
        minutes = 1 if rule == "index_corpus" else request.minutes
        wanted = {"cpu": str(request.cpus), "mem": f"{request.memory_mb}M"}
        wanted |= {"gres/gpu": "1"} if rule in GPU_RULES else {}
        assert request.gpus == (rule in GPU_RULES)
        assert first.partition == ("gpu" if rule in GPU_RULES else "cpu"), first
        assert first.minutes == minutes, first
        for granted in (first.asked, first.got):
            assert {name: granted.get(name) for name in ("cpu", "mem")} == {
                name: wanted[name] for name in ("cpu", "mem")
            }, first
            assert granted.get("gres/gpu") == wanted.get("gres/gpu"), first


@pytest.mark.parametrize(
    ("rule", "end", "longer"), [("index_corpus", "TIMEOUT", 10), ("search", "CANCELLED", 2)]
)
def test_what_did_not_end_well_is_submitted_again_with_more(on_slurm, rule, end, longer):
    first, second = by_rule(on_slurm[1])[rule]
    assert (first.state, second.state) == (end, "COMPLETED")
    assert second.minutes == longer * first.minutes
    assert int(second.asked["mem"][:-1]) == 2 * int(first.asked["mem"][:-1])


def test_a_resumed_run_repeats_only_what_was_under_way_and_never_beside_itself(on_slurm):
    entries = by_rule(on_slurm[1])
    assert [entry.state for entry in entries["rerank"]] == ["CANCELLED", "COMPLETED"]
    assert {rule for rule, jobs in entries.items() if len(jobs) > 1} == {"index_corpus", "search", "rerank"}
    for jobs in entries.values():
        for before, after in itertools.pairwise(jobs):
            assert before.end <= after.start, (before, after)


def test_it_ends_with_the_same_bytes_as_without_slurm(local, on_slurm):
    for name in (*TARGETS, MODEL):
        assert checksum(on_slurm[0] / name) == checksum(local[0] / name), name
