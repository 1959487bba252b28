"""How many seeds each training of a configuration gets, so that most claims are decided within given processor hours.

    python benchmarks/plan_seeds.py --pilot results --earlier benchmarks/showcase_claims.csv \\
        --configfile configs/showcase.yaml --hours 6

The pilot is the `results` folder of a finished run with two seeds or more. Each pair of its runs gives the difference's
variance by query (of articles), by seed, and by both; sidecars give seconds. `--earlier` is a table of claims, such as
`results/claims.csv` of an earlier run: of a claim with two seeds or more, its interval and power give the variances by
query and by seed. A claim in neither has the median variances of its regimes, and a true difference drawn from a normal
distribution as wide as their differences. `showcase_claims.csv` is the run of 2026-11-23, copied from docs/results.md.

The plan begins with two seeds and raises both sides of one claim at a time, the claim with the largest gain in the
expected number of decided claims per second first. Fine-tunings on all queries get at most 3 seeds, others at most 8.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
from scipy.special import nctdtr, ndtr, stdtrit

from irpretrain.config import Config, load_config
from irpretrain.config.usage import active_experiments, first_stages_of, with_starts
from irpretrain.evaluation.claims import read_claims
from irpretrain.evaluation.evaluate import FIRST_STAGE, at_depth
from irpretrain.evaluation.verdicts import EffectEstimate, mean_square
from irpretrain.foundation.atomic import read_csv
from irpretrain.foundation.resources import project_directory
from irpretrain.report.claim_tests import Finder
from irpretrain.report.scores import Results, RunName, Scores

FEWEST, MOST, MOST_FULL = 2, 8, 3
# A training: model, regime and candidates, without the depth that they are cut to.
Training = tuple[str, str, str]


@dataclass(frozen=True)
class Components:
    """Variances of a difference by query, by seed, and by both, and its mean; queries of one article depend on each
    other."""

    query: float
    seed: float
    both: float
    difference: float

    def estimate(self, queries: int, seeds: int, articles: int) -> tuple[float, float]:
        """Return the standard error of the mean and half the width of its 95 % interval, as `verdicts.paired` does."""
        by_query, by_seed, rest = self.query / queries, self.seed / seeds, self.both / (queries * seeds)
        parts = [(by_query + rest, articles - 1)]
        if seeds > 1:
            parts.append((by_seed + rest, seeds - 1))
        estimate = EffectEstimate.of(0.0, *parts)
        return estimate.error, estimate.high


@dataclass(frozen=True)
class Comparison:
    """A claim that compares trained runs: its trainings, smallest effect, variances, and whether these are its own."""

    name: str
    trainings: frozenset[Training]
    effect: float
    components: Components
    known: bool

    def decided(self, seeds: int, queries: int, articles: int) -> float:
        """Return the probability that the interval lies above 0, below 0, or below the smallest effect."""
        error, half = self.components.estimate(queries, seeds, articles)
        if self.effect - half >= half:
            return 1.0
        centre, spread = (
            (self.components.difference, error)
            if self.known
            else (0.0, math.hypot(self.components.difference, error))
        )
        return 1 - float(ndtr((half - centre) / spread) - ndtr((self.effect - half - centre) / spread))


def components(first: Results, second: Results) -> Components | None:
    """Return the variances of a difference of two runs; None with fewer than two common seeds."""
    seeds = [seed for seed in first.seeds if seed in second.seeds or second.seeds == (0,)]
    if len(seeds) < FEWEST or first.queries != second.queries or first.articles is None:
        return None
    values = first.values[[first.seeds.index(seed) for seed in seeds]]
    other = (
        second.values if second.seeds == (0,) else second.values[[second.seeds.index(seed) for seed in seeds]]
    )
    differences = values - other
    queries, number = len(first.queries), len(seeds)
    clusters = np.unique(first.articles, return_inverse=True)[1]
    centred = differences - differences.mean(axis=1, keepdims=True)
    squares = [mean_square(row, clusters) for row in centred - centred.mean(axis=0)]
    both = sum(squares) / (number - 1)
    query = max(mean_square(centred.mean(axis=0), clusters) - both / number, 0.0)
    seed = max(float(np.var(differences.mean(axis=1), ddof=1)) - both / queries, 0.0)
    return Components(query, seed, both, float(differences.mean()))


def components_of_claim(row: Mapping[str, str]) -> Components:
    """Return the variances behind an interval [queries, seeds] and its power, which tell the degrees of freedom.

    Until 2026-11-26 these were Satterthwaite's: such a table is read.
    """
    queries, seeds, effect = int(row["queries"]), int(row["seeds"]), float(row["effect"])
    half = (float(row["high"]) - float(row["low"])) / 2
    by_seed = np.linspace(0, 1, 201)  # share of the variance
    freedom = 1 / ((1 - by_seed) ** 2 / (queries - 1) + by_seed**2 / (seeds - 1))
    bound = stdtrit(freedom, 0.975)
    error = half / bound
    power = 1 - nctdtr(freedom, effect / error, bound)
    best = int(np.argmin(np.abs(power - float(row["power"]))))
    query, seed = (1 - by_seed[best]) * error[best] ** 2 * queries, by_seed[best] * error[best] ** 2 * seeds
    return Components(float(query), float(seed), 0.0, float(row["difference"]))


def planned_scores(config: Config) -> Scores:
    """Return scores as if every run of the experiments had been made, of two queries: what claims are tested on."""
    results = {}
    for experiment in active_experiments(config).values():
        for depth in experiment.depths or (None,):
            runs = [(experiment.candidates, m, r) for m in experiment.models for r in experiment.regimes]
            runs += [(stage, stage, FIRST_STAGE) for stage in (*first_stages_of(experiment), "bm25", "ql")]
            for candidates, model, regime in runs:
                named = at_depth(candidates, depth) if depth else candidates
                seeds = (0,) if regime == FIRST_STAGE else (1,)
                for measure in config.datasets[experiment.dataset].measures:
                    run = RunName(experiment.dataset, named, model, regime)
                    results[run, measure] = Results(seeds, ("q1", "q2"), np.zeros((1, 2)))
                    for step in (
                        config.training_of(model).snapshots
                        if regime == "zero-shot" and config.models[model].tasks
                        else ()
                    ):
                        snapshot = RunName(experiment.dataset, named, f"{model}@{step}", regime)
                        results[snapshot, measure] = results[run, measure]
    return Scores(results)


def median(alike: Iterable[Components]) -> Components:
    """Return the median of each variance, and the root mean square of the differences."""
    alike = list(alike)
    query, seed, both = (
        float(np.median([getattr(c, part) for c in alike])) for part in ("query", "seed", "both")
    )
    return Components(query, seed, both, math.sqrt(np.mean([c.difference**2 for c in alike])))


def kind(run: RunName) -> str:
    """Return the regime, all few-shot regimes as one."""
    return "few-shot" if run.regime.startswith("few-shot") else run.regime


class Pilot:
    """What a finished run says of variances and seconds."""

    def __init__(self, results: Path) -> None:
        self.scores = Scores.read(sorted((results / "per_query").glob("*.parquet")))
        self.pairs: dict[tuple[RunName, RunName], Components] = {}
        for pair in combinations([n for n in self.scores.names() if "@" not in n.candidates], 2):
            for first, second in (pair, pair[::-1]):
                both = [self.scores.any_measure(run) for run in (first, second)]
                if first.dataset == second.dataset and (found := components(*both)):  # type: ignore[arg-type]
                    self.pairs[first, second] = found
        self.pretraining: dict[str, list[tuple[int, float]]] = {}
        self.groups: dict[str, int] = {}
        for path in sorted(results.glob("models/pretrained/*/seed-*.meta.json")):
            record = json.loads(path.read_text())
            if steps := record["counts"]["steps"]:
                name = path.parent.name
                self.pretraining.setdefault(name, []).append((steps, record["cost"]["cpu_seconds"]))
                self.groups[name] = max(record["counts"]["groups_available"].values())
        self.reranking = _mean(
            seconds / counts["queries"] for counts, seconds in _costs(results, "*/*/*/zero-shot/*.meta.json")
        )
        tuned = list(_costs(results, "*/*/*/*/seed-*/*.meta.json"))
        design = [[counts["training_groups"], counts["test_queries"]] for counts, _ in tuned]
        self.group, self.answer = np.linalg.lstsq(np.array(design), [s for _, s in tuned], rcond=None)[0]

    def of(self, first: RunName, second: RunName) -> tuple[Components, bool]:
        """Return the components of a comparison, and whether the pilot has it."""
        for (one, other), pair in self.pairs.items():
            if [(r.model, r.regime) for r in (one, other)] == [(r.model, r.regime) for r in (first, second)]:
                return pair, True
        regimes = {kind(first), kind(second)}
        return median(pair for runs, pair in self.pairs.items() if set(map(kind, runs)) == regimes), False

    def pretraining_seconds(self, config: Config, model: str) -> float:
        """Return seconds of a model and of those that it starts from, in proportion to steps; a model that the pilot
        lacks takes as long per step as those whose names begin alike, else as HP."""
        total = 0.0
        for name in with_starts(config, [model]):
            if not config.models[name].tasks:
                continue
            family = [other for other in self.pretraining if other.split("-")[0] == name.split("-")[0]]
            alike = [name] if name in self.pretraining else family or ["php-hp-only"]
            per_step = _mean(seconds / steps for other in alike for steps, seconds in self.pretraining[other])
            length = config.training_of(name)
            groups = self.groups.get(name, 0) * (length.epochs or 0)
            total += per_step * (length.steps or math.ceil(groups / length.batch_groups))
        return total

    def seconds(self, config: Config, training: Training, queries: int) -> float:
        """Return seconds of one seed of a training, without its pre-training."""
        model, regime, _ = training
        if regime == "zero-shot":
            return self.reranking * queries
        dataset = config.datasets["squad"].train_on or "squad"
        groups = config.datasets[dataset].sample_queries if regime == "full" else int(regime.split("-")[-1])
        return 0.0 if config.models[model].neural else self.group * (groups or 0) + self.answer * queries


def _costs(results: Path, pattern: str) -> Iterator[tuple[Mapping[str, int], float]]:
    for path in sorted(results.glob(f"runs/{pattern}")):
        record = json.loads(path.read_text())
        yield record["counts"], record["cost"]["cpu_seconds"]


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def comparisons(config: Config, pilot: Pilot, earlier: Mapping[str, Components]) -> list[Comparison]:
    """Return the claims of a configuration whose sides are runs, one trained with seeds among them."""
    tested: dict[str, tuple[float, list[RunName]]] = {}
    for paper in config.report.papers:
        narrowed = config.of_papers([paper])
        finder, claims = Finder(planned_scores(narrowed), narrowed), read_claims(paper)
        for name, claim in claims.claims.items():
            made = finder.test(claim) if claim.sides and claim.sides[0].kind == "run" else None
            if made and any(run.regime != FIRST_STAGE for run in made.runs):
                effect = (claim.effect or claims.effect) if claim.share is None else 0.0
                tested[f"{paper} {name}"] = effect, list(made.runs)
    # Papers share comparisons.
    of_runs = {str(tested[key][1]): found for key, found in earlier.items() if key in tested}
    planned = []
    for key, (effect, runs) in tested.items():
        found = earlier.get(key) or of_runs.get(str(runs))
        known = found is not None or (not earlier and pilot.of(*runs[:2])[1])
        alike = [
            earlier[other]
            for other, (_, others) in tested.items()
            if other in earlier and set(map(kind, others)) == set(map(kind, runs))
        ]
        if found is None:
            found = median(alike) if alike else pilot.of(*runs[:2])[0]
        trainings = frozenset(
            (r.model.partition("@")[0], r.regime, r.candidates.partition("@")[0])
            for r in runs
            if r.regime != FIRST_STAGE
        )
        planned.append(Comparison(key, trainings, effect, found, known))
    return planned


def main() -> None:
    """Print the variances, then the plan."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pilot", type=Path, required=True)
    parser.add_argument("--earlier", type=Path, help="Claims of an earlier run.")
    parser.add_argument("--configfile", nargs="+", type=Path, required=True)
    parser.add_argument("--hours", type=float, required=True, help="Processor hours of trainings.")
    options = parser.parse_args()
    config = load_config(project_directory() / "config.yaml", *options.configfile)
    pilot = Pilot(options.pilot)
    rows = read_csv(options.earlier) if options.earlier else []
    earlier = {
        f"{row['paper']} {row['claim']}": components_of_claim(row)
        for row in rows
        if FEWEST <= int(row["seeds"]) < int(row["queries"])  # of predictors both are the same
    }
    claims = comparisons(config, pilot, earlier)
    dataset = config.datasets["squad"]
    queries, articles = dataset.sample_queries or 0, 48
    seeds = dict.fromkeys(sorted({t for claim in claims for t in claim.trainings}), FEWEST)

    def cost(plan: Mapping[Training, int]) -> float:
        of_models: dict[str, int] = {}
        for (model, *_), number in plan.items():
            of_models[model] = max(of_models.get(model, 0), number)
        trained = sum(number * pilot.seconds(config, t, queries) for t, number in plan.items())
        return trained + sum(n * pilot.pretraining_seconds(config, m) for m, n in of_models.items())

    def decided(plan: Mapping[Training, int]) -> float:
        return sum(c.decided(min(plan[t] for t in c.trainings), queries, articles) for c in claims)

    print(f"{len(claims)} claims compare trained runs; {queries} questions of {articles} articles")
    configured = dict.fromkeys(seeds, 0)
    for experiment in active_experiments(config).values():
        for training in product(experiment.models, experiment.regimes, [experiment.candidates]):
            if training in configured:
                configured[training] = max(configured[training], len(experiment.seeds))
    print(f"as configured: {cost(configured) / 3600:.1f} h, {decided(configured):.1f} claims decided")
    print(f"two seeds each: {cost(seeds) / 3600:.1f} h, {decided(seeds):.1f} claims decided")
    while True:
        moves = []
        for claim in claims:
            least = min(seeds[t] for t in claim.trainings)
            for target in range(least + 1, MOST + 1):
                raised = {t: max(seeds[t], target) for t in claim.trainings}
                if all(n <= (MOST_FULL if t[1] == "full" else MOST) for t, n in raised.items()):
                    plan = {**seeds, **raised}
                    gain, price = decided(plan) - decided(seeds), cost(plan) - cost(seeds)
                    if cost(plan) <= 3600 * options.hours and gain > 0.01:
                        moves.append((gain / max(price, 1), plan))
        if not moves:
            break
        seeds = max(moves, key=lambda move: move[0])[1]
    print(f"planned: {cost(seeds) / 3600:.1f} h, {decided(seeds):.1f} claims decided\n")
    print("| training | planned | configured | minutes per seed |\n|---|---:|---:|---:|")
    for training, number in seeds.items():
        minutes = pilot.seconds(config, training, queries) / 60
        print(f"| {', '.join(training)} | {number} | {configured[training]} | {minutes:.1f} |")
    print(
        "\n| claim | seeds | half width | smallest effect | power | decided |\n|---|---:|---:|---:|---:|---:|"
    )
    for claim in claims:
        number = min(seeds[t] for t in claim.trainings)
        error, half = claim.components.estimate(queries, number, articles)
        estimated = "" if claim.known else "\\*"
        ability = f"{float(ndtr((claim.effect - half) / error)):.2f}" if claim.effect else ""
        print(
            f"| {claim.name}{estimated} | {number} | {half:.3f} | {claim.effect or ''} | {ability} | "
            f"{claim.decided(number, queries, articles):.2f} |"
        )
    print("\n\\*: not tested before, so with the median variances of its regimes.")


if __name__ == "__main__":
    main()
