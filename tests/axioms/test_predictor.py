"""The preference predictor: pairs, splits, labels, symmetry, files, equal bytes."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_values import random_rows, row, write

from irpretrain.axioms.predictor import fit, importance, load_predictor
from irpretrain.axioms.predictor_files import effects
from irpretrain.axioms.predictor_pairs import make_pairs, read_candidates
from irpretrain.axioms.preferences import all_vectors
from irpretrain.axioms.train_predictor import orient, split_documents, train_predictor
from irpretrain.config.axioms import AXIOMS, AxiomsConfig, PredictorConfig
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.foundation.provenance import sha256

DOCUMENTS = 200


def options(**given: Any) -> PredictorConfig:
    base = {"label": "Made up", "collection": "made", "dataset": "made"}
    return PredictorConfig(**{**base, **given})


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irpretrain.axioms.predictor.TREES", 10)


def judged_rows(rng: np.random.Generator, documents: int = DOCUMENTS) -> list[dict[str, Any]]:
    """One judged query a document: REP-QL is better than any pseudo-query's in nine of ten, RANK in six of ten."""
    rows = random_rows(rng, documents, 1)
    for number, one in enumerate(rows):
        one |= {"query_id": f"q{number}", "query": "judged"}
        one["rep_ql"] = 9.0 if rng.random() < 0.9 else -9.0
        one["rank"] = 1 if rng.random() < 0.6 else one["rank"]
    return rows


def written(
    folder: Path, judged: list[dict[str, Any]], *shards: list[dict[str, Any]]
) -> tuple[Path, list[Path]]:
    """Write the tables that a predictor learns from: of judged queries, and of pseudo-queries in shards."""
    pseudo = [write(folder / f"pseudo-{number}.parquet", rows) for number, rows in enumerate(shards)]
    return write(folder / "judged.parquet", judged), pseudo


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, list[Path]]:
    rng = np.random.default_rng(3)
    judged, pseudo = judged_rows(rng), random_rows(rng, DOCUMENTS + 50, 4)
    return written(tmp_path, judged, pseudo[:401], pseudo[401:])


def scores(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "scores.json").read_text())


def test_a_predictor_learns_what_the_judged_queries_have(tables, tmp_path: Path) -> None:
    counts = train_predictor(*tables, options(), AxiomsConfig(), tmp_path / "predictor")
    found = scores(tmp_path / "predictor")
    assert counts["pairs"] == found["pairs"] == DOCUMENTS
    assert counts["test_pairs"] == found["test_pairs"] == 20
    assert found["auc"] > 0.75
    assert found["auc_low"] <= found["auc"] <= found["auc_high"]
    assert max(found["importance"], key=found["importance"].get) == "REP-QL"
    assert found["importance"]["REP-QL"] == 1.0
    assert found["preferences"]["REP-QL"]["judged"] == pytest.approx(0.9, abs=0.06)
    assert sum(found["preferences"]["RANK"].values()) == pytest.approx(1.0)
    assert found["auc_of_axiom"]["REP-QL"] > found["auc_of_axiom"]["REG"]
    assert (found["label"], found["setting"], found["axioms"]) == ("Made up", "I", list(AXIOMS))
    card = (tmp_path / "predictor" / "card.md").read_text()
    assert f"AUC on the test part: {found['auc']:.4f}" in card
    assert "any pseudo-query of the document, with equal probabilities" in card
    assert f"Pairs: {found['pairs']:,} of {found['documents']:,} documents" in card
    assert "one for each better query, of any length" in card
    assert "relevant to it.\n" in card


def test_a_subset_of_axioms_sees_nothing_else(tables, tmp_path: Path) -> None:
    train_predictor(*tables, options(axioms=["REG", "RANK"]), AxiomsConfig(), tmp_path / "predictor")
    found = scores(tmp_path / "predictor")
    assert found["axioms"] == list(found["importance"]) == ["RANK", "REG"]
    vectors, predictor = all_vectors(), load_predictor(tmp_path / "predictor")
    seen = vectors[:, [AXIOMS.index("RANK"), AXIOMS.index("REG")]]
    probabilities = predictor.probabilities(vectors)
    for one in np.unique(seen, axis=0):
        assert len(set(probabilities[(seen == one).all(axis=1)])) == 1
    assert len(set(probabilities)) > 1


