"""Claims of the papers: their files, the rule of verdicts by hand on five queries, and what a run says of them."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import yaml
from small_run import PROP_YAML, ROOT

from irpretrain.config import load_config
from irpretrain.config.axioms import PredictorConfig
from irpretrain.config.papers import known_papers, read_paper
from irpretrain.config.printed import load_paper_yaml
from irpretrain.evaluation.claims import Claims, OtherReading, read_claims
from irpretrain.evaluation.verdicts import (
    CONTRADICTED,
    NOT_RUN,
    NOT_TESTABLE,
    RULED_OUT,
    SUPPORTED,
    UNDECIDED,
    EffectEstimate,
    decide,
    paired,
    power,
    unpaired,
)
from irpretrain.foundation.errors import InputError
from irpretrain.report import recompute
from irpretrain.report.axiom_results import Agreement, AxiomResults, Diagnosis, PredictorScores, SeedScores
from irpretrain.report.claim_answers import Answer, answer, claims_tables, read_answers, write_answers
from irpretrain.report.claim_tests import ClaimTester
from irpretrain.report.figures import WeightingShares
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.scores import Results, RunName, Scores
from irpretrain.report.tables import make_tables
from irpretrain.workflow.screen.closing import headline

QUERIES = ("q1", "q2", "q3", "q4", "q5")


def claims_of(**claims: dict) -> Claims:
    described = {
        name: {"says": "S.", "place": "1", "overlay": "config.yaml", **claim}
        for name, claim in claims.items()
    }
    for claim in described.values():
        if "needs" in claim:
            del claim["overlay"]
    return Claims(paper="prop", effect=0.02, claims=described)


def sides(kind: str, better: str, worse: str, *axioms: str) -> dict:
    """The sides of a claim: a kind of results with two names, each on its axiom where axioms are given."""
    claim = {"better": {kind: better}, "worse": {kind: worse}}
    for side, axiom in zip(claim.values(), axioms, strict=False):
        side["axiom"] = axiom
    return claim


def scores_of(**runs: list[float] | list[list[float]]) -> Scores:
    """Five queries of `squad`: name → values of one seed, or of several. A model's name ends in its regime, after an
    underscore; any other name is a first stage's."""
    results = {}
    for key, values in runs.items():
        model, _, regime = key.replace("__", "-").rpartition("_")
        run = RunName("squad", "bm25", model, regime) if model else RunName("squad", key, key, "first-stage")
        matrix = np.atleast_2d(values)
        seeds = tuple(range(1, len(matrix) + 1)) if model else (0,)
        results[run, "RR@10"] = Results(seeds, QUERIES, matrix)
    return Scores(results)


def twice(**runs: list[float]) -> Scores:
    """As `scores_of`, with the same values for each of two seeds: seeds do not differ."""
    return scores_of(**{key: [values, values] if "_" in key else values for key, values in runs.items()})


def predictor(
    name: str, seeds: dict[int, tuple[float, dict[str, float]]], pairs: int = 900
) -> PredictorScores:
    """The scores of a predictor: seed → AUC, ± 0.01, and gains by axiom."""
    each = [
        SeedScores(seed=seed, auc=auc, auc_low=auc - 0.01, auc_high=auc + 0.01, importance=gains)
        for seed, (auc, gains) in seeds.items()
    ]
    first = each[0].model_dump(exclude={"seed"})
    described = {"name": name, "path": name, "setting": "I", "label": name, "axioms": ["RANK"]}
    return PredictorScores(**described, **first, pairs=pairs, test_pairs=90, seeds=each)


def agreement(model: str, share: float, other: str = "", seeds: int = 3) -> Agreement:
    return Agreement(
        model=model, label=model, other=other, axiom="PROX-1", pairs=100, seeds=seeds, share=share,
        low=share - 0.1, high=share + 0.1, variance=0.0001, freedom=49, seed_variance=0.0001,
    )  # fmt: skip


BETTER = {**sides("model", "prop", "control"), "regime": "full"}
NONE = [0.5] * 5


def answered(config, scores: Scores, claim: dict | None = None):
    (row,) = answer(claims_of(one=BETTER if claim is None else claim), ClaimTester(scores, config))
    return row


