"""`benchmarks/gpu.py`: what its parts yield, what is kept when one fails or is killed, and the rates that follow."""

import importlib
import inspect
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from irpretrain.workflow.costs.encoder_work import ENCODER_RULES
from irpretrain.workflow.costs.work import Computing, read_throughputs

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def module(name: str) -> ModuleType:
    """A module of the benchmarks."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module(name)


def setting(folder: Path, until: float = float("inf")) -> Any:
    return module("gpu_setting").Setting("cpu", True, folder, 1, until)


@pytest.mark.deep
def test_a_part_yields_rows_that_json_holds_and_a_table_shows(tmp_path: Path) -> None:
    rows = json.loads(json.dumps(list(module("gpu_speed").peak(setting(tmp_path)))))
    products, copies = rows[:-2], rows[-2:]
    assert {row["precision"] for row in products} == {"bf16", "fp32"}
    assert all(row["per_second"] > 0 and len(row["shape"]) == 3 for row in products)
    assert all(row["bytes_per_second"] > 0 for row in copies)
    displayed = module("gpu_tables").table(rows)
    assert displayed[0] == "| precision | shape | copy | TFLOP/s | GB/s |"
    assert len(displayed) == 2 + len(rows)


@pytest.mark.deep
def test_a_case_that_fails_says_how_and_the_next_is_measured(tmp_path: Path) -> None:
    def measure(case: dict[str, Any]) -> dict[str, Any]:
        if case["n"] == 1:
            raise RuntimeError("CUDA error")
        if case["n"] == 2:
            raise RuntimeError("memory ran out at step 1 (tried to allocate 3 GiB)")
        return {"per_second": 7.0}

    choices = [{"n": n} for n in range(4)]
    rows = list(module("gpu_setting").cases(setting(tmp_path), choices, measure))
    assert [row.get("per_second") for row in rows] == [7.0, None, None, 7.0]
    assert rows[1]["failed"] == "RuntimeError: CUDA error"
    assert rows[2]["failed"].startswith("memory ran out: ")


def test_no_case_begins_when_the_time_is_up(tmp_path: Path) -> None:
    rows = list(module("gpu_setting").cases(setting(tmp_path, until=0), [{"n": 1}], lambda case: {}))
    assert rows == [{"n": 1, "failed": "left out: the part's time was up"}]


def test_what_the_killed_training_is_given_fits_pretrain(tmp_path: Path) -> None:
    checks = module("gpu_checks")
    made = module("generated_work").GeneratedWork(tmp_path / "small", True)
    arguments = checks.pretraining(made, setting(tmp_path), "fp32", tmp_path / "run")
    inspect.signature(checks.pretrain).bind(**arguments)


PART = """
import os, time

def hangs(setting):
    yield {"n": 1}
    time.sleep(3600)

def dies(setting):
    yield {"n": 2}
    os._exit(3)

def fails(setting):
    yield {"n": 3}
    raise ValueError("no pears")
"""


@pytest.mark.parametrize(
    ("function", "number", "end"),
    [
        ("hangs", 1, "killed after "),
        ("dies", 2, "its process ended without a word, exit code 3"),
        ("fails", 3, "failed: ValueError: no pears"),
    ],
)
def test_rows_of_a_part_that_does_not_end_well_are_retained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int, end: str
) -> None:
    gpu = module("gpu")
    (tmp_path / "made_part.py").write_text(PART)
    # The part's process needs no torch for this.
    (tmp_path / "gpu_setting.py").write_text("class Setting:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows: list[dict[str, int]] = []
    reached = time.monotonic
    if function == "hangs":  # it is killed at once when it has yielded its row
        monkeypatch.setattr(gpu.time, "monotonic", lambda: reached() + 1e6 * bool(rows))
    part = gpu.Part("made_part", function, 1)
    assert gpu.run(part, {}, tmp_path / "log", 1000, rows.append).startswith(end)
    assert rows == [{"n": number}]


def result(**changes: Any) -> dict[str, Any]:
    """A run on a GPU that measured pre-training as the papers' overlays do it, and otherwise."""
    tables = module("gpu_tables")
    case = tables.TRAINED | {"work": "pre-training"}
    rows = [
        case | {"word_pieces_per_second": 123456.7},
        case | {"groups": 16, "word_pieces_per_second": 9.0},
        case | {"work": "fine-tuning", "failed": "memory ran out: ..."},
    ]
    return {
        "started": "2026-11-22 10:00 UTC",
        "command": "benchmarks/gpu.py",
        "small": False,
        "machine": {"line": "a machine", "device": "NVIDIA H100"},
        "parts": {"training": {"state": "done", "seconds": 1.0, "rows": rows}},
        **changes,
    }


