"""Learning curves for TensorBoard (extra `tracking`), from the metrics files of a training."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.errors import InputError

# What names of the library's metrics files end in; `irpretrain.pretrain` writes them beside models.
METRICS = ".metrics.jsonl"
SCALARS = ("loss", "pair_accuracy", "learning_rate", "gradient_norm", "tokens_per_second")


class Step(NamedTuple):
    """Scalars of one step; `time` in seconds since the first step."""

    step: int
    time: float
    scalars: Mapping[str, float]


def write_curves(results: str | Path) -> dict[str, int]:
    """Write each metrics file for TensorBoard into `tensorboard/` of the results directory; return run → number of
    steps.

    Args:
        results: a workflow's results directory, a folder with models of the library, or one metrics file.

    Raises:
        InputError: there is no metrics file, or a file has no metrics.
    """
    curves = {run: list(read_steps(path)) for run, path in metrics_files(Path(results)).items()}
    from torch.utils.tensorboard import SummaryWriter

    for run, steps in curves.items():
        folder = events_folder(results) / run
        # TensorBoard would show the points of every file in the folder.
        for earlier in folder.glob("events.out.tfevents.*"):
            earlier.unlink()
        with SummaryWriter(str(folder)) as writer:
            for step in steps:
                for tag, value in step.scalars.items():
                    writer.add_scalar(tag, value, step.step, walltime=step.time)
    return {run: len(steps) for run, steps in curves.items()}


def events_folder(results: str | Path) -> Path:
    """Return where the event files of a results directory, or of one metrics file, lie."""
    path = Path(results)
    return (path.parent if path.is_file() else path) / "tensorboard"


def metrics_files(results: Path) -> dict[str, Path]:
    """Return run → metrics file: pretrained/prop/seed-1, prop (library) or unfinished/<job>; InputError if none."""
    if results.is_file():
        if next(read_steps(results), None) is None:
            raise InputError(results, "holds no step of a training", remedy=f"Name a file *{METRICS}.")
        return {_run_name(results): results}
    done = {
        path.relative_to(results / "metrics").with_suffix("").as_posix(): path
        for path in sorted((results / "metrics").rglob("*.jsonl"))
    }
    of_library = {_run_name(path): path for path in sorted(results.glob(f"*{METRICS}"))}
    checkpoints = [results / "checkpoints", *sorted(results.glob("*.checkpoints"))]
    unfinished = [path for folder in checkpoints for path in sorted(folder.glob("*/metrics.jsonl"))]
    files = done | of_library | {f"unfinished/{path.parent.name}": path for path in unfinished}
    if not files:
        raise InputError(
            results,
            "holds no metrics of a training" if results.exists() else "there is no such file or folder",
            remedy=f"Name the results directory of a run, or a folder of files *{METRICS}.",
        )
    return files


def _run_name(path: Path) -> str:
    return path.name.removesuffix(".jsonl").removesuffix(".metrics")


def read_steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a metrics file; an incomplete last line ends it."""
    seconds = 0.0
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            seconds += float(record.get("seconds", 0.0))
            step = Step(int(record["step"]), seconds, dict(_scalars(record)))
        except (ValueError, KeyError, TypeError, AttributeError):
            if number == len(lines) and not line.endswith("\n"):
                return
            raise InputError(path, "is not a line of metrics", line=number) from None
        yield step


def _scalars(record: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name in SCALARS:
        if record.get(name) is not None:
            yield name, float(record[name])
    for task, values in record.get("tasks", {}).items():
        yield from ((f"{task}/{name}", float(value)) for name, value in values.items() if value is not None)
