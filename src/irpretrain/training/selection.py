"""The final model of a pre-training: the snapshot that ranks some held-out queries best (Wikiformer)."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from irpretrain.evaluation.measures import mean_of_run
from irpretrain.evaluation.runs import read_qrels, read_run
from irpretrain.foundation.atomic import atomic_directory, write_text
from irpretrain.models.encoder_files import SNAPSHOTS, snapshot_directory

# What lies in a model's directory and is not part of the model.
EXTRA_FILES = (SNAPSHOTS, ".*")


def select_model(
    model: str | Path,  # directory of a pre-trained model with its snapshots
    # Step → run of the weights after it, over the queries that choose; the largest step is the training's
    # last.
    runs: Mapping[int, str | Path],
    qrels: str | Path,  # judgements of these queries. One without candidates counts 0.
    measure: str,  # what is compared, in ir_measures' notation
    output: str | Path,  # directory to write: the chosen model, hard-linked where the file system allows it
    scores: str | Path,  # JSON to write: the choice, and the score of every step
) -> dict[str, Any]:
    """Store the snapshot whose zero-shot run is best, the earliest of equal ones.

    Returns:
        Counts: the chosen step and its score, queries, steps compared.
    """
    judgements = read_qrels(qrels)
    score_of_step = {
        step: mean_of_run(read_run(runs[step]), judgements, measure, judgements) for step in sorted(runs)
    }
    best_step = max(score_of_step, key=lambda step: (score_of_step[step], -step))
    with atomic_directory(output) as folder:
        shutil.copytree(
            snapshot_directory(model, best_step, max(runs)),
            folder,
            ignore=shutil.ignore_patterns(*EXTRA_FILES),
            copy_function=_link_or_copy,
            dirs_exist_ok=True,
        )
    report = {
        "measure": measure,
        "queries": len(judgements),
        "chosen": {"step": best_step, "score": score_of_step[best_step]},
        "scores": [{"step": step, "score": value} for step, value in score_of_step.items()],
    }
    write_text(scores, json.dumps(report, indent=1, sort_keys=True) + "\n")
    return {
        "chosen_step": best_step,
        "score": score_of_step[best_step],
        "queries": len(judgements),
        "steps_compared": len(score_of_step),
    }


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