def test_the_rule_by_hand_on_five_queries(config) -> None:
    # Differences 0.1, 0.2, 0.3, 0.2, 0.2: mean 0.2, s = sqrt(0.02 / 4) = 0.0707, s / sqrt(5) = 0.0316, t(4) = 2.776.
    row = answered(config, twice(prop_full=[0.6, 0.7, 0.8, 0.7, 0.7], control_full=NONE))
    assert (row.difference, row.low, row.high) == pytest.approx((0.2, 0.1122, 0.2878), abs=1e-4)
    assert (row.verdict, row.queries, row.seeds) == (SUPPORTED, 5, 2)
    assert row.p == row.p_holm == pytest.approx(2 * scipy.stats.t.sf(0.2 / 0.0316228, 4), rel=1e-4)
    for values, verdict, reason in (
        # The mean is 0 and the interval [-0.248, 0.248] holds 0.02.
        ([0.3, 0.7, 0.5, 0.3, 0.7], UNDECIDED, "the interval holds 0 and 0.02"),
        # The mean is 0 and s = 0.01: the interval ends at 0.0124, below 0.02.
        ([0.49, 0.51, 0.5, 0.49, 0.51], RULED_OUT, "an effect of 0.02 is excluded"),
        ([0.3, 0.2, 0.1, 0.2, 0.2], CONTRADICTED, "the interval lies below 0"),
        # The same in every query: nothing shows what other queries and seeds could give.
        (NONE, UNDECIDED, "both sides have equal values throughout"),
        ([0.6] * 5, SUPPORTED, "the interval lies above 0"),
    ):
        row = answered(config, twice(prop_full=values, control_full=NONE))
        assert (row.verdict, row.reason) == (verdict, reason)
        assert math.isnan(row.power) == (len(set(values)) == 1)


def test_one_seed_of_training_decides_nothing(config) -> None:
    row = answered(config, scores_of(prop_full=[0.9, 0.8, 0.9, 0.8, 0.9], control_full=NONE))
    assert (row.low > 0, row.verdict, row.seeds) == (True, UNDECIDED, 1)
    assert row.reason == "one seed of training; another may say otherwise"
    # A first stage has no seed that could be another.
    scores = scores_of(ql=[0.9, 0.8, 0.9, 0.8, 0.9], bm25=NONE)
    row = answered(config, scores, sides("first_stage", "ql", "bm25"))
    assert (row.verdict, row.seeds) == (SUPPORTED, 0)


def test_the_interval_is_for_other_seeds_too() -> None:
    # Two seeds with the leads 0.1 and 0.3 in each of four queries: only seeds vary, with one degree of freedom.
    estimate = paired([[0.6] * 4, [0.8] * 4], [[0.5] * 4] * 2)
    assert estimate.difference == pytest.approx(0.2)
    assert estimate.error == pytest.approx(0.1)
    assert estimate.high - 0.2 == pytest.approx(12.706 * 0.1, rel=1e-4)
    # Seeds that do not differ: the t-test over queries.
    values = [0.1, 0.3, 0.2, 0.6]
    estimate = paired([values, values], np.zeros((2, 4)))
    expected = scipy.stats.ttest_1samp(values, 0)
    assert (estimate.p, estimate.low) == pytest.approx((expected.pvalue, expected.confidence_interval().low))
    # Both: variances of the mean 0.01 and 0.04, so √(3.182² · 0.01 + 12.706² · 0.04).
    both = EffectEstimate.of(1.0, (0.01, 3), (0.04, 1))
    assert both.high - 1 == pytest.approx(math.hypot(3.18245 * 0.1, 12.7062 * 0.2), rel=1e-5)
    assert EffectEstimate.of(both.high - 1, *both.variances).p == pytest.approx(0.05)


