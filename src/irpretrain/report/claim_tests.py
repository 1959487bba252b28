"""Which results of a run test a claim, and the difference that they show.

A claim is tested where both sides were run on the same data set and candidates, by experiments that show the paper. Of
several such places it is the one with the most seeds, then with the most queries, then the first in the configuration.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np

from irpretrain.config import Config
from irpretrain.config.labels import configured_label, dataset_label
from irpretrain.config.usage import over_candidates
from irpretrain.evaluation.claims import ANSWERS, Claim, Side
from irpretrain.evaluation.evaluate import FIRST_STAGE, at_depth
from irpretrain.evaluation.ledger import Facts, differences_text
from irpretrain.evaluation.significance import wilson_interval
from irpretrain.evaluation.verdicts import EffectEstimate, paired, standard_error, unpaired
from irpretrain.report.axiom_results import NO_AXIOMS, AxiomResults, PredictorScores
from irpretrain.report.figures import WeightingShares, read_distribution
from irpretrain.report.planned_facts import facts_of, weighting_facts
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Pair, Results, RunName, Scores

# Options of a predictor that a claim compares, or takes the common ones of.
COMPARED_OF_PREDICTORS = {"label", "setting", "axioms", "seeds"}
# Seeds of a run without training, such as a first stage's.
UNTRAINED = (0,)


@dataclass(frozen=True)
class ClaimComparison:
    """A claim's comparison: what was compared, where, and what came out."""

    better: str
    worse: str
    measure: str
    estimate: EffectEstimate
    level: float  # the worse side's mean
    queries: int
    # Of training, that both sides have; 0 where nothing was trained with a seed of its own, such as the weights of an
    # index.
    seeds: int = 0
    dataset: str = ""
    candidates: str = ""
    # Of a claim about the change of a lead, the larger one; None for other claims.
    lead: EffectEstimate | None = None
    # What the interval counts: "articles and seeds", "seeds of the predictor".
    counted: str = ""
    best_of: int = 0  # number of models of which the better side is the best; 0 where it is not chosen
    # Of all sides, better and worse in turn; none where the sides are no models.
    runs: tuple[RunName, ...] = ()
    weightings: tuple[WeightingShares, ...] = ()  # of both sides, where these are weightings of words
    predictors: tuple[PredictorScores, ...] = ()  # of both sides, where these are predictors


class _Named(NamedTuple):
    side: Side
    name: str
    regime: str


