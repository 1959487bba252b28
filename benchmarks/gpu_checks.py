"""Whether it is right: the parts of gpu.py that check a device. Each yields a row a check, with `passed`."""

import json
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from generated_work import GeneratedWork
from gpu_setting import LOSSES, SCORES, Row, Setting, cases, precise
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.training.pretrain import pretrain
from training_contestants import Ours

ROOT = Path(__file__).resolve().parents[1]
RESUMED = 1e-3
"""How far a resumed run's losses may be from an unbroken run's on a GPU, relatively, or three times as far as two
unbroken runs are; on a CPU weights are equal."""
MARK = "pytest.mark.gpu"
RESUME_STEPS, KILLED_AFTER = 24, 5


def equality(setting: Setting) -> Iterator[Row]:
    """Losses of three steps, and scores, against the CPU's in single precision."""
    shapes = {"small": GeneratedWork(setting.folder / "small", True)}
    if not setting.small:
        shapes["BERT-base"] = setting.work
    works = ("scores", "pre-training", "fine-tuning")
    choices: list[Row] = [
        {"model": model, "work": work, "precision": precision, "packing": packing}
        for model in shapes
        for work in works
        for precision in setting.precisions
        for packing in (("auto", "off") if precision in ("bf16", "fp16") else ("auto",))
    ]
    on_host = replace(setting, device="cpu")

    def values(model: str, work: str, there: Setting, precision: str, packing: str) -> np.ndarray:
        from reranking import Ours as Reranker

        compute, made = there.compute(precision, packing=packing), shapes[model]
        queries = 4 if made.small else 1  # a hundred pairs take a CPU some seconds
        with precise(precision):
            if work == "scores":
                scored = Reranker(made.reranking("passages", compute, queries, 2048)).turn(0).facts["scores"]
                return np.array([scored[pair] for pair in sorted(scored)])
            return np.array(Ours(made.training(work, "passages", 8, 1, compute)).turn(0).facts["losses"])

    @cache
    def expected(model: str, work: str) -> np.ndarray:
        return values(model, work, on_host, "fp32", "off")

    def measure(case: Row) -> Row:
        right = expected(case["model"], case["work"])
        measured = values(case["model"], case["work"], setting, case["precision"], case["packing"])
        if case["work"] == "scores":
            apart, most = np.abs(measured - right).max() / right.std(), SCORES[case["precision"]]
        else:
            apart, most = np.abs(measured / right - 1).max(), LOSSES[case["precision"]]
        return {"apart": float(apart), "tolerance": most, "passed": bool(apart <= most)}

    yield from cases(setting, choices, measure)


def resume(setting: Setting) -> Iterator[Row]:
    """A training that is killed and goes on, against one that is not, and against the same a second time."""
    made = GeneratedWork(setting.folder / "small", True)
    folder = setting.folder / "resume"

    def measure(case: Row) -> Row:
        arguments = pretraining(made, setting, case["precision"], folder / case["precision"])
        whole, again, killed = (_named(arguments, name) for name in ("whole", "again", "killed"))
        for run in (whole, again):
            pretrain(**run)
        broken = kill_midway(killed)
        pretrain(**killed)
        noise, apart = (losses_apart(whole, run) for run in (again, killed))
        equal = same_weights(whole, killed)
        close = setting.device == "cuda" and apart <= max(RESUMED, 3 * noise)
        return {
            "killed_after_steps": broken,
            "steps": RESUME_STEPS,
            "apart": apart,
            "apart_without_kill": noise,
            "equal_weights": equal,
            "passed": 0 < broken < RESUME_STEPS and (equal or close),
        }

    precisions = ("fp32",) if setting.small else ("bf16", "fp32", "fp16")
    yield from cases(setting, [{"precision": name} for name in precisions], measure)


def pretraining(made: GeneratedWork, setting: Setting, precision: str, folder: Path) -> dict[str, Any]:
    """Return the arguments of a pre-training of a small model that saves its state after every step."""
    lengths = made.lengths("passages")
    options = PretrainingConfig(
        steps=RESUME_STEPS,
        batch_groups=4,
        max_length=lengths.longest,
        query_length=lengths.query,
        loss="hinge",
        head="mlp",
        dropout=0.1,
        optimiser={"learning_rate": 1e-3},
        compute=setting.compute(precision, checkpoint_minutes=0).model_dump(),
    )
    return {
        "encoder": made.encoder(),
        "start": None,
        "groups": [made.groups("passages")],
        "tokens": [made.tokens("passages")],
        "tasks": [TaskConfig(objective="rop")],
        "options": options,
        "encoder_options": EncoderConfig(path="b", label="b"),
        "seed": 1,
        "output": folder / "model",
        "metrics": folder / "metrics.jsonl",
        "probe": folder / "probe.csv",
        "checkpoints": folder / "checkpoints",
    }


def _named(arguments: dict[str, Any], name: str) -> dict[str, Any]:
    """The same training with places of its own for what it writes."""
    written = ("output", "metrics", "probe", "checkpoints")
    return arguments | {key: arguments[key].parent / name / arguments[key].name for key in written}


def kill_midway(arguments: dict[str, Any]) -> int:
    """Train in a process of its own, kill that after some steps, and return how many its newest state has."""
    process = multiprocessing.get_context("spawn").Process(target=pretrain, kwargs=arguments)
    process.start()
    while process.is_alive() and steps_saved(arguments) < KILLED_AFTER:
        time.sleep(0.002)
    process.kill()
    process.join()
    return steps_saved(arguments)


def steps_saved(arguments: dict[str, Any]) -> int:
    """Return how many steps the newest saved state of a training has."""
    names = [path.name for path in Path(arguments["checkpoints"]).glob("*/step-*.pt")]
    return max((int(name.split("-")[1]) for name in names), default=0)


def losses_apart(whole: dict[str, Any], broken: dict[str, Any]) -> float:
    """Return how far the losses of two runs' steps are apart at most, relatively."""
    first, second = (
        np.array([json.loads(line)["loss"] for line in run["metrics"].read_text().splitlines()])
        for run in (whole, broken)
    )
    return float(np.abs(first / second - 1).max())


def same_weights(whole: dict[str, Any], broken: dict[str, Any]) -> bool:
    """Whether two runs ended with equal weights."""
    first, second = (load_file(run["output"] / "model.safetensors") for run in (whole, broken))
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def suite(setting: Setting) -> Iterator[Row]:
    """The tests marked `gpu`, in a process of their own."""

    def measure(_: Row) -> Row:
        marked = [str(path) for path in (ROOT / "tests").rglob("test_*.py") if MARK in path.read_text()]
        command = [sys.executable, "-m", "pytest", "-m", "gpu", "-rs", *sorted(marked)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *_path()])}
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
        print(done.stdout + done.stderr)
        counts = {
            name: sum(map(int, re.findall(rf"(\d+) {name}\b", done.stdout.splitlines()[-1])))
            for name in ("passed", "failed", "skipped", "error", "errors")
        }
        failed = counts.pop("failed") + counts.pop("error") + counts.pop("errors")
        right = done.returncode == 0 and failed == 0 and (counts["passed"] > 0 or setting.device == "cpu")
        numbers = {
            "tests_passed": counts["passed"],
            "tests_failed": failed,
            "tests_skipped": counts["skipped"],
        }
        return numbers | {"passed": right, "output": done.stdout[-4000:]}

    yield from cases(setting, [{"tests": "marked gpu"}], measure)


def _path() -> list[str]:
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