def test_queries_of_one_article_count_as_one() -> None:
    # The same difference in all queries of an article: as many values as articles, not as queries.
    of_articles = np.random.default_rng(5).normal(size=(3, 6))
    articles = [f"a{number}" for number in range(6) for _ in range(4)]
    repeated = paired(np.repeat(of_articles, 4, axis=1), 0.0, articles)
    alone = paired(of_articles, 0.0)
    for other in (repeated, paired(of_articles, 0.0, list("abcdef"))):
        assert other[:4] == pytest.approx(alone[:4])
        assert np.allclose(other.variances, alone.variances)
    # By hand: sums of the articles' residuals -0.4 and 0.4, so 2 / 1 * 0.32 / 4 / 4 = 0.04.
    assert paired([0.1, 0.1, 0.5, 0.5], 0.0, ["a", "a", "b", "b"]).variances == ((pytest.approx(0.04), 1),)
    assert math.isnan(paired([0.1, 0.5], 0.0, ["a", "a"]).low)


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("of_seeds", [0.5, 0.97])
def test_intervals_hold_the_truth_as_often_as_the_page_on_evaluation_states(seeds, of_seeds) -> None:
    """A share of the mean's variance is of normal seeds, the rest of 20 articles with 3 queries each."""
    generator, articles = np.random.default_rng(3), [f"a{number}" for number in range(20) for _ in range(3)]
    others = 0.1**2 / 20 + 0.1**2 / 60 + 0.1**2 / (60 * seeds)
    spread = math.sqrt(of_seeds / (1 - of_seeds) * seeds * others)
    estimates = []
    for _ in range(2000):
        values = spread * generator.normal(size=(seeds, 1)) + 0.1 * np.repeat(generator.normal(size=20), 3)
        values = values + 0.1 * generator.normal(size=60) + 0.1 * generator.normal(size=(seeds, 60))
        estimates.append(paired(values, 0.0, articles))
    # Two standard errors of 2,000 draws below 95 %.
    assert np.mean([estimate.low < 0 < estimate.high for estimate in estimates]) > 0.94
    # Holm's correction of 25 claims asks for 0.002 first.
    assert np.mean([estimate.p < 0.002 for estimate in estimates]) < 0.004


def test_only_common_seeds_count_and_first_stages_have_all(config) -> None:
    seeds = [[0.7] * 5, [0.7, 0.8, 0.7, 0.8, 0.8], [0.75] * 5]
    row = answered(config, scores_of(prop_full=seeds, control_full=[NONE, NONE]))
    assert (row.seeds, row.difference) == (2, pytest.approx(0.23))
    claim = {"better": {"model": "prop", "regime": "full"}, "worse": {"first_stage": "bm25"}}
    row = answered(config, scores_of(prop_full=seeds, bm25=NONE), claim)
    assert (row.seeds, row.verdict, row.better, row.worse) == (3, SUPPORTED, "prop, full", "bm25")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.49, 0.5, 0.48, 0.5, 0.5], SUPPORTED),
        ([0.4, 0.5, 0.4, 0.5, 0.45], UNDECIDED),
        ([0.4, 0.42, 0.4, 0.42, 0.4], CONTRADICTED),
    ],
)
def test_a_share_that_must_be_reached(config, values: list[float], verdict: str) -> None:
    """Of 0.9, of which a twentieth is the smallest effect of interest."""
    row = answered(config, twice(prop_full=values, control_full=NONE), {**BETTER, "share": 0.9})
    assert row.difference == pytest.approx(np.mean(values) - 0.9 * 0.5)
    assert (row.verdict, row.effect, row.worse) == (verdict, pytest.approx(0.05), "90 % of control, full")
    assert (row.reason == "the interval holds the share") == (verdict == UNDECIDED)


def test_a_lead_that_narrows(config) -> None:
    few, full = (
        {"better": {"model": "php", "regime": regime}, "worse": {"model": "control", "regime": regime}}
        for regime in ("few-shot-128", "full")
    )
    runs = {"php_few__shot__128": [0.6, 0.6, 0.7, 0.6, 0.6], "control_few__shot__128": [0.3] * 5}
    runs |= {"php_full": [0.8, 0.8, 0.8, 0.8, 0.9], "control_full": [0.7] * 5}
    row = answered(config, twice(**runs), {**few, "more_than": full})
    # Leads of 0.3, 0.3, 0.4, 0.3, 0.3 and of 0.1, 0.1, 0.1, 0.1, 0.2.
    assert (row.verdict, row.difference) == (SUPPORTED, pytest.approx(0.2))
    assert row.better == "php, few-shot-128 over control, few-shot-128"
    # Behind by 0.1 and then by 0.6: nothing has become smaller.
    runs |= {"php_few__shot__128": [0.2] * 4 + [0.21], "php_full": [0.1] * 4 + [0.21]}
    row = answered(config, twice(**runs), {**few, "more_than": full})
    assert row.low > 0
    assert (row.verdict, row.reason) == (UNDECIDED, "there is no lead that could become smaller")


