"""The configuration that a claim names runs both of its sides."""

from itertools import product

import numpy as np
import pytest
from overlay_layers import QUERIES, load, results_of_runs

from irpretrain.config import Config, load_config
from irpretrain.config.axioms import AXIOMS
from irpretrain.config.papers import FIRST_STAGE, known_papers
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, TF_INDEX, FirstStageConfig
from irpretrain.evaluation.claims import read_claims
from irpretrain.evaluation.evaluate import at_depth
from irpretrain.evaluation.ledger import RunFacts, differences
from irpretrain.evaluation.verdicts import NOT_RUN
from irpretrain.report.axiom_results import Agreement, AxiomResults, Diagnosis, PredictorScores, SeedScores
from irpretrain.report.claim_answers import answer
from irpretrain.report.claim_tests import ClaimTester
from irpretrain.report.figures import WeightingShares
from irpretrain.report.scores import Results, RunName, Scores
from like_with_like import unlike
from overlay_commands import OVERLAYS, ROOT

SHOWCASE = "configs/showcase.yaml"


@pytest.fixture(scope="module")
def configs() -> dict[str, Config]:
    """The configurations that claims name; the showcase where there is one."""
    named = {
        claim.overlay
        for paper in known_papers()
        for claim in read_claims(paper).claims.values()
        if claim.sides
    }
    there = {name for name in named if name != SHOWCASE or (ROOT / name).exists()}
    base = {"config.yaml": load_config(ROOT / "config.yaml")}
    return base | {name: load(ROOT / name) for name in sorted(there - base.keys())}


def finder_of(config: Config) -> ClaimTester:
    """Results as if everything that the configuration asks for had been run."""
    more: dict[tuple[RunName, str], Results] = {}
    result = Results((1,), QUERIES, np.zeros((1, len(QUERIES))))
    for experiment in config.active_experiments.values():
        dataset, first = experiment.dataset, config.datasets[experiment.dataset].measures[0]
        for model in experiment.models:
            for step in config.training_of(model).snapshots if config.models[model].tasks else []:
                run = RunName(dataset, experiment.candidates, f"{model}@{step}", "zero-shot")
                more[run, first] = result
        for depth in experiment.depths:
            candidates = at_depth(experiment.candidates, depth)
            for model, regime in product(experiment.models, experiment.regimes):
                more[RunName(dataset, candidates, model, regime), first] = result
            for stage in experiment.shown_stages:
                more[RunName(dataset, at_depth(stage, depth), stage, "first-stage"), f"R@{depth}"] = result
    for entry in config.downstream.values():
        for task, model in product(entry.tasks, entry.models):
            more[RunName(task, "", model, "full"), "F1"] = result
    return ClaimTester(Scores(results_of_runs(config) | more), config, _axioms(config), _shares(config))


def _axioms(config: Config) -> AxiomResults:
    predictors = tuple(
        PredictorScores(
            name=name, path="", setting=predictor.setting, label=name, axioms=list(predictor.axioms), auc=0.5,
            auc_low=0.4, auc_high=0.6, pairs=9, test_pairs=9,
            importance=(gains := dict.fromkeys(predictor.axioms, 1.0)),
            seeds=[
                SeedScores(seed=seed, auc=0.5, auc_low=0.4, auc_high=0.6, importance=gains) for seed in predictor.seeds
            ],
        )
        for name, predictor in config.active("predictors").items()
    )  # fmt: skip
    diagnoses = tuple(
        Diagnosis(
            tuple(
                Agreement(
                    model=m, label=m, other=o, axiom=a, pairs=2, seeds=len(diagnosis.seeds), share=0.5, low=0.4,
                    high=0.6, variance=0.01, freedom=1, seed_variance=0.01,
                )
                for m, a in product(diagnosis.models, AXIOMS)
                for o in ("", *diagnosis.models)
            ),
        )
        for diagnosis in config.diagnoses.values()
    )  # fmt: skip
    return AxiomResults(predictors, diagnoses=diagnoses)


