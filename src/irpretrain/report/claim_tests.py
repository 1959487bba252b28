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
from irpretrain.config.finetuning import shots_of
from irpretrain.config.labels import listed
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.config.run import Run, weighting_facts
from irpretrain.evaluation.claims import ANSWERS, Claim, Side
from irpretrain.evaluation.evaluate import at_depth
from irpretrain.evaluation.ledger import READING_LABELS, RunFacts, differences_text
from irpretrain.evaluation.significance import wilson_interval
from irpretrain.evaluation.verdicts import EffectEstimate, paired, standard_error, unpaired
from irpretrain.report.axiom_results import NO_AXIOMS, AxiomResults, PredictorScores
from irpretrain.report.figures import WeightingShares, read_distribution
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Pair, Results, RunName, Scores

# Options of a predictor that a claim compares, or takes the common ones of.
COMPARED_OPTIONS = {"label", "setting", "axioms", "seeds"}
# Seeds of a run without training, such as a first stage's.
UNTRAINED = (0,)


@dataclass(frozen=True)
class ClaimComparison:
    """A claim's comparison: what was compared, where, and what came out."""

    better: str
    worse: str
    measure: str
    estimate: EffectEstimate
    worse_mean: float
    queries: int
    # Of training, that both sides have; 0 where nothing was trained with a seed of its own, such as the weights of an
    # index.
    seeds: int = 0
    dataset: str = ""
    candidates: str = ""
    # Of a claim about the change of a lead; None for other claims.
    larger_lead: EffectEstimate | None = None
    # What the interval counts: "articles and seeds", "seeds of the predictor".
    counted: str = ""
    best_of: int = 0  # number of models of which the better side is the best; 0 where it is not chosen
    # Of all sides, better and worse in turn; none where the sides are no models.
    runs: tuple[RunName, ...] = ()
    weightings: tuple[WeightingShares, ...] = ()  # of both sides, where these are weightings of words
    predictors: tuple[PredictorScores, ...] = ()  # of both sides, where these are predictors


class _SideChoice(NamedTuple):
    side: Side
    name: str
    regime: str