def test_power_is_that_of_the_t_test() -> None:
    generator = np.random.default_rng(1)
    estimate = paired(generator.normal(0, 0.3, 150), np.zeros(150))
    deviation = estimate.error * math.sqrt(150)
    expected = 1 - scipy.stats.nct.cdf(
        scipy.stats.t.ppf(0.975, 149), 149, 0.05 / (deviation / math.sqrt(150))
    )
    assert power(estimate, 0.05) == pytest.approx(expected, abs=1e-3)
    assert power(estimate, 0.0) == pytest.approx(0.025, abs=1e-3)
    # Of three seeds the width varies much: the noncentral t again.
    few = EffectEstimate.of(0.0, (0.01, 2))
    assert power(few, 0.3) == pytest.approx(scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 2), 2, 3), abs=5e-3)
    one_value = paired([0.3], [0.2])
    assert math.isnan(one_value.p)
    assert math.isnan(power(one_value, 0.02))
    assert decide(one_value, 0.02, 2) == (UNDECIDED, "one value has no interval")
    assert math.isnan(power(paired([0.5, 0.5], [0.25, 0.25]), 0.02))


def test_values_with_intervals_of_their_own() -> None:
    # Standard errors 0.03 and 0.04: 0.05 together.
    z = scipy.stats.norm.ppf(0.975)
    estimate = unpaired((0.9, 0.9 - 0.03 * z, 0.9 + 0.03 * z), (0.7, 0.7 - 0.04 * z, 0.7 + 0.04 * z))
    assert estimate[:4] == pytest.approx((0.2, 0.2 - 0.05 * z, 0.2 + 0.05 * z, 2 * scipy.stats.norm.sf(4)))
    assert estimate.error == pytest.approx(0.05)
    assert decide(estimate, 0.02, 0).verdict == SUPPORTED
    assert power(estimate, 0.05 * z) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.0, 0.01, RULED_OUT), (-0.01, 0.0, RULED_OUT), (0.0, 0.02, UNDECIDED), (-0.01, 0.02, UNDECIDED)],
)
def test_an_interval_holds_its_ends(low: float, high: float, verdict: str) -> None:
    estimate = EffectEstimate((low + high) / 2, low, high, 0.05, ((0.01, 2),))
    assert decide(estimate, 0.02, 3).verdict == verdict
    supported = estimate._replace(low=0.01, high=0.02)
    assert decide(supported, 0.02, 3, lead=supported).verdict == SUPPORTED
    assert decide(supported, 0.02, 3, lead=supported._replace(low=0.0)).verdict == UNDECIDED


def test_p_is_corrected_over_the_claims_that_were_tested(config) -> None:
    scores = scores_of(
        prop_full=[0.6, 0.7, 0.8, 0.7, 0.7], control_full=NONE, ict_full=[0.3, 0.7, 0.5, 0.3, 0.7]
    )
    claims = claims_of(
        one=BETTER,
        two={**BETTER, "worse": {"model": "ict"}},
        three={**BETTER, "worse": {"model": "wlp"}, "overlay": "configs/php-ablations.yaml"},
        four={"needs": "a licence"},
    )
    first, second, not_run, not_testable = answer(claims, ClaimTester(scores, config))
    assert first.p < second.p
    holm_p_values = (2 * first.p, max(2 * first.p, second.p))
    assert (first.p_holm, second.p_holm) == pytest.approx(holm_p_values)
    assert (not_run.verdict, not_run.reason) == (NOT_RUN, "configs/php-ablations.yaml runs both sides")
    assert (not_testable.verdict, not_testable.reason) == (NOT_TESTABLE, "needs a licence")
    assert math.isnan(not_run.p_holm)


