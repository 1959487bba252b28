"""Small files of predictors, rank intervals and diagnoses, with numbers that can be checked in one's head."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas

from irpretrain.axioms.diagnosis import COLUMNS
from irpretrain.config import Config

AXIOMS = ["RANK", "REP-QL", "REP-TFIDF", "PROX-1", "PROX-2", "REG", "STM-1", "STM-2", "STM-3"]
AUC = {"I": 0.9, "II": 0.85, "III": 0.86, "IV": 0.8}
"""III is above II, unlike the paper's; IV is below III, unlike the paper's."""
COUNTS = {"1": 30, "2": 10, "3-5": 15, "6-10": 5, "11-50": 10, ">50": 30}


def predictor(folder: Path, name: str, setting: str, **changes) -> Path:
    """Write a predictor's scores: AUC ± 0.01, RANK twice as important as REP-QL, the others not at all."""
    auc = changes.pop("auc", AUC[setting])
    scores = {
        "setting": setting, "label": name.title(), "axioms": AXIOMS, "auc": auc, "auc_low": auc - 0.01,
        "auc_high": auc + 0.01, "pairs": 2000, "test_pairs": 200, "importance": {"RANK": 1.0, "REP-QL": 0.5}, **changes,
    }  # fmt: skip
    return _write(folder / "results" / "predictors" / name / "scores.json", json.dumps(scores))


def predictors(folder: Path, **changes) -> list[Path]:
    """Write a predictor for each setting: i, ii, iii, iv."""
    return [predictor(folder, setting.lower(), setting, **changes) for setting in AUC]


def rank_intervals(folder: Path, collection: str, **changes) -> Path:
    found = {"queries": 100, "depth": 50, "intervals": COUNTS, **changes}
    return _write(folder / "results" / "axioms" / collection / "rank-intervals.json", json.dumps(found))


def diagnosis(folder: Path, name: str, models: dict[str, str], rows: list[dict] | None = None) -> Path:
    """Write a diagnosis of models (key → label): 60 of 100 pairs with RANK, 40 with REG, none to count with STM-2."""
    shares = {
        "REG": {"pairs": 100, "share": 0.4, "low": 0.3, "high": 0.5},
        "RANK": {"pairs": 100, "share": 0.6, "low": 0.5, "high": 0.7},
        "STM-2": {"pairs": 0},
    }
    rows = rows or [
        {"model": model, "label": label, "axiom": axiom, **numbers}
        for model, label in models.items()
        for axiom, numbers in shares.items()
    ]
    variances = {"seeds": 1, "variance": 0.01, "freedom": 99}
    table = pandas.DataFrame([variances | row for row in rows], columns=COLUMNS, dtype=object)
    return _write(folder / "results" / "diagnosis" / f"{name}.csv", table.to_csv(index=False))


def with_axioms(config: Config, dataset: str = "squad-train", names: tuple[str, ...] = ()) -> Config:
    """The configuration with the predictors that `predictors` writes, and a diagnosis called "heads"."""
    known = {
        name: SimpleNamespace(dataset=dataset, collection="pretraining", negative_terms="any")
        for name in (*map(str.lower, AUC), *names)
    }
    diagnoses = {"heads": SimpleNamespace(models=[], collection="pretraining")}
    return config.model_copy(update={"predictors": known, "diagnoses": diagnoses})


def axiom_files(folder: Path) -> dict[str, list[Path]]:
    """All of it, for two models, by the names of `ResultFiles`."""
    models = {"control": "control", "prop": "PROP"}
    return {
        "predictors": predictors(folder),
        "rank_intervals": [rank_intervals(folder, "pretraining")],
        "diagnoses": [diagnosis(folder, "heads", models)],
    }


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