def _shares(config: Config) -> list[list[WeightingShares]]:
    return [
        [
            WeightingShares(weighting=w, passages=9, passages_without_terms=0, shares=[0.5])
            for w in displayed.weightings
        ]
        for displayed in config.weight_distributions.values()
    ]


@pytest.mark.parametrize("paper", known_papers())
def test_the_configuration_of_a_claim_answers_it(configs: dict[str, Config], paper: str) -> None:
    claims = read_claims(paper)
    unanswered = []
    for name, config in configs.items():
        requested = [key for key, claim in claims.claims.items() if claim.overlay == name]
        if requested:
            assert paper in config.report.papers, name
            narrowed = config.of_papers([paper])
            finder = finder_of(narrowed)
            rows = {row.claim: row for row in answer(claims, finder)}
            unanswered += [f"{key}: {name}" for key in requested if rows[key].verdict == NOT_RUN]
            if reading := claims.other_reading:
                other = [claims.claims[key].read_otherwise(reading) for key in requested]
                unanswered += [f"{claim.says}: {name}" for claim in other if finder.test(claim) is None]
    assert not unanswered


def unlike_sides(facts: list[RunFacts]) -> set[str]:
    """What two sides may not differ in; weightings of words also not in what teaches them."""
    weightings = [row for row in facts if row.regime in ("", FIRST_STAGE)]
    return {*unlike(facts), *differences(weightings, ["training_queries", "texts"])}


def test_sides_differ_in_candidates_or_tested_text_only_where_the_claim_is_about_them(
    configs: dict[str, Config],
) -> None:
    differing = {}
    for paper, name in product(known_papers(), configs):
        narrowed = configs[name].of_papers([paper])
        claims = {key: claim for key, claim in read_claims(paper).claims.items() if claim.overlay == name}
        finder = finder_of(narrowed) if claims else None
        for key, claim in claims.items() if finder else ():
            made = finder.test(claim)
            facts = finder.facts(made) if made else []
            if faults := unlike_sides(facts[:2]) | unlike_sides(facts[2:]):
                differing[f"{paper} {key}"] = faults
    assert differing == {
        "deepct oracle-better-than-query-weights": {"training_queries"},  # of the oracle, the tested ones
        "deepct oracle-better-than-query-weights-sdm": {"training_queries"},
        "deepct reranker-better-over-deepct": {"candidates"},
        "deepct reranker-better-over-deepct-at-five": {"candidates"},
        "deepct fewer-candidates-suffice": {"candidates", "seen"},
        "deepct gain-shrinks-with-depth": {"candidates"},
        "prop further-pretraining-helps": {"tested_texts"},
    }


def test_weightings_that_other_queries_teach_are_unlike(configs: dict[str, Config]) -> None:
    claim = read_claims("deepct").claims["query-weights-better-than-deeptr"]
    config = configs[claim.overlay].of_papers(["deepct"])
    faults = []
    for teacher in (None, "another"):
        weights = {
            name: weighting.model_copy(update={"dataset": teacher})
            if teacher and weighting.model == "regressor"
            else weighting
            for name, weighting in config.term_weights.items()
        }
        changed = config.model_copy(update={"term_weights": weights})
        finder = finder_of(changed)
        made = finder.test(claim)
        assert made is not None
        faults.append(unlike_sides(finder.facts(made)))
    assert faults == [set(), {"training_queries"}]


WORDS = "words of texts and queries"
READ = "read in test"
TAUGHT = "taught by"