def test_the_place_with_most_seeds_then_most_queries_is_taken(config_of) -> None:
    config, results = config_of("prop"), {}
    for dataset, seeds, queries in (("squad", 1, 5), ("large", 2, 4), ("small", 2, 3)):
        for model, level in (("prop", 0.6), ("control", 0.5)):
            run, values = RunName(dataset, "bm25", model, "full"), np.full((seeds, queries), level)
            results[run, "RR@10"] = Results(tuple(range(1, seeds + 1)), QUERIES[:queries], values)
    claim = {**BETTER, "measure": "RR@10"}
    row = answered(config, Scores(results), claim)
    assert (row.dataset, row.seeds, row.queries) == ("large", 2, 4)
    squad = {key: values for key, values in results.items() if key[0].dataset == "squad"}
    equal = {(replace(run, dataset="another"), measure): values for (run, measure), values in squad.items()}
    assert answered(config, Scores(squad | equal), claim).dataset == "squad", "the configuration has it"
    # Of names and regimes the first that is run, however few its seeds.
    claim |= {"better": {"model": ["prop-long", "prop"]}, "regime": ["few-shot-9", "full"]}
    assert answered(config, Scores(results), claim).better == "prop, full"


def test_predictors_importances_agreements_and_weights(config) -> None:
    def of_gains(name: str, auc: float, gains: list[float]) -> PredictorScores:
        values = {n: (auc + n / 100, {"RANK": 1.0, "REP-QL": gain}) for n, gain in enumerate(gains)}
        return predictor(name, values)

    gains = {"simple": (0.9, [0.2, 0.3, 0.1]), "hard": (0.8, [0.5, 0.4, 0.4]), "rep": (0.7, [0.5])}
    agreements = (
        agreement("prop", 0.6),
        agreement("ares-simple", 0.7),
        agreement("prop", -0.1, "ares-simple"),
        agreement("control", 0.4),
        agreement("prop", 0.2, "control", seeds=2),
    )
    axioms = AxiomResults(
        tuple(of_gains(name, *values) for name, values in gains.items()), diagnoses=(Diagnosis(agreements),)
    )
    shares = [
        WeightingShares(weighting=name, passages=410, passages_without_terms=10, shares=[share, 0.1])
        for name, share in (("deepct", 0.4), ("tf", 0.1))
    ]

    claims = claims_of(
        auc=sides("predictor", "simple", "hard"),
        nearly={**sides("predictor", "hard", "simple"), "share": 0.95},
        gain=sides("predictor", "simple", "simple", "RANK", "REP-QL"),
        largest=sides("predictor", "hard", "simple", "RANK", "RANK"),
        once=sides("predictor", "rep", "rep", "RANK", "REP-QL"),
        follows=sides("model", "ares-simple", "prop", "PROX-1", "PROX-1"),
        twice=sides("model", "prop", "control", "PROX-1", "PROX-1"),
        skewed=sides("weighting", "deepct", "tf"),
        absent=sides("weighting", "deepct", "textrank"),
    )
    rows = {row.claim: row for row in answer(claims, ClaimTester(Scores({}), config, axioms, [shares]))}
    assert (rows["auc"].verdict, rows["auc"].seeds, rows["auc"].measure) == (SUPPORTED, 3, "AUC")
    # Seeds do not differ; test documents do, with a standard error of 0.01 / 1.96 on each side.
    assert rows["auc"].low == pytest.approx(0.1 - math.hypot(0.01, 0.01))
    assert rows["auc"].counted == "documents and seeds of the predictor"
    # 0.80, 0.81 and 0.82 against 95 % of 0.90, 0.91 and 0.92.
    assert rows["nearly"].difference == pytest.approx(0.81 - 0.95 * 0.91)
    assert rows["nearly"].worse == "95 % of simple"
    # Over three seeds: 0.8, 0.7, 0.9.
    assert (rows["gain"].difference, rows["gain"].seeds) == (pytest.approx(0.8), 3)
    assert (rows["gain"].verdict, rows["once"].verdict) == (SUPPORTED, UNDECIDED)
    # Seeds of the predictor are no evidence about other collections.
    assert (math.isnan(rows["gain"].p), math.isnan(rows["gain"].p_holm)) == (True, True)
    assert rows["gain"].qualification == "over seeds of the predictor alone"
    # RANK has the largest gain of both, by which gains are divided: 1 whatever the seed.
    assert (rows["largest"].difference, rows["largest"].verdict) == (0, UNDECIDED)
    follows = rows["follows"]  # variances of documents and of seeds, each with its own t
    assert (follows.verdict, follows.seeds, follows.difference) == (SUPPORTED, 3, 0.1)
    assert follows.low == pytest.approx(0.1 - 0.01 * math.hypot(2.0096, 4.3027), abs=1e-5)
    assert rows["twice"].low == pytest.approx(0.2 - 0.01 * math.hypot(2.0096, 12.7062), abs=1e-5)
    assert (rows["skewed"].verdict, rows["skewed"].queries) == (SUPPORTED, 400)
    assert rows["absent"].verdict == NOT_RUN


