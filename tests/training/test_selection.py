"""The snapshot that ranks held-out queries best becomes the model."""

import json
from pathlib import Path

import pytest

from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.provenance import sha256
from irpretrain.models.encoder_files import snapshot_directory
from irpretrain.training.selection import select_model

STEPS = (10, 20, 30, 40)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of 40 steps with snapshots, whose weights name their step."""
    folder = tmp_path / "model"
    for step in STEPS:
        position = snapshot_directory(folder, step, 40)
        position.mkdir(parents=True, exist_ok=True)
        (position / "model.safetensors").write_text(f"weights after {step}")
        (position / "config.json").write_text("{}")
    (folder / ".snakemake_timestamp").write_text("")
    (tmp_path / "qrels.txt").write_text("q1 0 good 1\nq2 0 good 1\n")
    return folder


def choose(
    model: Path, ranks: dict[int, tuple[int, int]], measure: str = "RR@10"
) -> tuple[str, dict[str, object]]:
    """Select among runs in which the relevant document of the two queries has these ranks; 0 for not found."""
    folder = model.parent
    for step, positions in ranks.items():
        run = {}
        for query, position in zip(("q1", "q2"), positions, strict=True):
            names = [f"bad{i}" for i in range(5)]
            if position:
                names.insert(position - 1, "good")
                run[query] = [(name, -float(i)) for i, name in enumerate(names)]
        write_run(folder / f"{step}.run.gz", run, "x")
    runs = {step: folder / f"{step}.run.gz" for step in ranks}
    counts = select_model(model, runs, folder / "qrels.txt", measure, folder / "best", folder / "scores.json")
    report = json.loads((folder / "scores.json").read_text())
    assert counts == {
        "chosen_step": report["chosen"]["step"],
        "score": report["chosen"]["score"],
        "queries": 2,
        "steps_compared": len(ranks),
    }
    return (folder / "best" / "model.safetensors").read_text(), report


def test_the_best_is_retained_and_every_score_reported(model: Path) -> None:
    weights, report = choose(model, {40: (2, 2), 10: (4, 4), 30: (1, 2), 20: (1, 4)})
    assert weights == "weights after 30"
    assert report == {
        "measure": "RR@10",
        "queries": 2,
        "chosen": {"step": 30, "score": 0.75},
        "scores": [
            {"step": step, "score": score} for step, score in ((10, 0.25), (20, 0.625), (30, 0.75), (40, 0.5))
        ],
    }
    assert sorted(path.name for path in (model.parent / "best").iterdir()) == [
        "config.json",
        "model.safetensors",
    ]
    assert sha256(model.parent / "best") == sha256(snapshot_directory(model, 30, 40))


@pytest.mark.parametrize(
    ("ranks", "step", "score"),
    [
        ({10: (4, 4), 20: (1, 2), 30: (2, 1), 40: (1, 2)}, 20, 0.75),  # of equal ones the earliest
        ({10: (2, 2), 40: (1, 1)}, 40, 1.0),  # the last step is the model itself
        ({10: (1, 0), 40: (2, 2)}, 10, 0.5),  # a query without candidates counts nothing
    ],
)
def test_ties_the_last_step_and_missing_candidates(
    model: Path, ranks: dict[int, tuple[int, int]], step: int, score: float
) -> None:
    weights, report = choose(model, ranks)
    assert weights == f"weights after {step}"
    assert report["chosen"] == {"step": step, "score": score}
    assert not (model.parent / "best" / "snapshots").exists()


def test_the_chosen_model_outlives_its_snapshots(model: Path) -> None:
    choose(model, {10: (1, 1), 40: (2, 2)})
    (snapshot_directory(model, 10, 40) / "model.safetensors").unlink()
    assert (model.parent / "best" / "model.safetensors").read_text() == "weights after 10"
