"""Weightings of words as indexes that first stages name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from irpretrain.config import parse_config
from irpretrain.config.consistency import longest_sequences, used_corpora, used_datasets, used_weightings
from irpretrain.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def given():
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def test_what_a_first_stage_searches_is_used_only_where_an_experiment_shows_it(given):
    given["first_stages"] = {"roots": {"label": "BM25", "index": "deepct-root"}}
    given["weight_distributions"], given["term_weight_pages"] = {}, {}
    assert used_weightings(parse_config(given)) == []
    given["experiments"]["stages"] = {"dataset": "squad", "models": [], "first_stages": ["roots"]}
    config = parse_config(given)
    assert used_weightings(config) == ["deepct"]
    assert "squad-fit" in used_datasets(config)
    assert longest_sequences(config)["term_weights.deepct.max_length"] == 128


@pytest.mark.parametrize(
    ("section", "entries", "expected"),
    [
        ("term_weights", {"tf": {"label": "tf", "model": "tf"}}, "tf means the index of term frequencies"),
        ("first_stages", {"a": {"label": "a", "index": "deepkt"}}, "did you mean deepct?"),
        (
            "first_stages",
            {"a": {"label": "a", "model": "indri", "query_weights": "deepct"}},
            "'deepct' is not in term_weights of kind queries",
        ),
        ("indexes", {"deepct": {"type": "textrank"}}, "term_weights.deepct: deepct is an index"),
    ],
)
def test_faults_of_weightings_and_first_stages_are_explained(given, section, entries, expected):
    given.setdefault(section, {}).update(entries)
    with pytest.raises(ConfigError, match=expected.replace("?", r"\?")):
        parse_config(given)


def test_views_of_weights_name_what_there_is(given):
    given["weight_distributions"] = {
        "mine": {"label": "x", "corpora": ["squad-dev", "squid"], "weightings": ["tf", "deepkt", "tf"]}
    }
    given["term_weight_pages"] = {
        "page": {"dataset": "squat", "weightings": ["deepct-query"], "first_stages": ["bm26"]}
    }
    with pytest.raises(ConfigError) as caught:
        parse_config(given)
    text = str(caught.value)
    for expected in (
        "weight_distributions.mine.corpora: 'squid' is not in corpora",
        "weight_distributions.mine.weightings: 'deepkt' is not in indexes; did you mean deepct?",
        "weight_distributions.mine.weightings: tf is listed twice; list each once",
        "term_weight_pages.page.dataset: 'squat' is not in datasets; did you mean squad?",
        "term_weight_pages.page.weightings: 'deepct-query' is not in indexes",
        "term_weight_pages.page.first_stages: 'bm26' is not in first_stages; did you mean bm25?",
    ):
        assert expected in text


def test_a_distribution_uses_its_weightings_where_the_report_shows_deepct(given):
    given["first_stages"], given["term_weight_pages"] = {}, {}
    given["experiments"] = {"zero-shot": given["experiments"]["zero-shot"]}
    shown = {"label": "x", "corpora": ["squad-fit"], "weightings": ["tf", "deepct-root"]}
    given["weight_distributions"] = {"mine": shown}
    config = parse_config(given)
    assert used_weightings(config) == ["deepct"]
    assert "squad-fit" in used_corpora(config)
    given["report"]["papers"] = ["prop"]
    assert used_weightings(parse_config(given)) == []
