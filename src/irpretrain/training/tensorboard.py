"""Learning curves for TensorBoard: `python -m irpretrain.training.tensorboard results`, also while something trains.

Every metrics file of a training (`results/metrics`), and that of each unfinished one (`results/checkpoints`), becomes
an event file in `results/tensorboard`. TensorBoard itself is no dependency: install it where you look at them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.errors import InputError, IRPretrainError
from irpretrain.training.event_files import FILE, Step, write_events

SCALARS = ("loss", "pair_accuracy", "learning_rate", "gradient_norm", "tokens_per_second")


def write_curves(results: str | Path) -> dict[str, int]:
    """Write an event file for each metrics file.

    Args:
        results: the results directory.

    Returns:
        Run, as TensorBoard names it → steps.

    Raises:
        InputError: there is no metrics file, or one is none.
    """
    written = {}
    for run, path in metrics_files(Path(results)).items():
        written[run] = write_events(read_steps(path), Path(results) / "tensorboard" / run / FILE)
    if not written:
        raise InputError(
            results, "holds no metrics of a training", remedy="Name the results directory of a run."
        )
    return written


def metrics_files(results: Path) -> dict[str, Path]:
    """Return run → metrics file: pretrained/prop/seed-1, or unfinished/<job> for one that is not done."""
    done = {
        path.relative_to(results / "metrics").with_suffix("").as_posix(): path
        for path in sorted((results / "metrics").rglob("*.jsonl"))
    }
    unfinished = sorted((results / "checkpoints").glob("*/metrics.jsonl"))
    return done | {f"unfinished/{path.parent.name}": path for path in unfinished}


def read_steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a metrics file, with the seconds since its first step; a last line that is being written ends
    it."""
    seconds = 0.0
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
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


def main(arguments: Sequence[str]) -> int:
    """Write the curves of a results directory and say how to look at them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", nargs="?", default="results", help="the results directory of a run")
    results = parser.parse_args(arguments).results
    try:
        curves = write_curves(results)
    except IRPretrainError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    print(f"{len(curves)} learning curves. To see them: tensorboard --logdir {results}/tensorboard")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