@pytest.mark.parametrize("model", ["boosted", "forest"])
def test_loaded_probabilities_are_xgboost_s_made_symmetric(tables, tmp_path: Path, model: str) -> None:
    import xgboost

    train_predictor(*tables, options(model=model), AxiomsConfig(), tmp_path / "predictor")
    predictor = load_predictor(tmp_path / "predictor")
    trees = xgboost.Booster(model_file=tmp_path / "predictor" / "model.json")
    assert trees.feature_names == list(AXIOMS)
    vectors = all_vectors()
    matrix = xgboost.DMatrix(vectors.astype(np.float32), feature_names=list(AXIOMS))
    mirrored = xgboost.DMatrix(-vectors.astype(np.float32), feature_names=list(AXIOMS))
    expected = (trees.predict(matrix).astype(float) + 1 - trees.predict(mirrored)) / 2
    found = predictor.probabilities(vectors)
    assert found == pytest.approx(expected, abs=1e-12)
    assert (found + predictor.probabilities(-vectors) == 1).all()
    assert predictor.probabilities(np.zeros((1, 9), np.int8)) == 0.5
    assert len(set(found)) > 10
    model_text = {"boosted": "boosted trees", "forest": "a random forest"}[model]
    assert f"It is {model_text} by XGBoost" in (tmp_path / "predictor" / "card.md").read_text()


def test_the_forest_is_xgboost_s_own(tables) -> None:
    """Its parameters, read from the saved model, are those of XGBRFClassifier."""
    features = all_vectors()[::7]
    trees = fit(features, features[:, 0] > 0, options(model="forest"), 1)
    config = json.loads(trees.save_config())
    train = config["learner"]["gradient_booster"]["tree_train_param"]
    assert {k: float(train[k]) for k in ("subsample", "colsample_bynode", "reg_lambda", "learning_rate")} == (
        pytest.approx({"subsample": 0.8, "colsample_bynode": 0.8, "reg_lambda": 1e-5, "learning_rate": 1.0})
    )
    assert (trees.num_boosted_rounds(), len(trees.get_dump())) == (1, 10)


def test_each_seed_grows_another_forest(tables) -> None:
    """One beyond the 31 bits that XGBoost takes, too."""
    features = all_vectors()[::7]
    forests = [fit(features, features[:, 0] > 0, options(model="forest"), seed) for seed in (1, 2, 2**31)]
    assert len({tuple(trees.get_dump()) for trees in forests}) == 3


@pytest.mark.parametrize("model", ["boosted", "forest"])
def test_threads_shards_and_repetition_change_no_byte(tables, tmp_path: Path, model: str) -> None:
    judged, pseudo = tables
    for name, shards, threads in (("a", pseudo, 1), ("b", pseudo[::-1], 2)):
        train_predictor(judged, shards, options(model=model), AxiomsConfig(), tmp_path / name, threads)
    assert sha256(tmp_path / "a") == sha256(tmp_path / "b")
    train_predictor(judged, pseudo, options(model=model, seeds=[2]), AxiomsConfig(), tmp_path / "d")
    assert sha256(tmp_path / "d" / "model.json") != sha256(tmp_path / "a" / "model.json")


def test_the_first_of_several_seeds_is_retained(tables, tmp_path: Path) -> None:
    for name, seeds in (("one", [2]), ("three", [2, 5, 6])):
        train_predictor(*tables, options(seeds=seeds), AxiomsConfig(), tmp_path / name)
    one, three = scores(tmp_path / "one"), scores(tmp_path / "three")
    assert [found["seed"] for found in three["seeds"]] == [2, 5, 6]
    assert three["seeds"][0] == one["seeds"][0]
    assert three["auc"] == one["auc"]
    assert three["auc_mean"] == pytest.approx(np.mean([found["auc"] for found in three["seeds"]]))
    for name in ("model.json", "probabilities.npy"):
        assert sha256(tmp_path / "one" / name) == sha256(tmp_path / "three" / name)