def test_claims_on_weightings_say_what_their_sides_differ_in(configs: dict[str, Config]) -> None:
    differing = {}
    for name, config in configs.items():
        narrowed = config.of_papers(["deepct"])
        finder = finder_of(narrowed)
        for key, claim in read_claims("deepct").claims.items():
            if claim.overlay == name and any(side.first_stage or side.weighting for side in claim.sides):
                made = finder.test(claim)
                assert made is not None
                text = finder.describe_differences(made)
                differing[key] = [part.partition(": ")[0] for part in text.split("; ") if part]
                if key == "better-than-tf":
                    assert text == (
                        f"{READ}: the first 320 word pieces, later words without weight (“DeepCT, BM25”), whole texts "
                        f"(“tf index, BM25”); {WORDS}: alphanumeric (“DeepCT, BM25”), lucene (“tf index, BM25”)"
                    )
    assert differing == {
        "better-than-tf": [READ, WORDS],
        "better-than-tf-ql": [READ, WORDS],
        "improves-more-than-it-hurts": [READ, WORDS],
        "improves-more-than-it-hurts-ql": [READ, WORDS],
        "better-than-untuned-bm25": [READ, WORDS, "parameters"],
        "weights-beat-frequencies": [READ],
        "tf-better-than-textrank": [],
        "tf-better-than-word-vectors": [WORDS],
        "context-better-than-word-vectors": [READ],
        "better-than-doc2query": [READ, WORDS],
        "doc2query-better-than-tf": [],
        "better-reranker": [READ, TAUGHT],
        "index-better-than-knrm": [READ, TAUGHT],
        "index-as-good-as-conv-knrm": [READ, TAUGHT],
        "index-as-good-as-duet": [READ, TAUGHT],
        "higher-recall": [READ, WORDS],
        "higher-recall-at-five": [READ, WORDS],
        "weights-are-skewed": [READ],
        "query-weights-help": [READ],
        "oracle-better-than-query-weights": [READ, TAUGHT],
        "oracle-better-than-query-weights-sdm": [READ, TAUGHT],
        "deeptr-helps": [],
        "query-weights-better-than-deeptr": [READ],
        "query-weights-help-sdm": [READ],
        "sdm-weights-better-than-deeptr": [READ],
    }


def test_a_claim_on_first_stages_says_what_else_their_searches_differ_in(configs: dict[str, Config]) -> None:
    config = configs["config.yaml"].of_papers(["deepct"])
    stages = config.first_stages
    for changed, text in (
        ({"tuned_on": None, "parameters": {"k1": 2.0}}, "parameters: "),
        ({"model": "ql"}, "ranking model: bm25 (“DeepCT, BM25”), ql (“tf index, BM25”)"),
        (
            {"candidates": "bm25"},
            "ranking model: bm25 (“DeepCT, BM25”), bm25 over candidates of bm25 (“tf index, BM25”)",
        ),
        ({"tuned_on": None}, "parameters: "),
    ):
        other = FirstStageConfig(**{**stages["tf-bm25"].model_dump(exclude_unset=True), **changed})
        narrowed = config.model_copy(update={"first_stages": {**stages, "tf-bm25": other}})
        finder = finder_of(narrowed)
        made = finder.test(read_claims("deepct").claims["better-than-tf"])
        assert made is not None
        assert text in finder.describe_differences(made)


def test_a_claim_on_weightings_says_how_many_passages_each_has(configs: dict[str, Config]) -> None:
    config = configs["configs/embedded-full.yaml"].of_papers(["deepct"])
    shares = [
        WeightingShares(weighting=name, passages=9, passages_without_terms=without, shares=[0.5])
        for name, without in (("deepct", 2), ("tf", 0))
    ]
    finder = ClaimTester(Scores({}), config, shares=[shares])
    made = finder.test(read_claims("deepct").claims["weights-are-skewed"])
    assert made is not None
    assert "documents scored in all: 7 (DeepCT), 9 (tf)" in finder.describe_differences(made)


def test_every_name_is_in_some_configuration() -> None:
    base = ROOT / "config.yaml"
    configs = [load_config(base), *(load_config(base, overlay) for overlay in OVERLAYS)]
    known = {
        "model": {name for config in configs for name in config.models},
        "first_stage": {name for config in configs for name in config.first_stages}
        | set(BUILT_IN_FIRST_STAGES),
        "predictor": {name for config in configs for name in config.predictors},
        "weighting": {name for config in configs for name in config.term_weights} | {TF_INDEX},
    }
    for paper in known_papers():
        for claim, described in read_claims(paper).claims.items():
            for side in described.sides:
                for kind, names in known.items():
                    assert {name.partition("@")[0] for name in getattr(side, kind)} <= names, (paper, claim)
