"""The workflow on a real Slurm of one node, through profiles/slurm, with what goes wrong on clusters: a job over its
time limit, a job that someone cancels, and a Snakemake that is killed and resumed. What Slurm's own books say is
compared with what the rules ask for, and the results with those of a run without Slurm."""

import itertools
import os
import signal
from pathlib import Path

import pytest
from slurm_cluster import ON_SLURM, SlurmCluster
from slurm_runs import (
    GPU_RULES,
    MODEL,
    TARGETS,
    Entry,
    Request,
    books,
    checksum,
    kill,
    processes,
    running,
    slurm_project,
    start,
    wait_for,
)

pytestmark = [pytest.mark.workflow, *ON_SLURM]

OVERTIME = "--set-resources 'index_corpus:runtime=10**(attempt-1)'"
"""One minute, then ten."""


def overtime(cluster: SlurmCluster) -> str:
    """The id of a job that Slurm has ended at its time limit, or an empty string."""
    return next((entry.job for entry in books(cluster) if entry.state == "TIMEOUT"), "")


@pytest.fixture(scope="module")
def on_slurm(cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Entry]]:
    """The same made by Slurm, after an overtime, a cancelled job, and a killed Snakemake; and the books."""
    folder = tmp_path_factory.mktemp("on-slurm")
    slurm_project(folder)
    log = folder / "run.log"
    process = start("make run", folder, cluster, log, OVERTIME)
    try:
        prefetched = wait_for(
            "indexing", lambda: overtime(cluster) or processes(folder, "index_corpus"), process, log
        )
        for one in () if overtime(cluster) else prefetched.split():  # on a busy machine it needs no help
            os.kill(int(one), signal.SIGSTOP)
        cancelled = wait_for("searching", lambda: running(cluster, "search"), process, log)
        cluster.run("scancel", cancelled)
        left = wait_for("re-ranking", lambda: running(cluster, "rerank"), process, log)
    finally:
        kill(process)
    assert running(cluster, "rerank") == left, "Slurm's jobs outlive Snakemake"
    resumed = start("make resume", folder, cluster, log, OVERTIME)
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


def test_every_rule_requested_for_and_got_what_it_says(local, on_slurm):
    requested, entries = local[1], by_rule(on_slurm[1])
    grouped = requested["prepare_dataset"], requested["make_folds"]
    alone = {
        rule: request for rule, request in requested.items() if rule not in ("prepare_dataset", "make_folds")
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
        for granted in (first.requested, first.got):
            assert {name: granted.get(name) for name in ("cpu", "mem")} == {
                name: wanted[name] for name in ("cpu", "mem")
            }, first
            assert granted.get("gres/gpu") == wanted.get("gres/gpu"), first


@pytest.mark.parametrize(
    ("rule", "end", "longer"), [("index_corpus", "TIMEOUT", 10), ("search", "CANCELLED", 2)]
)
def test_what_did_not_end_well_is_submitted_again_with_more(on_slurm, rule, end, longer):
    entries = by_rule(on_slurm[1])[rule]
    assert [entry.state for entry in entries] == [end, "COMPLETED"]
    first, second = entries
    assert second.minutes == longer * first.minutes
    assert int(second.requested["mem"][:-1]) == 2 * int(first.requested["mem"][:-1])


def test_a_resumed_run_repeats_only_what_was_under_way_and_never_beside_itself(on_slurm):
    entries = by_rule(on_slurm[1])
    assert [entry.state for entry in entries["rerank"]] == ["CANCELLED", "COMPLETED"]
    again = {rule: [entry.state for entry in jobs] for rule, jobs in entries.items() if len(jobs) > 1}
    assert again == {
        "index_corpus": ["TIMEOUT", "COMPLETED"],
        "search": ["CANCELLED", "COMPLETED"],
        "rerank": ["CANCELLED", "COMPLETED"],
    }
    for jobs in entries.values():
        for before, after in itertools.pairwise(jobs):
            assert before.end <= after.start, (before, after)


def test_it_ends_with_the_same_bytes_as_without_slurm(local, on_slurm):
    for name in (*TARGETS, MODEL):
        assert checksum(on_slurm[0] / name) == checksum(local[0] / name), name