class Finder:
    """Finds what tests a claim.

    Args:
        scores: of all runs, of those at several depths, and of tasks beside retrieval.
        shares: each collection's shares of weights on the heaviest terms.
    """

    def __init__(
        self,
        scores: Scores,
        config: Config,
        axioms: AxiomResults = NO_AXIOMS,
        shares: Sequence[Sequence[WeightingShares]] = (),
    ) -> None:
        self._scores, self._config, self._axioms, self._shares = scores, config, axioms, shares
        names = scores.names()
        reranked = {(n.dataset, n.candidates.partition("@")[0]) for n in names if n.regime != FIRST_STAGE}
        order = {dataset: position for position, dataset in enumerate(config.datasets)}
        datasets = sorted(
            {n.dataset for n in names}, key=lambda dataset: (order.get(dataset, len(order)), dataset)
        )
        self._alone = [(dataset, "") for dataset in datasets]
        self._reranked = [
            (dataset, candidates)
            for dataset in datasets
            for candidates in sorted(c for d, c in reranked if d == dataset and c)
        ]
        self._stages = {(n.dataset, n.candidates): n for n in names if n.regime == FIRST_STAGE}

    @classmethod
    def read(cls, files: ResultFiles, config: Config) -> Self:
        """Read the files of a paper."""
        scores = Scores.read([*files.per_query, *files.depths, *files.answers], files.trainings)
        return cls(scores, config, files.read_axioms(), list(map(read_distribution, files.distributions)))

    def differing(self, comparison: ClaimComparison) -> str:
        """Return what the sides of a comparison differ in beyond the experiment; empty for nothing."""
        if comparison.predictors:
            return self._differing_predictors(comparison.predictors)
        facts = self.facts(comparison)
        return differences_text(self._config, [facts[:2], facts[2:]])

    def facts(self, comparison: ClaimComparison) -> list[Facts]:
        """Return the facts of all sides, better and worse in turn; none where the sides are predictors."""
        runs = [facts_of(self._config, self._scores, run) for run in comparison.runs]
        return runs + [
            Facts(
                "", "", row.weighting, "", scored=row.counted, **weighting_facts(self._config, row.weighting)
            )
            for row in comparison.weightings
        ]  # fmt: skip

    def taught_differently(self, comparison: ClaimComparison) -> str:
        """Return whose queries teach each of two sides, where both learn and from other queries; else nothing."""
        facts = self.facts(comparison)[:2]
        teachers = [row.training_queries.partition(",")[0] for row in facts]
        if not all(teachers) or len(set(teachers)) == 1:
            return ""
        labels = (configured_label(self._config, row.model) for row in facts)
        labelled_teachers = zip(labels, teachers, strict=True)
        return "; ".join(
            f"{label} learns from {dataset_label(self._config, teacher)}"
            for label, teacher in labelled_teachers
        )

    def _differing_predictors(self, predictors: Sequence[PredictorScores]) -> str:
        facts = [self._options_of(predictor) for predictor in predictors]
        return "; ".join(
            f"{key}: "
            + ", ".join(f"{values[key]} ({p.name})" for p, values in zip(predictors, facts, strict=True))
            for key in facts[0]
            if all(key in values for values in facts) and len({values[key] for values in facts}) > 1
        )

    def _options_of(self, predictor: PredictorScores) -> dict[str, str]:
        """Return what a predictor learns from and how, without what claims compare."""
        predictor_config = self._config.predictors.get(predictor.name)
        options = predictor_config.model_dump(exclude=COMPARED_OF_PREDICTORS) if predictor_config else {}
        counts = {"pairs": f"{predictor.pairs:,}", "pairs of the test": f"{predictor.test_pairs:,}"}
        return {key.replace("_", " "): str(value) for key, value in options.items()} | counts

    def test(self, claim: Claim) -> ClaimComparison | None:
        """Return the comparison, or None where a side was not run."""
        kind = claim.sides[0].kind
        if kind == "run":
            return self._compare_runs(claim)
        if kind in ("predictor", "importance"):
            return self._compare_predictors(claim, "AUC" if kind == "predictor" else "gain")
        return self._compare_agreements(claim) if kind == "agreement" else self._compare_weightings(claim)

    # Runs

    def _compare_runs(self, claim: Claim) -> ClaimComparison | None:
        possible_comparisons = (self._compare_chosen(claim, named_sides) for named_sides in _choices(claim))
        comparisons = (comparison for comparison in possible_comparisons if comparison)
        if not claim.sides[0].best:
            return next(comparisons, None)
        all_comparisons = list(comparisons)
        best = max(all_comparisons, key=lambda comparison: comparison.estimate.difference, default=None)
        return best and replace(best, best_of=len(all_comparisons))

    def _compare_chosen(self, claim: Claim, named_sides: Sequence[_Named]) -> ClaimComparison | None:
        fixes_candidates = all(
            named_side.side.first_stage or named_side.side.candidates for named_side in named_sides
        )
        pairs = self._alone if fixes_candidates or named_sides[0].regime == ANSWERS else self._reranked
        if claim.candidates:
            pairs = [pair for pair in self._reranked if pair[1] in claim.candidates]
        comparisons = [
            comparison for pair in pairs if (comparison := self._compare_at(claim, named_sides, pair))
        ]
        return max(comparisons, key=lambda comparison: (comparison.seeds, comparison.queries), default=None)

    def _compare_at(self, claim: Claim, named_sides: Sequence[_Named], pair: Pair) -> ClaimComparison | None:
        measure = claim.measure or self._first_measure(pair[0])
        runs = [run for named_side in named_sides if (run := self._run(named_side, pair))]
        results = [run_results for run in runs if (run_results := self._scores.get(run, measure))]
        if len(results) < len(named_sides) or (seeds := _common_seeds(results)) is None:
            return None
        values = [_values_of(run_results, seeds) for run_results in results]
        first_values, second_values = values[0], _share(claim) * values[1]
        texts = [_run_text(run) for run in runs]
        lead = None
        if claim.more_than:
            lead = paired(values[0], values[1], results[0].articles)
            first_values, second_values = first_values + values[3], second_values + values[2]
            texts = [f"{texts[0]} over {texts[1]}", f"{texts[2]} over {texts[3]}"]
        if claim.wins:
            first_values, second_values, measure = (
                np.sign(first_values - second_values),
                np.zeros(1),
                f"queries won in {measure}",
            )
        return ClaimComparison(
            texts[0],
            claim.reached(texts[1]),
            measure,
            paired(first_values, second_values, results[0].articles),
            float(values[1].mean()),
            values[0].shape[1],
            len(seeds),
            *pair,
            lead=lead,
            counted=_counted(results[0], len(seeds)),
            runs=tuple(runs),
        )

    def _run(self, named_side: _Named, pair: Pair) -> RunName | None:
        dataset, candidates = pair
        side = named_side.side
        if side.first_stage:
            stage = self._displayed_stage(named_side.name, candidates)
            return self._stages.get((dataset, at_depth(stage, side.depth) if side.depth else stage))
        if named_side.regime == ANSWERS:
            return RunName(dataset, "", named_side.name, "full")
        reranked = side.candidates or candidates
        return RunName(
            dataset,
            at_depth(reranked, side.depth) if side.depth else reranked,
            named_side.name,
            named_side.regime,
        )

    def _displayed_stage(self, name: str, candidates: str) -> str:
        """Return the run that stands for a first stage: over candidates that others retrieved it ranks these, as in the
        papers' tables; else it searches the collection."""
        stage = self._config.first_stages.get(candidates)
        is_given = stage is not None and bool(stage.runs) and name != candidates
        return over_candidates(name, candidates) if is_given else name

    def _first_measure(self, dataset: str) -> str:
        if dataset in self._config.datasets:
            return self._config.datasets[dataset].measures[0]
        computed = self._scores.measures(dataset)
        return "F1" if "F1" in computed else computed[0]

    # Everything else

    def _compare_predictors(self, claim: Claim, measure: str) -> ClaimComparison | None:
        """Compare AUCs or gains over the seeds of both sides, each of which draws its own test documents."""
        scores_by_name = {scores.name: scores for scores in self._axioms.predictors}
        first, second = (_first(scores_by_name, side.names) for side in claim.sides)
        if not first or not second:
            return None
        scores_and_sides = list(zip((first, second), claim.sides, strict=True))
        seed_values = [_of_seeds(scores, side) for scores, side in scores_and_sides]
        seeds = sorted(seed_values[0].keys() & seed_values[1].keys())
        if not seeds:
            return None
        better, worse = (
            f"{side.axiom} of {p.name}" if side.axiom else p.name for p, side in scores_and_sides
        )
        values = [[values_of_side[seed] for seed in seeds] for values_of_side in seed_values]
        seed_estimate = paired(values[0], np.multiply(values[1], _share(claim)))
        if measure == "AUC":
            # Other documents: each side's bootstrap, as if the sides were independent. It counts beside the seeds,
            # although each seed tests other documents: the interval is wide rather than narrow.
            errors = np.array([_document_error(scores, seeds) for scores in (first, second)])
            document_variance = float(np.sum((errors * (1, _share(claim))) ** 2)), math.inf
            estimate = EffectEstimate.of(seed_estimate.difference, document_variance, *seed_estimate.parts)
        else:
            # Other seeds are no other collection: the interval is shown, a p-value is not.
            estimate = seed_estimate._replace(p=math.nan)
        return ClaimComparison(
            better,
            claim.reached(worse),
            measure,
            estimate,
            float(np.mean(values[1])),
            len(seeds),
            len(seeds),
            counted="documents and seeds of the predictor" if measure == "AUC" else "seeds of the predictor",
            predictors=(first, second),
        )

    def _compare_agreements(self, claim: Claim) -> ClaimComparison | None:
        """Compare two re-rankers' shares of the pairs on which they decide as one axiom does."""
        better, worse = claim.sides
        axiom = better.axiom or ""
        for diagnosis in self._axioms.diagnoses:
            for first, second in product(better.names, worse.names):
                lead, level = diagnosis.lead(first, second, axiom), diagnosis.get(second, axiom)
                if lead is None or level is None or not level.pairs:
                    continue
                return ClaimComparison(
                    f"{first} on {axiom}",
                    f"{second} on {axiom}",
                    "agreement",
                    lead,
                    level.share,
                    level.pairs,
                    level.seeds,
                    counted="documents and seeds" if level.seeds > 1 else "documents",
                    runs=tuple(RunName("", "", model, "zero-shot") for model in (first, second)),
                )
        return None

    def _compare_weightings(self, claim: Claim) -> ClaimComparison | None:
        """Compare how much of a passage's weight is on its heaviest term."""
        for weightings in self._shares:
            rows = {row.weighting: row for row in weightings if row.shares[0] is not None}
            better, worse = (_first(rows, side.names) for side in claim.sides)
            if better and worse:
                # Shares from 0 to 1 vary at most as a yes or no with the same mean does, so that Wilson's interval is
                # wider than theirs.
                ours, theirs = (
                    wilson_interval(row.shares[0] * row.counted, row.counted) for row in (better, worse)
                )
                mean, low, high = (_share(claim) * value for value in theirs)
                return ClaimComparison(
                    better.weighting,
                    claim.reached(worse.weighting),
                    "weight of the heaviest term",
                    unpaired(ours, (mean, low, high)),
                    theirs.mean,
                    min(better.counted, worse.counted),
                    counted="passages",
                    weightings=(better, worse),
                )
        return None


