"""ARES groups: which pairs, which query first, ties, thresholds, strict agreement, random order, shards."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).resolve().parents[1] / "axioms"))
from made_values import random_rows, reference_features, row, write

from irpretrain.axioms.predictor import (
    CONFIG_FILE,
    TABLE_FILE,
    PreferencePredictor,
    load_predictor,
    make_symmetric,
)
from irpretrain.axioms.preferences import VECTOR_COUNT, all_vectors
from irpretrain.config.axioms import AXIOMS, AxiomsConfig
from irpretrain.config.base import explain
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.randomness import generator
from irpretrain.objectives.ares import AresOptions
from irpretrain.objectives.shard import Shard, merge_groups, write_groups

TEXT = TextConfig(words="alphanumeric")
THRESHOLD = AxiomsConfig().stm_2_threshold


def defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Return what must be given, a predictor unless axioms must agree."""
    predictor = {} if given.get("agreement") == "strict" else {"predictor": "simple"}
    return {"type": "ares", "draw": "until-accepted", "ties": "drop", **predictor}


def options(**given: Any) -> AresOptions:
    return AresOptions(**{**defaults(given), **given})


def made_predictor(folder: Path, table: np.ndarray) -> Path:
    folder.mkdir(exist_ok=True)
    np.save(folder / TABLE_FILE, table)
    names = ", ".join(f'"{axiom}"' for axiom in AXIOMS)
    (folder / CONFIG_FILE).write_text(f'{{"order": [{names}], "predictor": {{"axioms": [{names}]}}}}')
    return folder


def by_axiom(axiom: str, confidence: float = 0.8) -> np.ndarray:
    """Probabilities of a predictor that follows one axiom."""
    return 0.5 + (confidence - 0.5) * all_vectors()[:, AXIOMS.index(axiom)]


def random_table(seed: int = 1) -> np.ndarray:
    return make_symmetric(np.random.default_rng(seed).integers(0, 5, VECTOR_COUNT) / 4)


class Made:
    """Groups of made-up values, beside what they were made of."""

    def __init__(
        self,
        folder: Path,
        rows: list[dict[str, Any]],
        chosen: AresOptions,
        table: np.ndarray | None = None,
        seed: int = 1,
        empty_documents: int = 0,
    ) -> None:
        folder.mkdir(exist_ok=True)
        locations = sorted({(one["part"], one["position"]) for one in rows})
        names = [f"d{position}" for _, position in locations]
        blank = {"part": 9, "title": "", "url": "", "body": ""}
        documents = [
            {**blank, "document_id": name, "part": part, "position": position}
            for (part, position), name in zip(locations, names, strict=True)
        ] + [{**blank, "document_id": f"x{i}", "position": i} for i in range(empty_documents)]
        DOCUMENTS.write(folder / "documents.parquet", documents)
        self.predictor: PreferencePredictor | None = None
        directory: str | Path = ""
        if table is not None:
            directory = made_predictor(folder / "predictor", table)
            self.predictor = load_predictor(directory)
        self.output = folder / "groups.parquet"
        values = write(folder / "values.parquet", rows)
        shard = Shard(folder / "documents.parquet", TEXT, seed, axiom_values=values, predictor=directory)
        self.counts = write_groups(shard, chosen, self.output)
        self.rows = {one["query"]: one for one in rows}
        self.groups: list[dict[str, Any]] = GROUPS.read(self.output).to_pylist()

    def pairs(self) -> list[tuple[str, str]]:
        return [(g["queries"][0]["text"], g["queries"][1]["text"]) for g in self.groups]

    def features(self, pair: tuple[str, str]) -> list[int]:
        return reference_features(self.rows[pair[0]], self.rows[pair[1]], THRESHOLD)