class ClaimTester:
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
        runs = scores.runs()
        reranked = (run for run in runs if run.regime != FIRST_STAGE and run.candidates)
        # Data sets as the configuration has them, then others by name.
        positions = {dataset: position for position, dataset in enumerate(config.datasets)}

        def configured_order(pair: Pair) -> tuple[int, Pair]:
            return positions.get(pair[0], len(positions)), pair

        self._pairs_without_candidates = sorted({(run.dataset, "") for run in runs}, key=configured_order)
        reranked_pairs = {(run.dataset, run.candidates.partition("@")[0]) for run in reranked}
        self._reranked_pairs = sorted(reranked_pairs, key=configured_order)
        self._stage_runs = {(run.dataset, run.candidates): run for run in runs if run.regime == FIRST_STAGE}

    @classmethod
    def read(cls, files: ResultFiles, config: Config) -> Self:
        """Read the files of a paper."""
        scores = Scores.read([*files.per_query, *files.depths, *files.answers], files.trainings, files.sweeps)
        return cls(scores, config, files.read_axioms(), list(map(read_distribution, files.distributions)))

    def describe_differences(self, comparison: ClaimComparison) -> str:
        """Return what the sides of a comparison differ in beyond the experiment; empty for nothing."""
        if comparison.predictors:
            return self._describe_predictor_differences(comparison.predictors)
        facts = self.facts(comparison)
        return differences_text(self._config, [facts[:2], facts[2:]])

    def facts(self, comparison: ClaimComparison) -> list[RunFacts]:
        """Return the facts of all sides, better and worse in turn; none where the sides are predictors."""
        facts = [self._scores.facts_of(self._config, run) for run in comparison.runs]
        for row in comparison.weightings:
            options = weighting_facts(self._config, row.weighting)
            facts.append(RunFacts("", "", row.weighting, "", scored=row.passages_with_terms, **options))
        return facts

    def describe_reading(self, sides: Sequence[RunFacts]) -> str:
        """Return "unequal reading in test and pre-training", for stages that both of two sides have; empty for none."""
        stages = [
            label.removeprefix("read in ")
            for key, label in READING_LABELS.items()
            if len({text for row in sides if (text := getattr(row, key))}) > 1
        ]
        return f"unequal reading in {listed(stages)}" if stages else ""

    def describe_training_queries(self, sides: Sequence[RunFacts]) -> str:
        """Return how many queries fine-tuned two sides that are not fine-tuned alike, or on few; else nothing."""
        models = [row for row in sides if row.regime != FIRST_STAGE]
        regimes = {row.regime for row in models}
        if len(regimes) < 2 and not any(map(shots_of, regimes)):
            return ""
        labels_by_number: dict[str, dict[str, None]] = {}
        for row in models:
            if row.finetuning_queries:
                label = self._config.configured_label(row.model)
                labels_by_number.setdefault(row.finetuning_queries, {})[label] = None
        texts = (f"{number} ({listed(labels)})" for number, labels in labels_by_number.items())
        return f"queries of fine-tuning: {'; '.join(texts)}" if labels_by_number else ""

    def describe_teachers(self, sides: Sequence[RunFacts]) -> str:
        """Return whose queries teach each of two sides, where this differs, and whose teach the predictor that labels
        pre-training's pairs; else nothing. That a re-ranker learns where a first stage does not goes without saying."""
        teachers = [row.training_queries.partition(",")[0] for row in sides]
        labels = [self._config.configured_label(row.model) for row in sides]
        texts: list[str] = []
        if len(set(teachers)) > 1 and (all(teachers) or len({row.regime for row in sides}) == 1):
            texts += [
                f"{label} learns from {self._teacher_text(row, teacher)}"
                for label, teacher, row in zip(labels, teachers, sides, strict=True)
            ]
        if len({row.predictor_queries for row in sides}) > 1:
            texts += [
                f"a predictor taught by {self._config.dataset_label(row.predictor_queries)} labels {label}'s pairs"
                for label, row in zip(labels, sides, strict=True)
                if row.predictor_queries
            ]
        return "; ".join(texts)

    def _teacher_text(self, row: RunFacts, teacher: str) -> str:
        if not teacher:
            return "no judged query"
        label = self._config.dataset_label(teacher)
        return f"{label} ({row.finetuning_queries})" if row.finetuning_queries else label

    def _describe_predictor_differences(self, predictors: Sequence[PredictorScores]) -> str:
        options = [self._predictor_options(predictor) for predictor in predictors]
        return "; ".join(
            f"{key}: "
            + ", ".join(
                f"{values[key]} ({predictor.name})"
                for predictor, values in zip(predictors, options, strict=True)
            )
            for key in options[0]
            if all(key in values for values in options) and len({values[key] for values in options}) > 1
        )

    def _predictor_options(self, predictor: PredictorScores) -> dict[str, str]:
        """Return what a predictor learns from and how, without what claims compare."""
        predictor_config = self._config.predictors.get(predictor.name)
        options = predictor_config.model_dump(exclude=COMPARED_OPTIONS) if predictor_config else {}
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
        comparisons = filter(None, (self._compare_choices(claim, sides) for sides in _side_choices(claim)))
        if not claim.sides[0].best:
            return next(comparisons, None)
        all_comparisons = list(comparisons)
        best = max(all_comparisons, key=lambda comparison: comparison.estimate.difference, default=None)
        return best and replace(best, best_of=len(all_comparisons))

    def _compare_choices(self, claim: Claim, sides: Sequence[_SideChoice]) -> ClaimComparison | None:
        fixes_candidates = all(choice.side.first_stage or choice.side.candidates for choice in sides)
        pairs = (
            self._pairs_without_candidates
            if fixes_candidates or sides[0].regime == ANSWERS
            else self._reranked_pairs
        )
        if claim.candidates:
            pairs = [pair for pair in self._reranked_pairs if pair[1] in claim.candidates]
        comparisons = [comparison for pair in pairs if (comparison := self._compare_at(claim, sides, pair))]
        return max(comparisons, key=lambda comparison: (comparison.seeds, comparison.queries), default=None)

    def _compare_at(self, claim: Claim, sides: Sequence[_SideChoice], pair: Pair) -> ClaimComparison | None:
        measure = claim.measure or self._first_measure(pair[0])
        runs = [run for choice in sides if (run := self._run(choice, pair))]
        results = [run_results for run in runs if (run_results := self._scores.get(run, measure))]
        if len(results) < len(sides) or (seeds := _common_seeds(results)) is None:
            return None
        values = [_values_of(run_results, seeds) for run_results in results]
        better_values, worse_values = values[0], _target_share(claim) * values[1]
        side_texts = [_run_text(run) for run in runs]
        larger_lead = None
        if claim.more_than:
            larger_lead = paired(values[0], values[1], results[0].articles)
            better_values, worse_values = better_values + values[3], worse_values + values[2]
            side_texts = [f"{side_texts[0]} over {side_texts[1]}", f"{side_texts[2]} over {side_texts[3]}"]
        if claim.wins:
            better_values, worse_values = np.sign(better_values - worse_values), np.zeros(1)
            measure = f"queries won in {measure}"
        return ClaimComparison(
            side_texts[0],
            claim.reached(side_texts[1]),
            measure,
            paired(better_values, worse_values, results[0].articles),
            float(values[1].mean()),
            values[0].shape[1],
            len(seeds),
            *pair,
            larger_lead=larger_lead,
            counted=_counted_units(results[0], len(seeds)),
            runs=tuple(runs),
        )

    def _run(self, choice: _SideChoice, pair: Pair) -> RunName | None:
        dataset, candidates = pair
        if choice.regime == ANSWERS:
            return RunName(dataset, "", choice.name, "full")
        side = choice.side
        stage: str | None = side.candidates or candidates
        if side.first_stage:
            stage = Run(self._config, dataset, candidates or choice.name).stage_beside(choice.name)
        if stage is None:
            return None
        stage = at_depth(stage, side.depth) if side.depth else stage
        if side.first_stage:
            return self._stage_runs.get((dataset, stage))
        return RunName(dataset, stage, choice.name, choice.regime)

    def _first_measure(self, dataset: str) -> str:
        if dataset in self._config.datasets:
            return self._config.datasets[dataset].measures[0]
        computed = self._scores.measures(dataset)
        return "F1" if "F1" in computed else computed[0]

    # Everything else

    def _compare_predictors(self, claim: Claim, measure: str) -> ClaimComparison | None:
        """Compare AUCs or gains over the seeds of both sides, each of which draws its own test documents."""
        scores_by_name = {scores.name: scores for scores in self._axioms.predictors}
        better_scores, worse_scores = (_first_known(scores_by_name, side.names) for side in claim.sides)
        if not better_scores or not worse_scores:
            return None
        predictors = better_scores, worse_scores
        scores_and_sides = list(zip(predictors, claim.sides, strict=True))
        seed_values = [_values_by_seed(scores, side) for scores, side in scores_and_sides]
        seeds = sorted(seed_values[0].keys() & seed_values[1].keys())
        if not seeds:
            return None
        better_text, worse_text = (
            f"{side.axiom} of {scores.name}" if side.axiom else scores.name
            for scores, side in scores_and_sides
        )
        values = [[values_of_side[seed] for seed in seeds] for values_of_side in seed_values]
        seed_estimate = paired(values[0], np.multiply(values[1], _target_share(claim)))
        if measure == "AUC":
            # Other documents: each side's bootstrap, as if the sides were independent. It counts beside the seeds,
            # although each seed tests other documents: the interval is wide rather than narrow.
            errors = np.array([_document_error(scores, seeds) for scores in predictors])
            document_variance = float(np.sum((errors * (1, _target_share(claim))) ** 2)), math.inf
            estimate = EffectEstimate.of(
                seed_estimate.difference, document_variance, *seed_estimate.variances
            )
        else:
            # Other seeds are no other collection: the interval is shown, a p-value is not.
            estimate = seed_estimate._replace(p=math.nan)
        return ClaimComparison(
            better_text,
            claim.reached(worse_text),
            measure,
            estimate,
            float(np.mean(values[1])),
            len(seeds),
            len(seeds),
            counted="documents and seeds of the predictor" if measure == "AUC" else "seeds of the predictor",
            predictors=predictors,
        )

    def _compare_agreements(self, claim: Claim) -> ClaimComparison | None:
        """Compare two re-rankers' shares of the pairs on which they decide as one axiom does."""
        better_side, worse_side = claim.sides
        axiom = better_side.axiom or ""
        for diagnosis in self._axioms.diagnoses:
            for better_model, worse_model in product(better_side.names, worse_side.names):
                lead = diagnosis.lead(better_model, worse_model, axiom)
                worse_agreement = diagnosis.get(worse_model, axiom)
                if lead is None or worse_agreement is None or not worse_agreement.pairs:
                    continue
                return ClaimComparison(
                    f"{better_model} on {axiom}",
                    f"{worse_model} on {axiom}",
                    "agreement",
                    lead,
                    worse_agreement.share,
                    worse_agreement.pairs,
                    worse_agreement.seeds,
                    counted="documents and seeds" if worse_agreement.seeds > 1 else "documents",
                    runs=tuple(RunName("", "", model, "zero-shot") for model in (better_model, worse_model)),
                )
        return None

    def _compare_weightings(self, claim: Claim) -> ClaimComparison | None:
        """Compare how much of a passage's weight is on its heaviest term."""
        for weightings in self._shares:
            shares_by_weighting = {row.weighting: row for row in weightings if row.shares[0] is not None}
            better, worse = (_first_known(shares_by_weighting, side.names) for side in claim.sides)
            if better and worse:
                # Shares from 0 to 1 vary at most as a yes or no with the same mean does, so that Wilson's interval is
                # wider than theirs.
                better_interval, worse_interval = (
                    wilson_interval(row.shares[0] * row.passages_with_terms, row.passages_with_terms)
                    for row in (better, worse)
                )
                mean, low, high = (_target_share(claim) * value for value in worse_interval)
                return ClaimComparison(
                    better.weighting,
                    claim.reached(worse.weighting),
                    "weight of the heaviest term",
                    unpaired(better_interval, (mean, low, high)),
                    worse_interval.mean,
                    min(better.passages_with_terms, worse.passages_with_terms),
                    counted="passages",
                    weightings=(better, worse),
                )
        return None


