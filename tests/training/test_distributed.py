"""Two processes compute what one does: the same groups, masks and dropout, and losses that differ by rounding only.

Of what depends on all of a step, MLM losses are told best: the two halves of a step have different numbers of masked
tokens, so that a mean of the halves' means is another number.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import psutil
import pytest
import rank_work
from pydantic import ValidationError
from safetensors.torch import load_file
from tiny_training import lines, training_options, without_time

from fresh_process import call
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.config.training import SharedComputeConfig
from irpretrain.foundation.contracts import GROUPS, TERM_TARGETS
from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.foundation.provenance import sha256
from irpretrain.foundation.stage import stage
from irpretrain.objectives.groups import Span, group
from irpretrain.retrieval.term_weights.train import train_regressor
from irpretrain.text.token_store import write_token_store
from irpretrain.training.pretrain import pretrain
from irpretrain.training.processes import _first_error, in_processes, make_portable
from irpretrain.training.ranks import LostProcessError, share_of
from patience import PATIENCE
from small_documents import write_documents

TWO = {"device": "cpu", "processes": 2, "checkpoint_minutes": 0}
ONE = {"device": "cpu", "checkpoint_minutes": 0}
WITH_DROPOUT = {"dropout": 0.2, "accumulation": 3, "batch_groups": 5, "mlm_head_steps": 2}
SCENARIOS: dict[str, dict[str, Any]] = {
    "one micro-batch each, an odd number of groups": {"options": {"batch_groups": 5}},
    "dropout, three micro-batches": {"options": {**WITH_DROPOUT, "held_out_share": 0.1}},
    "tasks that leave gradients out": {
        "tasks": [
            TaskConfig(objective="rop", weight=2, mlm_weight=0),
            TaskConfig(objective="rop", weight=0, mlm_weight=0.5),
        ],
        "options": {
            "dropout": 0.1,
            "accumulation": 2,
            "optimiser": {"learning_rate": 1e-3, "bias_correction": False, "clip_by": "tensor"},
        },
    },
    "no gradient for the score head": {"tasks": [TaskConfig(objective="rop", weight=0)]},
    "to be killed": {"options": {"steps": 12, "dropout": 0.1, "accumulation": 2, "snapshots": [4]}},
}
TOLERANCE = 1e-5
"""Of losses, relative; float32 sums in another order."""


class Runs(NamedTuple):
    """The scenarios, computed by two processes and by one.

    Attributes:
        folder: of all results: `<scenario>-<processes>`.
        sums: what `rank_work.add_up` returned.
        arguments: of the pre-training in `two-processes`, for other folders.
    """

    folder: Path
    sums: list[float]
    arguments: Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> dict[str, Any]:
    """Documents of 2 to 20 words, and ROP groups of them."""
    folder, draw = tmp_path_factory.mktemp("inputs"), np.random.default_rng(4)
    documents, groups = [], []
    for number in range(23):
        words = [f"word{n:02d}" for n in draw.integers(0, 80, 2 + draw.integers(0, 19))]
        documents.append(" ".join(words))
        queries = [" ".join(words[:2]), "word01 word02"]
        groups.append(group((0, number), queries, [Span(f"d{number}")]))
    write_documents(folder / "documents.parquet", documents)
    text = TextConfig(words="alphanumeric")
    write_token_store(folder / "documents.parquet", tiny_encoder, text, folder / "store")
    GROUPS.write(folder / "groups.parquet", groups)
    return {
        "encoder": tiny_encoder,
        "start": None,
        "tokens": [folder / "store"],
        "encoder_options": EncoderConfig(path="tiny", label="tiny"),
        "seed": 1,
    }


@pytest.fixture(scope="module")
def regression(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> dict[str, Any]:
    """Arguments of the training of a token regression on texts of 1 to 8 words, but for `options` and outputs."""
    path = tmp_path_factory.mktemp("targets") / "targets.parquet"
    rows = []
    for n in range(13):
        words = [f"word{n + m:02d}" for m in range(1 + n % 8)]
        common = {"part": 0, "position": n, "document_id": f"d{n}", "sample": 0, "judged": 1}
        rows.append({**common, "text": " ".join(words), "targets": [m / 8 for m in range(len(words))]})
    TERM_TARGETS.write(path, rows)
    return {
        "encoder": tiny_encoder,
        "targets": path,
        "encoder_options": EncoderConfig(path="tiny", label="tiny"),
        "text": TextConfig(words="alphanumeric", fields=["title", "body"], separator=" "),
        "seed": 1,
    }


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, inputs: dict[str, Any], regression: dict[str, Any]
) -> Runs:
    """All scenarios, trained by one process, and by two that are started once for all of them."""
    folder = tmp_path_factory.mktemp("runs")

    def outputs(name: str) -> dict[str, Path]:
        position = folder / name
        names = {"output": "model", "metrics": "metrics.jsonl", "checkpoints": "checkpoints"}
        return {key: position / value for key, value in names.items()}

    def arguments(scenario: str, name: str, compute: dict[str, Any]) -> dict[str, Any]:
        given = SCENARIOS[scenario]
        tasks = given.get("tasks", [TaskConfig(objective="rop")])
        options = training_options(**{**given.get("options", {}), "compute": compute})
        groups = [inputs["tokens"][0].parent / "groups.parquet"] * len(tasks)
        files = {**inputs, **outputs(name), "probe": folder / name / "probe.csv", "groups": groups}
        return {**files, "tasks": tasks, "options": options}

    def regressed(name: str, compute: dict[str, Any]) -> dict[str, Any]:
        training = {"steps": 6, "batch_size": 5, "optimiser": {"learning_rate": 1e-3}, "accumulation": 2}
        options = TermWeightsConfig(
            label="tiny", dataset="tiny", max_length=12, training={**training, "compute": compute}
        )
        return {**regression, **outputs(name), "options": options}

    def calls(number: int, compute: dict[str, Any]) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
        trained = [(pretrain, arguments(name, f"{name}-{number}", compute)) for name in SCENARIOS]
        return [*trained, (train_regressor, regressed(f"regression-{number}", compute))]

    rank_work.call_all(calls(1, ONE))
    given = {"calls": [*calls(2, TWO), (rank_work.add_up, {})]}
    *trained, sums = in_processes(rank_work.call_all, given, SharedComputeConfig(**TWO))
    assert [counts["steps"] for counts in trained] == [6, 6, 6, 6, 12, 6]
    return Runs(folder, sums, arguments)


@pytest.mark.parametrize("micro_batches", [1, 2, 3, 5])
@pytest.mark.parametrize("processes", [1, 2, 3, 4])
@pytest.mark.parametrize("items", [4, 5, 7, 16])
def test_shares_are_the_micro_batches_of_one_process_in_their_order(
    items: int, processes: int, micro_batches: int
) -> None:
    alone = share_of(items, max(micro_batches, processes))
    assert [n for part in alone.values() for n in range(items)[part]] == list(range(items))
    shares = [share_of(items, micro_batches, rank, processes) for rank in range(processes)]
    assert [pair for share in shares for pair in share.items()] == list(alone.items())
    sizes = list(map(len, shares))
    assert max(sizes) - min(sizes) <= 1


def test_micro_batches_are_all_of_a_step() -> None:
    assert [(part.start, part.stop) for part in share_of(7, 3).values()] == [(0, 2), (2, 5), (5, 7)]
    assert [(part.start, part.stop) for part in share_of(2, 5).values()] == [(0, 1), (1, 2)]


def test_a_process_hands_on_its_lines_and_its_result(capfd: pytest.CaptureFixture[str]) -> None:
    compute = SharedComputeConfig(device="cpu", threads=1)
    assert in_processes(rank_work.say, {"line": "step 1 of 1 is done"}, compute) == 1
    assert capfd.readouterr().err == "step 1 of 1 is done\n"


@pytest.mark.deep
@pytest.mark.parametrize("scenario", [*SCENARIOS, "regression"])
def test_losses_and_weights_are_those_of_one_process(runs: Runs, scenario: str) -> None:
    two, one = (runs.folder / f"{scenario}-{number}" for number in (2, 1))
    for ours, theirs in zip(without_time(two), without_time(one), strict=True):
        assert list(flat(ours)) == list(flat(theirs)), "the same columns"
        assert flat(ours) == pytest.approx(flat(theirs), rel=TOLERANCE, abs=TOLERANCE)
        assert ours["tokens"] == theirs["tokens"]
        assert ours["pair_accuracy"] == theirs["pair_accuracy"]
    found, expected = (load_file(folder / "model" / "model.safetensors") for folder in (two, one))
    assert set(found) == set(expected)
    for name, tensor in expected.items():
        # Where a gradient is 0 but for rounding, Adam takes a step of the size of the learning rate all the same.
        assert float((found[name] - tensor).abs().max()) < 1e-3, name
        assert float((found[name] - tensor).abs().mean()) < 1e-5, name
    assert {"seconds", "tokens_per_second"} <= set(lines(two)[0])
    assert not list((two / "checkpoints").iterdir()), "no process left anything"


@pytest.mark.deep
def test_held_out_groups_are_probed_by_one_of_the_processes(runs: Runs) -> None:
    folders = [runs.folder / f"dropout, three micro-batches-{number}" for number in (2, 1)]
    two, one = ((folder / "probe.csv").read_text().splitlines() for folder in folders)
    assert len(one) == 5
    assert [row.split(",")[:3] for row in two] == [row.split(",")[:3] for row in one]


def flat(record: dict[str, Any]) -> dict[str, float]:
    """A line of metrics without levels; None, what was not computed, is -1."""
    tasks = record["tasks"].items()
    inside = {f"{task}/{name}": value for task, values in tasks for name, value in values.items()}
    outside = {name: value for name, value in record.items() if name != "tasks"}
    return {name: -1.0 if value is None else value for name, value in {**outside, **inside}.items()}


@pytest.mark.deep
def test_what_no_process_gave_a_gradient_has_none(runs: Runs) -> None:
    """To three parameters the processes give (1 + 10, -, -) and (10, 2, -); numbers are 1 + 2, 0.5 + 0.5 and 0 + 1."""
    assert runs.sums == [21, 2, 3, 1, 1]


@pytest.mark.deep
def test_a_killed_process_ends_the_job_with_one_message_and_it_resumes_to_the_same_bytes(
    runs: Runs, tmp_path: Path
) -> None:
    """The second process is killed when it is about to do the eighth step."""
    arguments = runs.arguments("to be killed", "killed", TWO)
    folder, whole = runs.folder / "killed", runs.folder / "to be killed-2"

    def start(last: int) -> subprocess.CompletedProcess[str]:
        command = call(rank_work.pretrain_as_a_stage, arguments, last, tmp_path / "log")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)

    killed = start(7)
    assert killed.returncode == 1
    assert killed.stderr.count("ERROR in pretrain: process") == 1
    assert "process 2 of 2 was ended by SIGKILL, and the others with it." in killed.stderr
    assert "Traceback" not in killed.stderr + (tmp_path / "log").read_text()
    processes = [int(path.read_text()) for path in tmp_path.glob("?.pid")]
    assert len(processes) == 2
    assert not any(map(psutil.pid_exists, processes))
    assert not (folder / "model").exists()
    resumed = start(-1)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr.count("resumes from") == 1
    assert resumed.stderr.count("step 12/12") == 1
    assert "step 12/12" in (tmp_path / "log").read_text()
    assert sha256(folder / "model") == sha256(whole / "model")
    assert without_time(folder) == without_time(whole)


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["input", "fault"])
def test_the_error_of_one_process_is_reported_once(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    job = SimpleNamespace(rule="some", input=[], output=[], params={}, log=[str(log)])
    with pytest.raises(SystemExit), stage(job):
        in_processes(rank_work.fail, {"kind": kind}, SharedComputeConfig(**TWO))
    displayed = capfd.readouterr().err.strip()
    if kind == "input":
        assert displayed == "ERROR in some: groups.parquet: it is broken\n  Make it anew."
        assert "Traceback" not in log.read_text()
    else:
        assert displayed == f"FAULT in some: KeyError: 'nothing'\n  Its traceback is in {log}"
        assert 'rank_work.py", line' in log.read_text()


@pytest.mark.deep
def test_a_process_that_fails_ends_one_that_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irpretrain.training.processes.GRACE_SECONDS", 0.1)
    with pytest.raises(InputError, match="it is broken"):
        in_processes(rank_work.fail_while_another_sleeps, {}, SharedComputeConfig(**TWO))


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    ("status", "report", "cause"),
    [(-signal.SIGKILL, (None, {}), "was ended by SIGKILL"), (1, None, "ended with status 1")],
)
def test_the_cause_is_the_process_that_reports_no_other_also_where_it_had_its_result(
    rank: int, status: int, report: Any, cause: str
) -> None:
    reports: list[Any] = [make_portable(LostProcessError("it lost another one"))] * 2
    statuses = [1, 1]
    statuses[rank], reports[rank] = status, report
    with TemporaryFile() as empty, pytest.raises(TrainingError, match=f"process {rank + 1} of 2 {cause}"):
        raise _first_error(statuses, reports, [empty, empty])


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[psutil.Process]]]:
    """A job, and its two processes, which wait to be ended."""
    command = call(rank_work.start_waiting, tmp_path)
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}) as job:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and len(list(tmp_path.glob("?.pid"))) < 2:
            time.sleep(0.01)
        time.sleep(0.1)
        yield job, [psutil.Process(int(path.read_text())) for path in tmp_path.glob("?.pid")]
        job.kill()


@pytest.mark.deep
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM"])
def test_the_processes_end_with_the_job(
    started: tuple[subprocess.Popen[bytes], list[psutil.Process]], number: str, tmp_path: Path
) -> None:
    job, processes = started
    assert len(processes) == 2
    job.send_signal(signal.Signals[number])
    assert job.wait(PATIENCE) == -signal.Signals[number]
    assert psutil.wait_procs(processes, timeout=PATIENCE)[1] == []
    left = list(tmp_path.glob("irpretrain-processes-*"))
    assert not left or number == "SIGKILL"


def test_what_cannot_be_shared_out_is_refused() -> None:
    with pytest.raises(ValidationError, match="processes need device cpu and gpus 0; for GPUs set gpus only"):
        SharedComputeConfig(processes=2, gpus=2, device="cpu")
    with pytest.raises(ValidationError, match="batch_groups 2 is less than the 3 processes"):
        training_options(batch_groups=2, compute={"gpus": 3})
    assert SharedComputeConfig(gpus=4).process_count == 4


def test_an_error_that_cannot_be_pickled_is_reported_by_its_last_line(tmp_path: Path) -> None:
    class OfThisTest(Exception):
        """Not to be found by its name."""

    error, _ = make_portable(OfThisTest("it went wrong"))
    with pytest.raises(TrainingError, match=r"a process failed: .*OfThisTest: it went wrong"):
        raise error