def _of_seeds(scores: PredictorScores, side: Side) -> dict[int, float]:
    if side.axiom and side.axiom not in scores.importance:
        return {}
    return {seed.seed: seed.importance[side.axiom] if side.axiom else seed.auc for seed in scores.seeds}


def _document_error(scores: PredictorScores, seeds: Sequence[int]) -> float:
    """The standard error of a predictor's AUC over test documents, by the mean variance of its seeds."""
    errors = [standard_error(seed.auc_low, seed.auc_high) for seed in scores.seeds if seed.seed in seeds]
    return float(np.sqrt(np.mean(np.square(errors))))


def _counted(results: Results, seeds: int) -> str:
    """What the interval of paired runs counts."""
    queries_are_independent = results.articles is None or len(set(results.articles)) == len(results.queries)
    return ("queries" if queries_are_independent else "articles") + (" and seeds" if seeds > 1 else "")


def _share(claim: Claim) -> float:
    """How much of the worse side the better one is to reach."""
    return 1.0 if claim.share is None else claim.share


def _choices(claim: Claim) -> Iterable[tuple[_Named, ...]]:
    for regime in claim.regime or ("",):
        choices_of_sides = (
            [
                _Named(side, name, side_regime or regime)
                for name in side.names
                for side_regime in side.regime or ("",)
            ]
            for side in claim.sides
        )
        yield from product(*choices_of_sides)


def _first(values_by_name: Mapping[Any, Any], names: Iterable[Any]) -> Any:
    return next((values_by_name[name] for name in names if name in values_by_name), None)


def _common_seeds(results: Sequence[Results]) -> list[int] | None:
    """The seeds of training that several runs share, none where nothing was trained; None where queries differ, or
    trained runs share no seed."""
    if len({run_results.queries for run_results in results}) != 1:
        return None
    seed_sets = [set(run_results.seeds) for run_results in results if run_results.seeds != UNTRAINED]
    common = sorted(set.intersection(*seed_sets)) if seed_sets else []
    return None if seed_sets and not common else common


def _values_of(results: Results, seeds: Sequence[int]) -> np.ndarray:
    return (
        results.values
        if results.seeds == UNTRAINED
        else results.values[[results.seeds.index(seed) for seed in seeds]]
    )


def _run_text(run: RunName) -> str:
    if run.regime == FIRST_STAGE:
        return run.candidates
    return f"{run.model}, {run.regime}" + (f", {run.candidates}" if "@" in run.candidates else "")