def test_a_claim_on_predictors_gives_the_result_of_the_other_reading(config) -> None:
    def of_rank(name: str, gain: float) -> PredictorScores:
        return predictor(name, dict.fromkeys((1, 2), (0.9, {"RANK": gain, "REP-QL": 0.5})))

    claims = claims_of(gain=sides("predictor", "simple", "simple", "RANK", "REP-QL")).model_copy(
        update={"other_reading": OtherReading(reading="negatives of equal length", predictors="-equal")}
    )
    both = AxiomResults((of_rank("simple", 1.0), of_rank("simple-equal", 0.25)))
    (row,) = answer(claims, ClaimTester(Scores({}), config, both))
    other = "with negatives of equal length: contradicted (−0.250 [−0.250, −0.250])"
    assert (row.verdict, row.qualification) == (SUPPORTED, f"{other}; over seeds of the predictor alone")
    (row,) = answer(claims, ClaimTester(Scores({}), config, AxiomResults(both.predictors[:1])))
    assert row.qualification == "over seeds of the predictor alone"


def test_the_best_of_several_models_is_compared(config) -> None:
    scores = twice(prop_full=[0.6, 0.7, 0.8, 0.7, 0.7], ict_full=[0.7, 0.8, 0.9, 0.8, 0.8], bm25=NONE)
    first = {"model": ["prop", "ict", "php"], "regime": "full"}
    row = answered(config, scores, {"better": {**first, "best": True}, "worse": {"first_stage": "bm25"}})
    assert (row.better, row.difference) == ("ict, full", pytest.approx(0.3))
    assert row.qualification == "the best of 2 on these queries"
    row = answered(config, scores, {"better": first, "worse": {"first_stage": "bm25"}})
    assert row.better == "prop, full"


def test_a_sentence_says_that_its_sides_read_unequally(config_of) -> None:
    config = config_of("control", "prop", "wikiformer")
    names = ("control", "prop", "wikiformer")
    scores = twice(**{f"{name}_full": [0.6, 0.7, 0.8, 0.7, 0.7] for name in names}, bm25=NONE)

    def qualification(better: dict, worse: dict) -> str:
        return answered(config, scores, {"better": better, "worse": worse}).qualification

    prop, control, wikiformer = (
        {"model": name, "regime": "full"} for name in ("prop", "control", "wikiformer")
    )
    assert qualification(prop, control) == "", "the control is not pre-trained"
    assert qualification(prop, {"first_stage": "bm25"}) == "unequal reading in test"
    assert qualification(prop, wikiformer) == "unequal reading in pre-training"


def test_a_sentence_says_how_many_queries_its_sides_learned_from(config_of) -> None:
    config, values = config_of("control", "prop"), [0.6, 0.7, 0.8, 0.7, 0.7]
    scores = twice(prop_few__shot__50=values, control_full=NONE, prop_zero__shot=values)
    few, full, none = (
        {"model": model, "regime": regime}
        for model, regime in (("prop", "few-shot-50"), ("control", "full"), ("prop", "zero-shot"))
    )
    trained = (
        "400, and 100 choose (control)"  # of 500 in five folds, as this configuration has two epochs or more
    )
    for better, worse, numbers in (
        (few, full, f"50, and 100 choose (PROP); {trained}"),
        (none, full, trained),
    ):
        row = answered(config, scores, {"better": better, "worse": worse})
        assert row.qualification == f"queries of fine-tuning: {numbers}"


def test_queries_won_are_counted_not_by_how_much(config) -> None:
    scores = twice(prop_full=[0.9, 0.6, 0.6, 0.5, 0.4], control_full=NONE)
    row = answered(config, scores, {**BETTER, "wins": True})
    # Three queries won, one lost, one equal.
    assert (row.measure, row.difference) == ("queries won in RR@10", pytest.approx(0.4))


