"""One command that proves a GPU: what it computes, how fast, and beside Hugging Face's Trainer and CrossEncoder.

    python benchmarks/gpu.py --device cuda --output gpu.json
    python benchmarks/gpu.py --device cpu --small --output small.json
    python benchmarks/gpu.py --device cuda --output gpu.json --parts peak training --budget training=300

Parts, in this order; each stands alone:

- peak: matrix products by size and precision, and copies of memory
- training: pre-training and fine-tuning of BERT-base by length, packing, precision, dropout and batch
- reranking: pairs a second
- weighing: DeepCT's weights of passages, and the training of its model
- equality: losses and scores against the CPU's, within a tolerance that each row states
- others: the Hugging Face Trainer, CrossEncoderTrainer and CrossEncoder.predict on the same work, where installed
- shared: two processes on one device
- resume: a training that is killed by SIGKILL and goes on, against one that is not
- suite: the tests marked `gpu`

Everything is made by a seed (generated_work.py): no data, no network. Needs torch, transformers, pydantic, numpy,
pyarrow, scipy, regex, safetensors, tokenizers and PyYAML; `others` also sentence-transformers, accelerate and datasets;
`suite` pytest, pytest-timeout and hypothesis. The library is taken
from `src` beside this folder.

A part is a process of its own and has a budget in seconds; a case that has begun may overrun it by GRACE. The JSON and
the Markdown beside it are written anew after every row, so nothing that was measured is lost. Libraries print to the
file of the same name that ends in .log. MFU is training.operations over the rate of an 8,192³ product in the same
process and precision. gpu_tables.py makes the Markdown, and the entries of resources/throughput.yaml.
"""

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OWN = [str(ROOT / "src"), str(ROOT / "benchmarks")]
sys.path[:0] = [folder for folder in OWN if folder not in sys.path]

from gpu_tables import markdown  # noqa: E402
from irpretrain.foundation.atomic import write_text  # noqa: E402
from side_by_side import describe_machine  # noqa: E402

LIMIT = 540
"""Seconds of all parts together on a GPU."""
SLOWER = 10
"""How many times as much time everything gets on a CPU."""
GRACE = 20
"""Seconds that a case may take longer than its part's budget, before it is killed."""
PACKAGES = ("torch", "transformers", "numpy", "sentence-transformers", "accelerate", "datasets", "triton")


class Part(NamedTuple):
    """Where a part's function is, and its seconds."""

    module: str
    function: str
    seconds: float


PARTS = {
    "peak": Part("gpu_speed", "peak", 12),
    "training": Part("gpu_speed", "training_part", 130),
    "reranking": Part("gpu_speed", "reranking_part", 40),
    "weighing": Part("gpu_speed", "weighing", 35),
    "equality": Part("gpu_checks", "equality", 40),
    "others": Part("gpu_speed", "others", 110),
    "shared": Part("gpu_speed", "shared", 35),
    "resume": Part("gpu_checks", "resume", 40),
    "suite": Part("gpu_checks", "suite", 60),
}


def device_facts(device: str) -> dict[str, Any]:
    """Return what computes; ends the process with a message where it is not there."""
    import torch

    if device == "cpu":
        return {"device": "cpu"}
    if not torch.cuda.is_available():
        raise SystemExit("--device cuda: torch finds no GPU")
    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name,
        "memory_gib": round(properties.total_memory / (1 << 30), 1),
        "capability": f"{properties.major}.{properties.minor}",
        "cuda": torch.version.cuda,
    }


def serve(connection: Connection, part: Part | None, setting: dict[str, Any], log: Path) -> None:
    """Send a part's rows as they come, and then how it ended; without a part, what the device is."""
    os.setsid()  # all processes that it starts end with it
    retained = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(retained, 1)
    os.dup2(retained, 2)
    try:
        if part is None:
            connection.send(device_facts(setting["device"]))
        else:
            print(f"\n== {part.function}", flush=True)
            made = import_module("gpu_setting").Setting(**setting)
            for row in getattr(import_module(part.module), part.function)(made):
                connection.send(row)
        connection.send("done")
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"{sum(usage.ru_utime + usage.ru_stime for usage in used):.1f} s of processors", flush=True)
    except BaseException as error:
        traceback.print_exc()
        connection.send(
            str(error) if isinstance(error, SystemExit) else f"failed: {type(error).__name__}: {error}"
        )