def _values_by_seed(scores: PredictorScores, side: Side) -> dict[int, float]:
    if side.axiom and side.axiom not in scores.importance:
        return {}
    return {seed.seed: seed.importance[side.axiom] if side.axiom else seed.auc for seed in scores.seeds}


def _document_error(scores: PredictorScores, seeds: Sequence[int]) -> float:
    """The standard error of a predictor's AUC over test documents, by the mean variance of its seeds."""
    errors = [standard_error(seed.auc_low, seed.auc_high) for seed in scores.seeds if seed.seed in seeds]
    return float(np.sqrt(np.mean(np.square(errors))))


def _counted_units(results: Results, seeds: int) -> str:
    """What the interval of paired runs counts."""
    queries_are_independent = results.articles is None or len(set(results.articles)) == len(results.query_ids)
    return ("queries" if queries_are_independent else "articles") + (" and seeds" if seeds > 1 else "")


def _target_share(claim: Claim) -> float:
    """How much of the worse side the better one is to reach."""
    return 1.0 if claim.share is None else claim.share


def _side_choices(claim: Claim) -> Iterable[tuple[_SideChoice, ...]]:
    """Yield the sides with one of their names (a model, a first stage, …) and one regime each, in every combination."""
    for regime in claim.regime or ("",):
        yield from product(
            *(
                [
                    _SideChoice(side, name, side_regime)
                    for name in side.names
                    for side_regime in side.regime or (regime,)
                ]
                for side in claim.sides
            )
        )


def _first_known(values_by_name: Mapping[Any, Any], names: Iterable[Any]) -> Any:
    return next((values_by_name[name] for name in names if name in values_by_name), None)


def _common_seeds(results: Sequence[Results]) -> list[int] | None:
    """The seeds of training that several runs share, none where nothing was trained; None where queries differ, or
    trained runs share no seed."""
    if len({run_results.query_ids for run_results in results}) != 1:
        return None
    seed_sets = [set(run_results.seeds) for run_results in results if run_results.seeds != UNTRAINED]
    common = sorted(set.intersection(*seed_sets)) if seed_sets else []
    return None if seed_sets and not common else common


def _values_of(results: Results, seeds: Sequence[int]) -> np.ndarray:
    if results.seeds == UNTRAINED:
        return results.values
    return results.values[[results.seeds.index(seed) for seed in seeds]]


def _run_text(run: RunName) -> str:
    if run.regime == FIRST_STAGE:
        return run.candidates
    return f"{run.model}, {run.regime}" + (f", {run.candidates}" if "@" in run.candidates else "")
