"""Running the tiny project on a Slurm of the tests' own, and reading Slurm's books of it."""

import hashlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import yaml
from slurm_cluster import HAS_PLUGIN, SlurmCluster
from tiny import ROOT, make_project, readme_command, run_workflow

RUN = "results/runs/tiny/bm25/prop/zero-shot/seed-1.run.gz"
TARGETS = (RUN, "results/datasets/tiny/folds.json")
MODEL = "results/models/pretrained/prop/seed-1/model.safetensors"
GPU_RULES = {"pretrain", "rerank"}
QUICK = "--slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 --latency-wait 10"


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
    node: str
    wildcards: str
    requested: dict[str, str]
    got: dict[str, str]
    minutes: int
    start: str
    end: str


def slurm_project(folder: Path) -> None:
    """The tiny project, whose encoder jobs ask for a GPU but compute without: the cluster's is only a name."""
    on_paper = {"compute": {"gpus": 1, "device": "cpu"}}
    path = make_project(folder)
    overlay = yaml.safe_load(path.read_text())
    for section in ("pretraining", "reranking"):
        overlay[section] |= on_paper
    path.write_text(yaml.safe_dump(overlay))


def requests(folder: Path) -> dict[str, Request]:
    """Rule → what Snakemake itself says that its job asks for, from a dry run."""
    plan = run_workflow(folder, "--dry-run", "--verbose", *TARGETS).stdout
    found = {}
    for block in re.split(r"\n(?=(?:local)?rule )", plan):
        if head := re.match(r"rule (\w+):\n", block):
            numbers = {name: int(value) for name, value in re.findall(r"(\w+)[=:] ?(\d+)\b", block)}
            found[head[1]] = Request(
                numbers.get("threads", 1), numbers["mem_mb"], numbers["runtime"], numbers.get("gpu", 0)
            )
    return found


def command(words: str, folder: Path, more: str) -> list[str]:
    """A make command through the profile."""
    made = readme_command(words, folder)
    installed = ["PROFILE=profiles/slurm", *HAS_PLUGIN]
    return [*made[:-1], *installed, f"{made[-1]} {' '.join(TARGETS)} {QUICK} {more}"]


def books(cluster: SlurmCluster) -> list[Entry]:
    """All jobs of the cluster so far, as sacct tells; one that Slurm itself began again, once for each time."""
    columns = "JobIDRaw,Comment,Partition,State,NodeList,ReqTRES,AllocTRES,TimelimitRaw,Start,End"
    entries = []
    for line in cluster.run("sacct", "-X", "-D", "-n", "-P", f"--format={columns}").splitlines():
        job, comment, partition, state, node, requested, got, minutes, start, end = line.split("|")
        rule, _, wildcards = comment.removeprefix("rule_").partition("_wildcards_")
        tres = [dict(item.split("=") for item in text.split(",") if item) for text in (requested, got)]
        entries.append(
            Entry(job, rule, partition, state.split()[0], node, wildcards, *tres, int(minutes), start, end)
        )
    return entries


def running(cluster: SlurmCluster, rule: str) -> str:
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


def wait_for(what: str, ask: Callable[[], str], process: subprocess.Popen[bytes], log: Path) -> str:
    """What `ask` answers as soon as it answers anything, while the workflow goes on."""
    end = time.monotonic() + 600
    while not (answer := ask()):
        assert process.poll() is None, f"it ended before {what}:\n{log.read_text()[-6000:]}"
        assert time.monotonic() < end, f"no {what}:\n{log.read_text()[-6000:]}"
        time.sleep(0.5)
    return answer


def start(
    words: str, folder: Path, cluster: SlurmCluster, log: Path, more: str = ""
) -> subprocess.Popen[bytes]:
    """Begin a make command through the profile, with `more` words for Snakemake; what it prints goes to `log`."""
    with open(log, "ab") as handle:
        return subprocess.Popen(
            command(words, folder, more),
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
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