def run(
    part: Part | None,
    setting: dict[str, Any],
    log: Path,
    seconds: float,
    keep: Callable[[dict[str, Any]], None],
) -> str:
    """Run a part in a process of its own, and return how it ended: done, or why not.

    Args:
        part: None for what the device is.
        setting: of `gpu_setting.Setting`.
        log: where it prints.
        seconds: after which it is killed.
        keep: called with each row as it comes.
    """
    context = multiprocessing.get_context("forkserver")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(there, part, setting, log))
    process.start()
    there.close()
    end, until = "", time.monotonic() + seconds
    while not end:
        try:
            if here.poll(max(until - time.monotonic(), 0)):
                message = here.recv()
                end = message if isinstance(message, str) else ""
                if not end:
                    keep(message)
            else:
                end = f"killed after {seconds:.0f} s"
        except EOFError:
            process.join()
            end = f"its process ended without a word, exit code {process.exitcode}"
    for stop in (process.kill, lambda: os.killpg(int(process.pid or 0), signal.SIGKILL)):
        try:
            stop()
        except (ProcessLookupError, PermissionError):
            continue
    process.join()
    return end


def budgets(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the seconds of each part, as PARTS or `name=seconds` say."""
    seconds = {name: part.seconds * arguments.scale for name, part in PARTS.items()}
    for text in arguments.budget:
        name, _, number = text.partition("=")
        if name not in PARTS or not number.replace(".", "", 1).isdigit():
            sys.exit(f"--budget {text}: expected a part and its seconds, such as training=300")
        seconds[name] = float(number)
    return seconds


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument(
        "--small", action="store_true", help="a small model and few steps, to see that all runs"
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--budget", nargs="+", default=[], metavar="PART=SECONDS")
    parser.add_argument(
        "--limit", type=float, help=f"seconds of all parts together (default: {LIMIT} on a GPU)"
    )
    parser.add_argument("--threads", type=int, help="of a process (default: 8 on a GPU, 1 on a CPU)")
    parser.add_argument(
        "--output", type=Path, default=Path("gpu.json"), help="JSON to write; .md and .log beside it"
    )
    parser.add_argument(
        "--folder", type=Path, help="where generated work is kept; by default a temporary folder"
    )
    read = parser.parse_args(arguments)
    read.scale = SLOWER if read.device == "cpu" else 1
    read.limit = read.limit or LIMIT * read.scale
    read.threads = read.threads or (8 if read.device == "cuda" else 1)
    return read


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_arguments(arguments)
    os.environ |= {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0")}
    os.environ["PYTHONPATH"] = os.pathsep.join([*OWN, os.environ.get("PYTHONPATH", "")])
    seconds, began = budgets(options), time.monotonic()
    log = options.output.with_suffix(".log").resolve()
    log.unlink(missing_ok=True)
    result: dict[str, Any] = {
        "started": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "command": " ".join(["benchmarks/gpu.py", *(sys.argv[1:] if arguments is None else arguments)]),
        "small": options.small,
        "machine": {"line": describe_machine(PACKAGES)},
        "parts": {},
    }
    multiprocessing.set_forkserver_preload(["torch", "transformers", "gpu_speed", "gpu_checks"])
    with tempfile.TemporaryDirectory() as temporary:
        setting = {
            "device": options.device,
            "small": options.small,
            "folder": options.folder or Path(temporary),
            "threads": options.threads,
        }
        end = run(None, setting, log, 120, result["machine"].update)
        if end != "done":
            sys.exit(end)
        print(f"{result['machine']['line']}, {result['machine']['device']}", flush=True)
        for name in (name for name in PARTS if name in options.parts):
            rows: list[dict[str, Any]] = []
            retained = result["parts"][name] = {"state": "not finished", "seconds": 0.0, "rows": rows}
            start, left = time.monotonic(), options.limit - (time.monotonic() - began)

            def keep(row: dict[str, Any], rows: list[dict[str, Any]] = rows) -> None:
                rows.append(row)
                write(result, options.output)

            allowed = min(seconds[name], left - GRACE)
            if allowed > 0:
                until = {"until": time.time() + allowed}
                retained["state"] = run(PARTS[name], setting | until, log, allowed + GRACE, keep)
            else:
                retained["state"] = f"left out: --limit {options.limit:g} was reached"
            retained["seconds"] = round(time.monotonic() - start, 1)
            write(result, options.output)
            wrong = sum("failed" in row or row.get("passed") is False for row in rows)
            print(
                f"{name}: {retained['state']}, {len(rows)} rows, {wrong} not right, {retained['seconds']} s",
                flush=True,
            )
    print(f"\n{markdown(result)}")


def write(result: dict[str, Any], output: Path) -> None:
    """Write what there is, whole or not at all."""
    write_text(output, json.dumps(result, indent=1) + "\n")
    write_text(output.with_suffix(".md"), markdown(result))


if __name__ == "__main__":
    main()