def test_a_group_is_two_literal_queries_and_the_whole_document(tmp_path: Path) -> None:
    rows = [row(0, 0, "worse one", reg=1.0), row(0, 1, "better one", reg=2.0)]
    made = Made(tmp_path, rows, options(), by_axiom("REG"), empty_documents=3)
    literal = {"document_id": "", "start": 0, "end": 0}
    assert made.groups == [
        {
            "part": 0,
            "position": 0,
            "sample": 0,
            "queries": [{"text": "better one", **literal}, {"text": "worse one", **literal}],
            "documents": [{"document_id": "d0", "start": 0, "end": -1, "gap_start": 0, "gap_end": 0}],
            "scores": pytest.approx([0.8, 0.2]),
            "anchors": [],
        }
    ]
    assert made.counts["documents"] == 4
    assert made.counts["documents_without_pairs"] == {
        "no_pseudo_queries": 3,
        "no_two_of_equal_length": 0,
        "none_accepted": 0,
    }


def test_the_first_query_is_the_one_that_the_predictor_prefers(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(1), 60, 10, lengths=(1, 2))
    made = Made(tmp_path, rows, options(), random_table())
    assert made.predictor is not None
    assert made.counts["pairs"] == len(made.groups) == 120
    for group, pair in zip(made.groups, made.pairs(), strict=True):
        found = made.predictor.probabilities(np.array([made.features(pair)], np.int8))[0]
        assert found > 0.5
        assert group["scores"] == pytest.approx([found, 1 - found])
        assert len({len(query.split()) for query in pair}) == 1
        assert len({made.rows[query]["position"] for query in pair} | {group["position"]}) == 1
    for groups in (made.groups[i : i + 2] for i in range(0, 120, 2)):
        assert [group["sample"] for group in groups] == [0, 1]
        assert len({frozenset(q["text"] for q in group["queries"]) for group in groups}) == 2


def test_counts_say_how_often_each_axiom_agrees(tmp_path: Path) -> None:
    made = Made(tmp_path, random_rows(np.random.default_rng(1), 40, 6), options(), random_table())
    features = np.array([made.features(pair) for pair in made.pairs()])
    for number, axiom in enumerate(AXIOMS):
        found = made.counts["axioms"][axiom]
        assert found["agrees"] == (features[:, number] == 1).sum()
        assert found["disagrees"] == (features[:, number] == -1).sum()
        assert found["indifferent"] == (features[:, number] == 0).sum()
        share = found["agrees"] / (found["agrees"] + found["disagrees"])
        assert found["agreement"] == pytest.approx(share, abs=1e-4)
    dropped = sum(made.counts["dropped"].values())
    assert made.counts["pairs_considered"] == made.counts["pairs"] + dropped
    assert made.counts["dropped"]["tie"] == dropped > 0
    assert sum(made.counts["probabilities_from"].values()) == made.counts["pairs_considered"]


def test_the_histogram_is_of_the_larger_probability(tmp_path: Path) -> None:
    rows = [row(d, s, f"d{d} q{s}", reg=float(s)) for d in range(30) for s in range(2)]
    made = Made(tmp_path, rows, options(), by_axiom("REG", 0.81))
    assert {low: n for low, n in made.counts["probabilities_from"].items() if n} == {"0.80": 30}


def tied_rows(documents: int = 200) -> list[dict[str, Any]]:
    """Four queries a document; REG tells only the fourth from the others, so half of the pairs are ties."""
    return [row(d, s, f"d{d} q{s}", reg=float(s == 3)) for d in range(documents) for s in range(4)]


def test_ties_are_dropped_and_others_are_looked_for(tmp_path: Path) -> None:
    made = Made(tmp_path, tied_rows(), options(), by_axiom("REG"))
    assert made.counts["pairs"] == 400
    assert all(preferred.endswith("q3") for preferred, _ in made.pairs())
    assert made.counts["dropped"]["tie"] == made.counts["pairs_considered"] - 400 > 0


