"""The files that tables, figures and pages are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from irpretrain.config import Config
from irpretrain.report.axiom_results import AxiomFiles
from irpretrain.report.scores import Scores


@dataclass(frozen=True)
class ResultFiles:
    """What a run measured, for the papers that show it.

    Attributes:
        scores: `results/scores/<experiment>.csv`, whose means are checked against the values of queries.
        per_query: `results/per_query/<experiment>.parquet`.
        axioms: what was measured of axioms.
        depths: `results/depths/<experiment>.parquet`.
        answers: `results/downstream/<experiment>.parquet`, of tasks beside retrieval.
        distributions: `results/weight_distributions/<name>.json`.
        verdicts: `results/verdicts/<paper>.csv`.
        claims: `results/claims/<paper>.csv`.
        sweeps: `results/tuning/<first stage>.json` of tuned first stages.
        costs: `results/index_costs/<dataset>.json`.
        probes: `results/metrics/pretrained/<model>/seed-<n>.probe.csv`.
        pages: `results/query_pages/<page>.html`, which the report links to.
    """

    scores: Sequence[str | Path]
    per_query: Sequence[str | Path]
    axioms: AxiomFiles = field(default_factory=AxiomFiles)
    depths: Sequence[str | Path] = ()
    answers: Sequence[str | Path] = ()
    distributions: Sequence[str | Path] = ()
    verdicts: Sequence[str | Path] = ()
    claims: Sequence[str | Path] = ()
    sweeps: Sequence[str | Path] = ()
    costs: Sequence[str | Path] = ()
    probes: Sequence[str | Path] = ()
    pages: Sequence[str | Path] = ()

    @classmethod
    def named(cls, inputs: Any) -> ResultFiles:
        """Return the files of a job, whose `inputs` have a list for each of the names here and in `AxiomFiles`."""
        axioms = {each.name: list(inputs.get(each.name, ())) for each in fields(AxiomFiles)}
        others = {each.name: list(inputs.get(each.name, ())) for each in fields(cls) if each.name != "axioms"}
        return cls(axioms=AxiomFiles(**axioms), **others)

    def paths(self) -> list[str]:
        """Return all but the scores, which say no more than the values of queries."""
        kinds = [kind.name for kind in fields(self) if kind.name not in ("scores", "axioms")]
        return [*(str(path) for kind in kinds for path in getattr(self, kind)), *self.axioms.paths()]

    def read(self) -> Scores:
        """Return the scores of all runs, read once."""
        return self._scores

    @cached_property
    def _scores(self) -> Scores:
        return Scores.read(self.per_query, self.scores)

    def of_paper(self, paper: str, config: Config) -> ResultFiles:
        """Return the files of the experiments that a paper shows, and those called after no experiment."""
        narrowed = config.of_papers([paper])
        others = config.experiments.keys() - narrowed.experiments.keys()
        tasks = config.downstream.keys() - narrowed.downstream.keys()
        kept = [
            [path for path in paths if Path(path).stem not in others]
            for paths in (self.scores, self.per_query, self.depths)
        ]
        answers = [path for path in self.answers if Path(path).stem not in tasks]
        if [*kept, answers] == [list(p) for p in (self.scores, self.per_query, self.depths, self.answers)]:
            return self
        return ResultFiles(kept[0], kept[1], self.axioms, kept[2], answers, self.distributions)