def test_documents_never_stand_on_two_sides():
    documents = np.repeat(np.arange(50), 3)
    parts = split_documents(documents, 1)
    assert (parts.reshape(50, 3) == parts[::3, None]).all()
    assert np.bincount(parts[::3]).tolist() == [5, 23, 22]


def test_half_of_each_part_has_the_judged_query_first():
    parts = np.array([0, 1, 2, 1, 0, 1, 2, 1, 2])
    first = orient(parts, 1)
    assert [int(first[parts == part].sum()) for part in range(3)] == [1, 2, 2]
    assert any((orient(parts, seed) != first).any() for seed in range(2, 6))


def test_pairs_compare_a_judged_query_with_a_pseudo_query_of_its_document(tmp_path: Path) -> None:
    judged = [row(0, 0, "x", "q1", reg=5.0), row(1, 0, "y", "q2", reg=5.0), row(2, 0, "z", "q3")]
    judged.append(row(0, 1, "the", "q4", terms=0))
    pseudo = [
        row(document, sample, reg=reg)
        for document, reg in ((0, 4.0), (1, 5.0), (3, 9.0))
        for sample in (0, 1)
    ]
    candidates = read_candidates(*written(tmp_path, judged, pseudo), options())
    pairs = make_pairs(candidates, options(), 0.05, 1)
    assert pairs.features[:, AXIOMS.index("REG")].tolist() == [1, 0]
    assert candidates.query_names == ["d0\x1fq1", "d1\x1fq2", "d2\x1fq3"]
    assert candidates.counts["judged_queries_without_terms"] == 1
    assert candidates.counts["judged_queries_without_pseudo_queries"] == 1
    assert pairs.counts == {
        "judged_queries_ignored_by_setting": 0,
        "judged_queries_without_negative": 1,
        "pairs": 2,
        "documents": 2,
        "mean_terms_of_judged": 2.0,
        "mean_terms_of_negatives": 2.0,
        "pairs_of_equal_terms": 2,
    }


def test_an_effect_is_the_mean_difference_that_an_axiom_makes_on_the_pairs_that_there_are() -> None:
    """p = ½ + 0.2 RANK |REG| - 0.1 REG. RANK counts where REG speaks, which is in one pair of four."""
    vectors = all_vectors().astype(float)
    rank, reg = (vectors[:, AXIOMS.index(name)] for name in ("RANK", "REG"))
    table = 0.5 + 0.2 * rank * np.abs(reg) - 0.1 * reg
    pairs = np.zeros((4, len(AXIOMS)), np.int8)
    pairs[0, AXIOMS.index("REG")] = -1
    pairs[1:3, AXIOMS.index("RANK")] = 1
    found = effects(table, pairs, ["REG", "PROX-1", "RANK"])
    assert list(found) == ["RANK", "PROX-1", "REG"]
    assert found == pytest.approx({"RANK": 0.1, "PROX-1": 0.0, "REG": -0.2})
    assert effects(table, -pairs, ["REG", "PROX-1", "RANK"]) == pytest.approx(found)
    none = np.zeros((1, len(AXIOMS)), np.int8)
    assert effects(table, none, ["RANK"]) == {"RANK": 0.0}


def test_scores_say_what_the_predictor_makes_of_each_axiom(tmp_path: Path) -> None:
    """Judged queries have a RANK worse than what setting IV draws, so a better RANK speaks against a query."""
    judged = [row(d, 0, "x", f"q{d}", rank=20, reg=float(d % 5 > 0)) for d in range(150)]
    pseudo = [row(d, 0, rank=1, reg=0.5) for d in range(150)]
    tables = written(tmp_path, judged, pseudo)
    train_predictor(*tables, options(setting="IV"), AxiomsConfig(), tmp_path / "predictor")
    found = scores(tmp_path / "predictor")
    assert found["effect_of_axiom"]["RANK"] < -0.8
    assert found["auc_of_axiom"]["RANK"] == 0.0
    assert found["effect_of_axiom"]["PROX-1"] == 0
    card = (tmp_path / "predictor" / "card.md").read_text()
    assert "RANK: it prefers the query that RANK does not" in card
    assert "PROX-1: it prefers" not in card
    assert "Setting IV chooses negative queries by RANK" in card
    assert "a pseudo-query whose RANK is 5 or less" in card
    train_predictor(*tables, options(setting="I"), AxiomsConfig(), tmp_path / "any")
    assert "chooses negative queries by RANK" not in (tmp_path / "any" / "card.md").read_text()


