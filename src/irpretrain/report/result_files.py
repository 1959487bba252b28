"""The files that tables, figures and pages are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from irpretrain.report.axiom_results import AxiomResults
from irpretrain.report.scores import Scores


@dataclass(frozen=True)
class ResultFiles:
    """What a run measured, for the papers that show it."""

    # `results/scores/<experiment>.csv`, which the overview joins, as their means.
    scores: Sequence[str | Path]
    per_query: Sequence[str | Path]  # `results/per_query/<experiment>.parquet`
    predictors: Sequence[str | Path] = ()  # `results/predictors/<predictor>/scores.json`
    rank_intervals: Sequence[str | Path] = ()  # `results/axioms/<collection>/rank-intervals.json`
    diagnoses: Sequence[str | Path] = ()  # `results/diagnosis/<name>.csv`
    depths: Sequence[str | Path] = ()  # `results/depths/<experiment>.parquet`
    answers: Sequence[str | Path] = ()  # `results/downstream/<experiment>.parquet`, of tasks beside retrieval
    distributions: Sequence[str | Path] = ()  # `results/weight_distributions/<name>.json`
    claims: Sequence[str | Path] = ()  # `results/claims/<paper>.csv`
    sweeps: Sequence[str | Path] = ()  # `results/tuning/<first stage>.json` of tuned first stages
    probes: Sequence[str | Path] = ()  # `results/metrics/pretrained/<model>/seed-<n>.probe.csv`
    searches: Sequence[str | Path] = ()  # `results/searches/<experiment>.json`
    attributions: Sequence[str | Path] = ()  # `results/attributions/<page>.json`
    # `results/examples/<collection>/<objective>.json`, and of weightings of words `results/examples/<weighting>.json`
    examples: Sequence[str | Path] = ()
    # `results/models/pretrained/<model>/seed-<n>.meta.json`, for the ledgers of tables; of chosen snapshots
    # `results/models/selected/<model>/seed-<n>.meta.json` too.
    trainings: Sequence[str | Path] = ()

    @classmethod
    def named(cls, inputs: Any) -> ResultFiles:
        """Return the files of a job, whose `inputs` have a list for each of the names here."""
        return cls(**{field.name: list(inputs.get(field.name, ())) for field in fields(cls)})

    def paths(self) -> list[str]:
        """Return all but the scores, which say no more than the values of queries."""
        names = [field.name for field in fields(self) if field.name != "scores"]
        return [str(path) for name in names for path in getattr(self, name)]

    def read(self) -> Scores:
        """Return the scores of all runs."""
        return Scores.read(self.per_query, self.trainings, self.sweeps)

    def read_axioms(self) -> AxiomResults:
        return AxiomResults.read(self.predictors, self.rank_intervals, self.diagnoses)
