"""The workflow on a real Slurm of three nodes: one loses its power, one is drained, one is slow. Nothing is lost,
nothing is made twice, and the bytes are those of a run without Slurm."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from slurm_cluster import ON_SLURM, SlurmCluster
from slurm_runs import (
    MODEL,
    TARGETS,
    Entry,
    books,
    checksum,
    kill,
    running,
    slurm_project,
    start,
    wait_for,
)

pytestmark = [pytest.mark.workflow, *ON_SLURM]

NODES, SLOW = 3, ("n3",)


class Run(NamedTuple):
    """A run on three nodes: its folder, the books, and which node died and which was drained, with the times."""

    folder: Path
    entries: list[Entry]
    dead: str
    died: str
    drained: str
    at: str


def now() -> str:
    """The time as Slurm's books write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def node_of(cluster: SlurmCluster, rule: str, but: str = "") -> Callable[[], str]:
    """What tells the node, other than `but`, that runs a rule's job, or an empty string."""

    def ask() -> str:
        job = running(cluster, rule)
        node = cluster.run("squeue", "-h", "-j", job, "-o", "%N").strip() if job else ""
        return "" if node == but else node

    return ask


@pytest.fixture(scope="module")
def on_nodes(cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The tiny project, while the node that pre-trains dies, and the next one that does is drained."""
    folder = tmp_path_factory.mktemp("on-nodes")
    slurm_project(folder)
    log = folder / "run.log"
    process = start("make run", folder, cluster, log)
    try:
        dead = wait_for("pre-training", node_of(cluster, "pretrain"), process, log)
        cluster.kill_node(dead)
        died = now()
        drained = wait_for("pre-training elsewhere", node_of(cluster, "pretrain", but=dead), process, log)
        cluster.run("scontrol", "update", f"NodeName={drained}", "State=DRAIN", "Reason=test")
        at = now()
        assert process.wait(timeout=600) == 0, log.read_text()[-6000:]
    finally:
        kill(process)
    return Run(folder, books(cluster), dead, died, drained, at)


def test_a_job_of_a_dead_node_is_done_again_elsewhere(on_nodes):
    first, second = [entry for entry in on_nodes.entries if entry.rule == "pretrain"]
    assert (first.node, first.state) == (on_nodes.dead, "NODE_FAIL")
    assert (second.node, second.state) == (on_nodes.drained, "COMPLETED"), "a drained node ends what it runs"
    assert first.end <= second.start


def test_no_job_ends_on_a_dead_node_or_begins_on_a_drained_one(on_nodes):
    later = {entry.node for entry in on_nodes.entries if entry.start > on_nodes.at}
    assert later == {"n1", "n2", "n3"} - {on_nodes.dead, on_nodes.drained}
    # Until Slurm notices, it may give a dead node jobs, which cannot end there.
    done = [entry for entry in on_nodes.entries if (entry.node, entry.state) == (on_nodes.dead, "COMPLETED")]
    assert all(entry.end <= on_nodes.died for entry in done)


def test_every_job_is_done_once(on_nodes):
    completed = [(entry.rule, entry.wildcards) for entry in on_nodes.entries if entry.state == "COMPLETED"]
    assert len(set(completed)) == len(completed) > 10
    others = [entry for entry in on_nodes.entries if entry.state != "COMPLETED"]
    assert {entry.node for entry in others} == {on_nodes.dead}
    assert {(entry.rule, entry.wildcards) for entry in others} <= set(completed)


def test_it_ends_with_the_same_bytes_as_without_slurm(on_nodes, local):
    for name in (*TARGETS, MODEL):
        assert checksum(on_nodes.folder / name) == checksum(local[0] / name), name