def test_the_first_pairs_drawn_may_be_dropped(tmp_path: Path) -> None:
    made = Made(tmp_path, tied_rows(), options(draw="first"), by_axiom("REG"))
    assert made.counts["pairs_considered"] == 400
    assert made.counts["pairs"] == 400 - made.counts["dropped"]["tie"]
    assert 150 < made.counts["pairs"] < 250
    none = sum(not any(g["position"] == d for g in made.groups) for d in range(200))
    assert made.counts["documents_without_pairs"]["none_accepted"] == none > 0


def test_retained_ties_prefer_either_query_as_drawn(tmp_path: Path) -> None:
    rows = [row(d, s, f"q{s}") for d in range(400) for s in range(2)]
    made = Made(tmp_path, rows, options(ties="keep", pairs_per_document=1), by_axiom("REG"))
    assert made.counts["pairs"] == 400
    assert made.counts["dropped"]["tie"] == 0
    assert all(group["scores"] == [0.5, 0.5] for group in made.groups)
    assert 150 < Counter(made.pairs())[("q0", "q1")] < 250


def test_a_threshold_keeps_confident_pairs(tmp_path: Path) -> None:
    table = (by_axiom("REG", 0.9) + by_axiom("RANK", 0.6)) / 2  # 0.75 where they agree, at most 0.7 otherwise
    rows = [
        row(d, s, f"d{d} q{s}", reg=float(s % 2), rank=1 + (s + d) % 2) for d in range(50) for s in range(2)
    ]
    made = Made(tmp_path, rows, options(threshold=0.7, pairs_per_document=1), table)
    assert made.counts["pairs"] == 25
    assert made.counts["dropped"]["below_threshold"] == 25
    assert all(group["scores"][0] == pytest.approx(0.75) for group in made.groups)


def test_strict_pairs_are_those_on_which_axioms_agree(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(5), 300, 4)
    chosen = {"agreement": "strict", "pairs_per_document": 6, "axioms": ["RANK", "REP-QL", "REG", "STM-2"]}
    columns = [AXIOMS.index(axiom) for axiom in chosen["axioms"]]
    made = Made(tmp_path, rows, options(**chosen))
    fates: Counter[str] = Counter()
    expected: set[tuple[str, str]] = set()
    whole: set[tuple[str, str]] = set()
    for start in range(0, len(rows), 4):
        for i in range(4):
            for j in range(i + 1, 4):
                one, other = rows[start + i], rows[start + j]
                found = [reference_features(one, other, THRESHOLD)[column] for column in columns]
                if 1 in found and -1 in found:
                    fates["conflict"] += 1
                elif not any(found):
                    fates["no_preference"] += 1
                else:
                    pair = (one["query"], other["query"]) if 1 in found else (other["query"], one["query"])
                    expected.add(pair)
                    if all(found):
                        whole.add(pair)
    assert set(made.pairs()) == expected != whole
    assert len(made.groups) == len(expected)
    assert made.counts["dropped"]["conflict"] == fates["conflict"]
    assert made.counts["dropped"]["no_preference"] == fates["no_preference"]
    assert made.counts["pairs_considered_on_which_all_prefer_the_same"] == len(whole)
    assert all(group["scores"] == [1.0, 0.0] for group in made.groups)


def test_all_nine_axioms_are_looked_at_by_default(tmp_path: Path) -> None:
    rows = [row(0, 0, "a b", reg=2.0, prox_2=9.0), row(0, 1, "c d", reg=1.0, prox_2=1.0)]
    assert Made(tmp_path / "all", rows, options(agreement="strict")).groups == []
    some = Made(tmp_path / "some", rows, options(agreement="strict", axioms=["REG"]))
    assert some.pairs() == [("a b", "c d")]


def test_only_queries_of_equal_length_make_pairs(tmp_path: Path) -> None:
    rows = [row(0, s, text, reg=float(s)) for s, text in enumerate(["a", "b c", "d", "e f g"])]
    rows += [row(1, s, text, reg=float(s)) for s, text in enumerate(["a", "b c"])]
    made = Made(tmp_path, rows, options(), by_axiom("REG"))
    assert made.pairs() == [("d", "a")]
    assert made.counts["pairs_of_equal_length"] == 1
    assert made.counts["documents_without_pairs"]["no_two_of_equal_length"] == 1


