"""Learning curves for TensorBoard and Weights & Biases, from the metrics that a training writes anyway.

`irpretrain curves results` reads every metrics file of a training (`results/metrics`), and that of each unfinished one
(`results/checkpoints`), also while something trains. Of a folder that `irpretrain.pretrain` wrote models into, it reads
`*.metrics.jsonl`, and those in `*.checkpoints`. Event files for TensorBoard need no package; it is installed where
the curves are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError
from irpretrain.provenance import content_hash
from irpretrain.training.event_files import FILE, Step, write_events

METRICS = ".metrics.jsonl"
"""What names of the library's metrics files end in; `irpretrain.pretrain` writes them beside models."""
SCALARS = ("loss", "pair_accuracy", "learning_rate", "gradient_norm", "tokens_per_second")


def write_curves(results: str | Path) -> dict[str, int]:
    """Write an event file for each metrics file, in `tensorboard/` of the results directory.

    Args:
        results: the results directory, a folder with models of the library, or one metrics file.

    Returns:
        Run, as TensorBoard names it → steps.

    Raises:
        InputError: there is no metrics file, or one is none.
    """
    files, folder = metrics_files(Path(results)), events_folder(results)
    return {run: write_events(read_steps(path), folder / run / FILE) for run, path in files.items()}


def log_curves(results: str | Path, project: str) -> dict[str, int]:
    """Log each metrics file as a run of Weights & Biases; a second call adds the steps that are new.

    Where runs go is said by its own variables: WANDB_MODE=offline keeps them in `wandb/` of the results directory.

    Args:
        results: the results directory, a folder with models of the library, or one metrics file.
        project: the project that the runs belong to.

    Returns:
        Run → steps.

    Raises:
        InputError: there is no metrics file, or one is none.
    """
    import wandb

    curves = {run: list(read_steps(path)) for run, path in metrics_files(Path(results)).items()}
    place = Path(results).resolve()
    folder = place if place.is_dir() else place.parent
    for run, steps in curves.items():
        name = content_hash([str(place), run])
        with wandb.init(project=project, name=run, id=name, dir=str(folder), resume="allow") as logged:
            for step in steps:
                logged.log({**step.scalars, "seconds": step.time}, step=step.step)
    return {run: len(steps) for run, steps in curves.items()}


def events_folder(results: str | Path) -> Path:
    """Return where the event files of a results directory, or of one metrics file, lie."""
    path = Path(results)
    return (path.parent if path.is_file() else path) / "tensorboard"


def metrics_files(results: Path) -> dict[str, Path]:
    """Return run → metrics file: pretrained/prop/seed-1 of a workflow, prop of the library (`prop.metrics.jsonl`), or
    unfinished/<job> for one that is not done.

    Raises:
        InputError: there is none.
    """
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
    """Yield the steps of a metrics file, with the seconds since its first step; a last line that is being written ends
    it."""
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