def test_a_document_in_two_tables_is_refused(tmp_path: Path) -> None:
    pseudo = [row(0, 0), row(0, 1)]
    with pytest.raises(IntegrityError, match="occur twice"):
        read_candidates(*written(tmp_path, [row(0, 0, "x", "q1")], pseudo, pseudo), options())


def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    tables = written(tmp_path, [row(d, 0, "x", f"q{d}") for d in range(4)], [row(d, 0) for d in range(4)])
    with pytest.raises(InputError, match=r"4 pairs .* too few for a test part and 2 folds"):
        train_predictor(*tables, options(), AxiomsConfig(), tmp_path / "predictor")


def test_values_that_tell_nothing_give_no_preference(tmp_path: Path) -> None:
    tables = written(tmp_path, [row(d, 0, "x", f"q{d}") for d in range(60)], [row(d, 0) for d in range(60)])
    train_predictor(*tables, options(), AxiomsConfig(), tmp_path / "predictor")
    found = scores(tmp_path / "predictor")
    assert found["auc"] == 0.5
    assert set(found["importance"].values()) == {0.0}
    assert set(load_predictor(tmp_path / "predictor").probabilities(all_vectors())) == {0.5}


def test_the_code_of_the_card_runs(tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_predictor(*tables, options(), AxiomsConfig(stm_2_threshold=0.25), tmp_path / "predictor")
    monkeypatch.chdir(tmp_path / "predictor")
    write(Path("axiom_values.parquet"), [row(0, 0, rank=1), row(0, 1, rank=9)])
    [code] = re.findall(r"```python\n(.*?)```", Path("card.md").read_text(), re.DOTALL)
    assert "stm_2_threshold=0.25)" in code
    names: dict[str, Any] = {}
    exec(code, names)
    assert 0 <= names["probability"] <= 1
    swapped = names["preferences"](names["values"], np.array([1]), np.array([0]), stm_2_threshold=0.25)
    assert load_predictor(".").probabilities(swapped)[0] == 1 - names["probability"]


def test_what_is_no_predictor_or_no_features_is_refused(tables, tmp_path: Path) -> None:
    train_predictor(*tables, options(), AxiomsConfig(), tmp_path / "predictor")
    with pytest.raises(ValueError, match=r"shape \[pairs, 9\]"):
        load_predictor(tmp_path / "predictor").probabilities(np.zeros((2, 8), np.int8))
    with pytest.raises(InputError, match="none: there is no such folder"):
        load_predictor(tmp_path / "none")
    with pytest.raises(IntegrityError, match="not a preference predictor"):
        load_predictor(tmp_path)
    np.save(tmp_path / "predictor" / "probabilities.npy", np.zeros(5))
    with pytest.raises(IntegrityError, match="not one of this version's axioms"):
        load_predictor(tmp_path / "predictor")


def test_importance_is_the_sum_of_gains_divided_by_the_largest():
    vectors = all_vectors()
    trees = fit(vectors, vectors[:, 0] * 3 + vectors[:, 1] > 0, options(), 1)
    sums: dict[str, float] = dict.fromkeys(AXIOMS, 0.0)
    dump = trees.trees_to_dataframe()
    for feature, gain in zip(dump["Feature"], dump["Gain"], strict=True):
        if feature != "Leaf":
            sums[feature] += gain
    expected = {axiom: total / max(sums.values()) for axiom, total in sums.items()}
    assert importance(trees, AXIOMS) == pytest.approx(expected, rel=1e-4)
    assert importance(trees, AXIOMS)["RANK"] == 1.0
