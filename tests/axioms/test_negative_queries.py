"""Negatives of a predictor have as many terms as their judged queries, in every setting."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contrastive_reference import distribution
from made_collection import MadeCollection, write_shards
from made_values import row, write
from scipy import stats

from irpretrain.axioms.contrastive import read_contrastive_model
from irpretrain.axioms.predictor_pairs import make_pairs, read_candidates
from irpretrain.axioms.predictor_queries import sample_negative_queries
from irpretrain.config.axioms import AxiomsConfig, PredictorConfig, PseudoQueriesConfig
from irpretrain.foundation.contracts import DOCUMENT_QUERIES
from irpretrain.text.stop_words import stems_of
from irpretrain.text.word_store import WordStore

TEXTS = [
    "park parks parked river",
    "the city park walks",
    "walk walking river city stone bridge",
    "the",
    "stone",
]


def options(**given: Any) -> PseudoQueriesConfig:
    base = {"stop_list": "none", "minimum_count": 1, "support": "collection", "temperature": 0.3}
    return PseudoQueriesConfig(**{**base, "per_document": 3, **given})


class Made(MadeCollection):
    """Negative queries of judged queries, given as (number of the document, id, terms)."""

    def __init__(
        self,
        folder: Path,
        judged: list[tuple[int, str, int]],
        drawn: PseudoQueriesConfig,
        texts: list[str] = TEXTS,
    ) -> None:
        super().__init__(folder, write_shards(folder, texts))
        sample = Counter[int]()
        rows = []
        for document, query_id, terms in judged:
            rows.append(row(document, sample[document], "asked", query_id, terms=terms))
            sample[document] += 1
        tables = write(folder / "judged.parquet", rows), self.stores, self.statistics
        output = folder / "negatives.parquet"
        self.counts = sample_negative_queries(*tables, drawn, AxiomsConfig(), 1, output)
        self.rows: list[dict[str, Any]] = DOCUMENT_QUERIES.read(output).to_pylist()


def terms_of(query: str) -> list[str]:
    return [stem for word, stem in zip(query.split(), stems_of(query.split()), strict=True) if word != "the"]


@pytest.mark.parametrize("temperature", [1.0, 0.05, 0.001])
@pytest.mark.parametrize("support", ["collection", "document"])
def test_each_judged_query_gets_queries_of_its_number_of_terms(tmp_path: Path, support, temperature) -> None:
    judged = [(0, "q1", 1), (0, "q2", 2), (2, "q3", 5), (2, "q0", 0), (4, "q4", 1)]
    made = Made(tmp_path, judged, options(support=support, temperature=temperature))
    assert Counter(one["query_id"] for one in made.rows) == {"q1": 3, "q2": 3, "q3": 3, "q4": 3}
    expected = {query: terms for _, query, terms in judged}
    for one in made.rows:
        terms = terms_of(one["query"])
        assert len(terms) == len(set(terms)) == len(one["query"].split()) == expected[one["query_id"]]
    positions = [(one["part"], one["position"], one["sample"]) for one in made.rows]
    assert len(set(positions)) == len(positions)
    assert positions == sorted(positions)
    assert made.counts["judged_queries_without_terms"] == 1
    assert made.counts["queries"] == len(made.rows)


def test_a_query_longer_than_the_words_that_can_be_drawn_is_counted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    judged = [(0, "q1", 2), (0, "q2", 3), (3, "q3", 1)]
    made = Made(tmp_path, judged, options(support="document"))
    assert {one["query_id"] for one in made.rows} == {"q1"}
    assert made.counts["judged_queries_too_long"] == 2
    assert "left out: 2 of 3 judged queries, which have more terms" in capfd.readouterr().err
    everywhere = Made(tmp_path / "collection", judged, options())
    assert {one["query_id"] for one in everywhere.rows} == {"q1", "q2", "q3"}
    assert everywhere.counts["judged_queries_too_long"] == 0


def test_draws_depend_on_document_and_query_alone(tmp_path: Path) -> None:
    judged = [(0, "q1", 2), (0, "q2", 2), (2, "q3", 4), (4, "q4", 3)]
    whole, some = (
        [(one["query_id"], one["query"]) for one in Made(tmp_path / name, chosen, options()).rows]
        for name, chosen in (("whole", judged), ("some", judged[1:3]))
    )
    assert some == whole[3:9]
    assert [query for _, query in whole[:3]] != [query for _, query in whole[3:6]]


def test_words_follow_the_contrastive_law_among_words_that_add_a_term(tmp_path: Path) -> None:
    """Two terms of six words with two stems and a stop word, against every sequence of words (chi-square)."""
    texts = ["park parks parked the river rivers", "the park"]
    drawn = options(support="document", per_document=10)
    made = Made(tmp_path, [(0, f"q{number}", 2) for number in range(600)], drawn, texts)
    model = read_contrastive_model(made.statistics, drawn)
    shares = distribution(
        model, np.array(WordStore(made.stores[0]).words[:6]), drawn.temperature, drawn.support
    )
    words = dict(zip(model.words.to_pylist(), shares, strict=True))
    expected = {}
    for first, second in itertools.permutations((word for word in words if word != "the"), 2):
        if first[:3] != second[:3]:
            left = {word: share for word, share in words.items() if word != "the"}
            others = sum(share for word, share in left.items() if word[:3] != first[:3])
            expected[f"{first} {second}"] = left[first] / sum(left.values()) * left[second] / others
    assert sum(expected.values()) == pytest.approx(1)
    observed = Counter(one["query"] for one in made.rows)
    assert set(observed) <= set(expected)
    law = [chance * len(made.rows) for chance in expected.values()]
    assert stats.chisquare([observed[query] for query in expected], law).pvalue > 1e-3


def predictor(**given: Any) -> PredictorConfig:
    return PredictorConfig(**{"label": "Made up", "collection": "made", "dataset": "made", **given})


@pytest.mark.parametrize(("setting", "used"), [("I", 4), ("II", 4), ("III", 2), ("IV", 3)])
def test_settings_choose_among_the_queries_of_each_judged_query(tmp_path: Path, setting, used) -> None:
    """Two judged queries of one document: RANK 1 of a query of one of them says nothing about the other."""
    ranks = {"q1": (1, 0), "q2": (2, 3), "q3": (1, 1), "q4": (0, 9)}
    terms = {"q1": 2, "q2": 5, "q3": 1, "q4": 7}
    judged = [row(number // 2, number % 2, "x", name, terms=terms[name]) for number, name in enumerate(ranks)]
    pseudo = [
        row(number // 2, 2 * (number % 2) + position, "y", name, terms=terms[name], rank=rank)
        for number, name in enumerate(ranks)
        for position, rank in enumerate(ranks[name])
    ]
    options = predictor(setting=setting, negative_terms="equal")
    tables = write(tmp_path / "judged.parquet", judged), [write(tmp_path / "pseudo.parquet", pseudo)]
    pairs = make_pairs(read_candidates(*tables, options), options, 0.05, 1)
    assert len(pairs) == pairs.counts["pairs_of_equal_terms"] == used
    assert pairs.counts["judged_queries_ignored_by_setting"] == 4 - used
    assert pairs.counts["mean_terms_of_judged"] == pairs.counts["mean_terms_of_negatives"]