def test_entries_are_rates_and_stand_in_the_section(tmp_path: Path) -> None:
    tables, path = module("gpu_tables"), tmp_path / "rates.yaml"
    path.write_text(tables.entries([result()]))
    (rate,) = read_throughputs(path)
    assert (rate.stage, rate.per_second) == ("pretrain with MLM", 123457)
    assert rate.computing == Computing(encoder="BERT-base", layers=None, precision="bf16", device="gpu")
    section = tables.section([result()])
    assert section.startswith(f"## {rate.section}\n")
    assert str(rate.date) in section


def test_every_stage_of_every_encoder_has_one_rate(tmp_path: Path) -> None:
    tables, path = module("gpu_tables"), tmp_path / "rates.yaml"
    parts: dict[str, Any] = {}
    for stage in tables.STAGES.values():
        parts.setdefault(stage.part, {"rows": []})["rows"].append(
            stage.case | {"word_pieces_per_second": 5.0}
        )
    path.write_text(tables.entries([result(parts=parts)]))
    rates = read_throughputs(path)
    found = {(rate.stage, rate.computing.encoder) for rate in rates if rate.computing}
    assert len(found) == len(rates) == 11
    assert found > {
        ("rerank", "BERT Re-Ranker"),
        ("finetune", "LinkBERT-base"),
        ("weigh_documents", "BERT-base"),
    }


def test_what_ran_small_or_on_a_cpu_gives_no_rate() -> None:
    others = result(small=True), result(machine={"line": "a machine", "device": "cpu"})
    assert module("gpu_tables").rates(others) == {}


def test_rates_are_those_of_stages_whose_work_is_counted() -> None:
    stages = module("gpu_tables").STAGES
    assert {name.split()[0].rstrip(",") for name in stages} <= set(ENCODER_RULES)


def test_what_a_rate_is_read_from_is_measured(tmp_path: Path) -> None:
    speed, on_gpu = module("gpu_speed"), module("gpu_setting").Setting("cuda", False, tmp_path, 1, 0.0)
    measured = {
        "training": speed.training_cases(on_gpu),
        "reranking": speed.reranking_cases(on_gpu),
        "weighing": speed.weighing_cases(on_gpu),
    }
    for name, stage in module("gpu_tables").STAGES.items():
        assert any(stage.case.items() <= case.items() for case in measured[stage.part]), name


@pytest.mark.deep
def test_all_parts_run_on_a_cpu(tmp_path: Path) -> None:
    output = tmp_path / "small.json"
    command = [sys.executable, BENCHMARKS / "gpu.py", "--device", "cpu", "--small", "--output", output]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads(output.read_text())
    assert list(written["parts"]) == list(module("gpu").PARTS)
    for name, part in written["parts"].items():
        log = output.with_suffix(".log").read_text()
        assert part["state"] == "done", (name, part, log)
        wrong = [row for row in part["rows"] if "failed" in row or row.get("passed") is False]
        assert wrong == [], name
        assert part["rows"] or name == "others", name
    trained = written["parts"]["training"]["rows"]
    assert {row["work"] for row in trained} == {"pre-training", "pre-training without MLM", "fine-tuning"}
    assert all(row["mfu"] >= 0 and 0 <= row["waited"] <= 1 for row in trained)  # how much depends on the load
    assert all(len(row["profile"]["kernels"]) == 10 for row in trained)
    assert output.with_suffix(".md").read_text() in done.stdout