def test_draws_are_those_of_numpy_s_stream(tmp_path: Path) -> None:
    """The order, replayed with NumPy's generator of the same name."""
    rows = [row(d, s, f"q{s}", reg=float(s)) for d in range(40) for s in range(5)]
    made = Made(tmp_path, rows, options(pairs_per_document=3), by_axiom("REG"), seed=7)
    for document in range(40):
        rng = generator(7, "ares", f"d{document}")
        pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
        expected = []
        for location in range(3):
            drawn = location + int(rng.random() * (len(pairs) - location))
            pairs[location], pairs[drawn] = pairs[drawn], pairs[location]
            rng.random()  # whether the two are swapped, which a predictor's answer does not depend on
            expected.append((f"q{pairs[location][1]}", f"q{pairs[location][0]}"))
        assert [
            pair for g, pair in zip(made.groups, made.pairs(), strict=True) if g["position"] == document
        ] == expected


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 50))
def test_batches_hold_whole_documents(
    tmp_path_factory: pytest.TempPathFactory, seed: int, documents: int, size: int
):
    from irpretrain.axioms.axiom_values import whole_documents

    rng = np.random.default_rng(seed)
    rows = [
        row(d, s, "a " * int(rng.integers(1, 4)) + "b")
        for d in range(documents)
        for s in range(int(rng.integers(1, 9)))
    ]
    path = write(tmp_path_factory.mktemp("values") / "values.parquet", rows)
    batches = list(whole_documents(path, size))
    assert [name for batch in batches for name in batch.document_ids] == [f"d{d}" for d in range(documents)]
    assert [q for batch in batches for q in batch.rows["query"].to_pylist()] == [one["query"] for one in rows]
    for batch in batches:
        assert batch.word_counts.tolist() == [len(text.split()) for text in batch.rows["query"].to_pylist()]
        names = batch.rows["document_id"].to_pylist()
        for start, end in zip(batch.document_starts[:-1], batch.document_starts[1:], strict=True):
            assert len(set(names[start:end])) == 1


def test_shards_change_no_byte(tmp_path: Path) -> None:
    rows = random_rows(np.random.default_rng(2), 50, 6)
    whole = Made(tmp_path / "whole", rows, options(), random_table())
    shards = [
        Made(tmp_path / f"shard{i}", part, options(), random_table()).output
        for i, part in enumerate((rows[: 17 * 6], rows[17 * 6 :]))
    ]
    merge_groups([[whole.output]], tmp_path / "one.parquet")
    merge_groups([shards[::-1]], tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    other = Made(tmp_path / "other", rows, options(), random_table(), seed=2)
    assert other.pairs() != whole.pairs()


def test_a_shard_without_pseudo_queries_gives_no_groups(tmp_path: Path) -> None:
    made = Made(tmp_path, [], options(), random_table(), empty_documents=2)
    assert made.groups == []
    assert made.counts["documents_without_pairs"]["no_pseudo_queries"] == 2
    assert made.counts["pairs_considered"] == 0


def test_a_predictor_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a trained predictor"):
        Made(tmp_path, [row(0, 0)], options())


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"predictor": None}, "predictor: is missing; name a predictor"),
        (
            {"agreement": "strict", "predictor": "simple"},
            "predictor: simple has no use with agreement strict",
        ),
        ({"axioms": ["RANK"]}, "axioms: the predictor has its own"),
        ({"agreement": "strict", "axioms": ["RANK", "RANK"]}, "axioms: RANK is listed twice"),
        ({"agreement": "strict", "threshold": 0.7}, "threshold: agreement strict has no probabilities"),
        ({"threshold": 0.4}, "threshold: should be greater than or equal to 0.5"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        explain(AresOptions, {**defaults(changes), **changes}, "ares")