def test_a_claim_about_some_candidates_is_tested_on_no_others(config) -> None:
    scores = twice(prop_full=[0.6, 0.7, 0.8, 0.7, 0.7], control_full=NONE)
    assert answered(config, scores, {**BETTER, "candidates": "ance"}).verdict == NOT_RUN
    assert answered(config, scores, {**BETTER, "candidates": ["ance", "bm25"]}).verdict == SUPPORTED


@pytest.mark.parametrize("paper", known_papers())
def test_each_paper_s_claims_can_be_read(paper: str) -> None:
    claims = read_claims(paper).claims
    sentences = [claim.says for claim in claims.values()]
    assert len(set(sentences)) == len(sentences)
    for claim in claims.values():
        assert claim.says.endswith(".")
        assert " (" not in claim.says, "the report shows what stands in brackets apart"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"worse": {"modle": "control"}}, "claims.one.worse.modle: Extra inputs are not permitted"),
        ({"worse": {"model": "control", "first_stage": "bm25"}}, "a side names one of model, first_stage"),
        ({"worse": {"weighting": "tf"}}, "all sides are of one kind"),
        ({"worse": {"model": "control", "axiom": "PROX-9"}}, "claims.one.worse.axiom"),
        ({"regime": []}, "regime: none is given for prop"),
        ({"better": {"model": "prop", "best": True}}, "best: name several models"),
        ({"worse": {"model": ["control", "ict"], "best": True}}, "best: only the side that is claimed"),
        ({"needs": "much"}, "or else `needs`"),
        ({"overlay": ""}, "overlay"),
    ],
)
def test_faults_of_a_file_are_told(changes: dict, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "prop.yaml"
    claim = {"says": "S.", "place": "1", "overlay": "config.yaml", **BETTER, **changes}
    path.write_text(yaml.safe_dump({"paper": "prop", "effect": 0.02, "claims": {"one": claim}}))
    with pytest.raises(InputError, match=r"prop\.yaml: these claims cannot be used") as caught:
        load_paper_yaml(path, Claims, "claims")
    assert fault in str(caught.value)


@pytest.fixture
def made(config, results, tmp_path: Path) -> Path:
    make_tables(PROP_YAML, config, ResultFiles(*results), tmp_path / "tables", tmp_path / "claims/prop.csv")
    return tmp_path


def test_the_small_run_answers_prop(made: Path) -> None:
    rows = {row.claim: row for row in read_answers([made / "claims/prop.csv"])}
    assert list(rows) == list(read_claims("prop").claims)
    # 0.9 of 0.5 + 0.2 against 0.2 + 0.2, as RR@10 is the first measure; see small_run.
    row = rows["better-than-encoder"]
    assert (row.verdict, row.measure, row.difference) == (UNDECIDED, "RR@10", pytest.approx(0.27))
    assert (row.seeds, row.low > 0) == (1, True)
    assert rows["encoder-better-than-bm25"].high < 0
    assert rows["better-than-ict"].verdict == NOT_RUN
    assert rows["related-corpus-better"].verdict == NOT_TESTABLE
    text = (made / "tables" / "prop_claims.md").read_text()
    assert "starts from. | PROP, fine-tuned – control, fine-tuned |" in text
    assert "prop, full" not in text
    assert "undecided: one seed of training; another may say otherwise" in text
    assert "not testable here: needs Robust04" in text
    assert "better-than-encoder" in (made / "tables" / "prop_claims.csv").read_text()
    assert "undecided: one seed of training" in (made / "tables" / "prop_claims.tex").read_text()


def test_a_claim_names_the_data_set_and_the_candidates_that_are_not_bm25(config, tmp_path: Path) -> None:
    pairs = [("squad", "ql"), ("squad", "bm25"), ("squad", ""), ("", "")]
    answers = [
        Answer("prop", "c", "", "", dataset=dataset, candidates=name, measure="RR@10", verdict=UNDECIDED)
        for dataset, name in pairs
    ]
    write_answers(answers, tmp_path / "claims.csv")
    [table] = claims_tables(read_paper("prop"), config, [tmp_path / "claims.csv"])
    assert [row.cells[-1].text for row in table.panels[0].rows] == [
        "SQuAD 1.1, candidates of QL, RR@10", "SQuAD 1.1, RR@10", "SQuAD 1.1, RR@10", "RR@10",
    ]  # fmt: skip


def test_the_screen_counts_them(made: Path) -> None:
    counts = headline(made, paper="prop").partition("Claims: ")[2]
    assert counts
    assert not re.search("not run|not testable", counts)
    assert "Claims: " not in headline(made)


def test_a_first_stage_over_candidates_of_others_is_the_one_that_ranks_them() -> None:
    """As in the papers' tables. BM25 of the collection has 0.1, over the official candidates 0.8; ARES has 0.5."""
    config = load_config(ROOT / "config.yaml", ROOT / "configs/ares-paper.yaml")
    runs = {
        ("official", "official", "first-stage"): ((0,), [NONE]),
        ("bm25", "bm25", "first-stage"): ((0,), [[0.1] * 5]),
        ("bm25-official", "bm25-official", "first-stage"): ((0,), [[0.8] * 5]),
        ("official", "ares-simple", "full"): ((1, 2), [NONE, NONE]),
    }
    results = {
        (RunName("msmarco-doc", *run), "RR@10"): Results(seeds, QUERIES, np.array(values))
        for run, (seeds, values) in runs.items()
    }
    claim = {"better": {"model": "ares-simple"}, "worse": {"first_stage": "bm25"}, "regime": "full"}
    row = answered(config, Scores(results), claim)
    assert (row.candidates, row.worse, row.difference) == ("official", "bm25-official", pytest.approx(-0.3))
    del results[RunName("msmarco-doc", "bm25-official", "bm25-official", "first-stage"), "RR@10"]
    assert answered(config, Scores(results), claim).verdict == NOT_RUN


def test_a_claim_on_predictors_says_what_their_sides_differ_in(config) -> None:
    predictors = {
        name: PredictorConfig(label=name, collection="c", dataset="d", setting=setting, negative_terms=terms)
        for name, setting, terms in (("first", "I", "equal"), ("second", "IV", "any"))
    }
    config = config.model_copy(update={"predictors": predictors})

    def answered_with(seeds: tuple[int, ...], other_seeds: tuple[int, ...]) -> Answer:
        measured = (
            predictor(name, {seed: (0.9 - seed / 100, {"RANK": 1.0}) for seed in seeds_of_side}, pairs)
            for name, seeds_of_side, pairs in (("first", seeds, 900), ("second", other_seeds, 800))
        )
        axioms = AxiomResults(tuple(measured))
        (row,) = answer(
            claims_of(auc=sides("predictor", "first", "second")), ClaimTester(Scores({}), config, axioms)
        )
        return row

    row = answered_with((1, 2, 3), (2, 3))
    assert row.differs == "negative terms: equal (first), any (second); pairs: 900 (first), 800 (second)"
    assert (row.seeds, row.difference) == (2, 0), "the seeds of both sides"
    assert answered_with((1,), (2,)).verdict == NOT_RUN


def test_a_claim_on_agreement_says_what_its_models_differ_in() -> None:
    rows = [agreement("wikiformer", 0.6), agreement("prop", 0.6), agreement("wikiformer", 0.1, "prop")]
    axioms = AxiomResults(diagnoses=(Diagnosis(tuple(rows)),))
    claims = claims_of(follows=sides("model", "wikiformer", "prop", "PROX-1", "PROX-1"))
    (row,) = answer(claims, ClaimTester(Scores({}), load_config(ROOT / "config.yaml"), axioms))
    assert row.differs.startswith("read in pre-training: documents cut at 64 word pieces with the query, ")
    assert "; groups read: 800 in each of 4 tasks (Wikiformer), 3,200 (PROP); steps of " in row.differs


@pytest.mark.parametrize(
    "folder", sorted(path.parents[1] for path in ROOT.glob("docs/*/results/claims.csv")), ids=lambda f: f.name
)
def test_committed_claims_follow_from_committed_scores(folder: Path, capsys) -> None:
    configuration = ROOT / "configs" / f"{folder.name}.yaml"
    status = recompute.main(["--configfile", str(configuration), "--directory", str(folder)])
    assert status == 0, capsys.readouterr().err
