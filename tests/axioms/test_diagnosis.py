"""Axiom diagnosis: which pairs, scores of a model that follows a known rule, shares and intervals."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from made_values import random_rows, reference_features, row, write

from irpretrain.axioms.diagnosis import choose_diagnosis_pairs, diagnose
from irpretrain.config.axioms import AXIOMS, AxiomsConfig, DiagnosisConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.verdicts import paired
from irpretrain.foundation.contracts import AXIOM_PAIRS, PAIR_SCORES
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import CorpusTexts, score_diagnosis_pairs


def options(**given: Any) -> DiagnosisConfig:
    return DiagnosisConfig(**{"collection": "made", "models": ["model"], **given})


def chosen(folder: Path, shards: list[list[dict[str, Any]]], **given: Any) -> tuple[Path, dict[str, Any]]:
    paths = [write(folder / f"values{i}.parquet", rows) for i, rows in enumerate(shards)]
    output = folder / "pairs.parquet"
    return output, choose_diagnosis_pairs(paths, options(**given), AxiomsConfig(), 1, output)


def read_csv(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {(one["model"], one["axiom"], *filter(None, [one["other"]])): one for one in rows}


def test_pairs_are_of_one_document_with_what_the_axioms_prefer(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(1), 40, 6, lengths=(1, 2))
    path, counts = chosen(tmp_path, [rows], documents=25)
    table, by_query = AXIOM_PAIRS.read(path).to_pylist(), {one["query"]: one for one in rows}
    assert [one["pair"] for one in table] == list(range(counts["pairs"]))
    assert counts["documents"] == len({one["document_id"] for one in table}) == 25
    for one in table:
        first, second = by_query[one["first"]], by_query[one["second"]]
        assert first["document_id"] == second["document_id"] == one["document_id"]
        assert len(one["first"].split()) == len(one["second"].split())
        assert one["first"] != one["second"]
        assert one["preferences"] == reference_features(first, second, AxiomsConfig().stm_2_threshold)
    reported = np.count_nonzero([one["preferences"] for one in table], axis=0).tolist()
    assert list(counts["pairs_with_a_preference"].values()) == reported


def test_shards_change_no_byte_and_more_documents_keep_the_first(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(2), 30, 4)
    tables = []
    cases = ("one", [rows], 10), ("two", [rows[60:], rows[:60]], 10), ("more", [rows], 20)
    for name, shards, documents in cases:
        (tmp_path / name).mkdir()
        tables.append(chosen(tmp_path / name, shards, documents=documents)[0])
    assert tables[0].read_bytes() == tables[1].read_bytes()
    few, more = (AXIOM_PAIRS.read(path).to_pylist() for path in (tables[0], tables[2]))
    assert more[: len(few)] == few
    assert len(more) == 2 * len(few)
    samples = {(one["first"].split()[0][-1], one["second"].split()[0][-1]) for one in more}
    assert len(samples) > len(more) / 20, "not of each document the same"


def test_documents_without_two_queries_of_equal_length_are_not_drawn(tmp_path: Path) -> None:
    rows = [row(0, 0, "a"), row(0, 1, "b c"), row(1, 0, "d"), row(1, 1, "e")]
    path, counts = chosen(tmp_path, [rows])
    assert counts["documents_with_pairs"] == counts["documents"] == counts["pairs"] == 1
    assert {AXIOM_PAIRS.read(path)["document_id"][0].as_py()} == {"d1"}
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no document has two pseudo-queries of equal length"):
        chosen(tmp_path / "none", [rows[:2]])


def write_scores(path: Path, first: list[float], second: list[float]) -> Path:
    columns = {"pair": list(range(len(first))), "first": first, "second": second}
    PAIR_SCORES.write(path, pa.Table.from_pydict(columns, schema=PAIR_SCORES.schema))
    return path


def test_shares_of_a_model_that_follows_one_axiom(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(3), 100, 4)
    pairs, _ = chosen(tmp_path, [rows], documents=100)
    by_query = {one["query"]: one for one in rows}
    table = AXIOM_PAIRS.read(pairs).to_pylist()
    scores = {side: [by_query[one[side]]["reg"] for one in table] for side in ("first", "second")}
    both_sides = {
        "reg": (scores["first"], scores["second"]),
        "against": (scores["second"], scores["first"]),
        "constant": ([1.0] * len(table), [1.0] * len(table)),
    }
    files = {name: [write_scores(tmp_path / name, *sides)] for name, sides in both_sides.items()}
    counts = diagnose(pairs, files, {name: name.upper() for name in files}, tmp_path / "diagnosis.csv")
    found = read_csv(tmp_path / "diagnosis.csv")
    alone = [key for key in found if len(key) == 2]
    assert alone == [(model, axiom) for model in files for axiom in AXIOMS]
    compared = {(key[0], key[2]) for key in found if len(key) == 3}
    assert compared == {("reg", "against"), ("reg", "constant"), ("against", "constant")}
    own = found["reg", "REG", "against"]
    assert (own["pairs"], own["share"], own["low"]) == (found["reg", "REG"]["pairs"], "1.0", "1.0")
    reported = np.array([one["preferences"] for one in table])
    signs = np.sign(np.array(scores["first"]) - np.array(scores["second"]))
    for number, axiom in enumerate(AXIOMS):
        row_, with_preference = found["reg", axiom], reported[:, number] != 0
        agreeing = np.where(signs == 0, 0.5, signs == reported[:, number])[with_preference]
        assert int(row_["pairs"]) == len(agreeing) > 0
        assert float(row_["share"]) == pytest.approx(agreeing.mean())
        assert float(row_["low"]) < float(row_["share"]) or row_["share"] in ("0.0", "1.0")
        assert float(found["constant", axiom]["share"]) == 0.5
        assert float(found["against", axiom]["share"]) == pytest.approx(1 - float(row_["share"]))
    assert float(found["reg", "REG"]["share"]) == 1.0
    assert found["reg", "REG"]["label"] == "REG"
    assert counts["pairs_with_equal_scores"]["constant"] == len(table)


def test_an_axiom_without_preferences_has_no_share(tmp_path: Path) -> None:
    """And pairs of one document alone have no interval."""
    pairs, _ = chosen(tmp_path, [[row(0, 0, "a b"), row(0, 1, "c d", reg=9.0)]])
    diagnose(pairs, {"m": [write_scores(tmp_path / "m", [1.0], [2.0])]}, {"m": "M"}, tmp_path / "d.csv")
    table = read_csv(tmp_path / "d.csv")
    assert table.pop(("m", "REG"))["share"] in ("0.0", "1.0")
    for one in table.values():
        assert (one["pairs"], one["share"], one["low"], one["high"]) == ("0", "", "", "")


def test_scores_of_other_pairs_are_refused(tmp_path: Path) -> None:
    pairs, _ = chosen(tmp_path, [[row(0, 0, "a b"), row(0, 1, "c d")]])
    scores = write_scores(tmp_path / "m.parquet", [1.0, 2.0], [2.0, 1.0])
    with pytest.raises(IntegrityError, match="not the scores of the diagnosis's pairs"):
        diagnose(pairs, {"m": [scores]}, {"m": "M"}, tmp_path / "d.csv")


def test_a_model_s_scores_are_those_of_its_sequences(
    tmp_path: Path, tiny_encoder: Path, make_store: Callable[..., Path]
) -> None:
    """Against the model called on one sequence at a time."""
    import torch
    from transformers import AutoTokenizer

    bodies = {f"d{i}": f"word{i:02d} word{i + 1:02d} word{i + 2:02d}" for i in range(8)}
    rows = [
        row(i, s, f"word{(i + s) % 80:02d} word{7 * s:02d}", rank=s + 1) for i in range(8) for s in range(4)
    ]
    pairs, _ = chosen(tmp_path, [rows])
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "model")
    reranking = RerankingConfig(max_length=24, query_length=6, batch_tokens=512)
    corpus, output = CorpusTexts([make_store(bodies)]), tmp_path / "scores.parquet"
    counts = score_diagnosis_pairs(tmp_path / "model", corpus, pairs, reranking, output)
    found = PAIR_SCORES.read(output).to_pylist()
    table = AXIOM_PAIRS.read(pairs).to_pylist()
    model = CrossEncoderModel.load(tmp_path / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    for scores, pair in zip(found, table, strict=True):
        for side in ("first", "second"):
            inputs = tokenizer(pair[side], bodies[pair["document_id"]], return_tensors="pt")
            with torch.no_grad():
                expected = model(inputs["input_ids"], inputs["token_type_ids"], inputs["attention_mask"])
            assert scores[side] == pytest.approx(float(expected), abs=1e-6)
    distinct = {(one[side], one["document_id"]) for one in table for side in ("first", "second")}
    assert counts == {"pairs": len(table), "sequences": len(distinct)}


def test_two_models_are_compared_over_documents_and_seeds(tmp_path: Path) -> None:
    """RANK prefers the first query of each pair; a is right on 5 and 4 of 6 pairs of three documents, b on 3 and 4."""
    shared = {"first": "a", "second": "b", "preferences": [1] + [0] * 8}
    rows = [{"pair": i, "document_id": f"d{i // 2}", **shared} for i in range(6)]
    AXIOM_PAIRS.write(tmp_path / "pairs.parquet", rows)
    right = {"a": [[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0]], "b": [[1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 1, 1]]}
    scores = {
        model: [
            write_scores(tmp_path / f"{model}{seed}.parquet", [float(r) for r in ones], [0.5] * 6)
            for seed, ones in enumerate(of_seeds)
        ]
        for model, of_seeds in right.items()
    }
    diagnose(tmp_path / "pairs.parquet", scores, {"a": "A", "b": "B"}, tmp_path / "d.csv")
    table = read_csv(tmp_path / "d.csv")
    assert [(table[model, "RANK"]["low"], table[model, "RANK"]["high"]) for model in "ab"] == [("0", "1")] * 2
    found = table["a", "RANK", "b"]
    expected = paired(right["a"], right["b"], ["d0", "d0", "d1", "d1", "d2", "d2"])
    assert (found["pairs"], found["seeds"]) == ("6", "2")
    assert float(found["share"]) == pytest.approx(9 / 12 - 7 / 12)
    assert [float(found[key]) for key in ("low", "high")] == pytest.approx([expected.low, expected.high])
    parts = [(found["variance"], found["freedom"]), (found["seed_variance"], "1")]
    assert [tuple(map(float, part)) for part in parts] == [pytest.approx(part) for part in expected.variances]
