"""Weightings of words as indexes that first stages name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from irpretrain.config import parse_config
from irpretrain.config.consistency import longest_sequences, used_datasets, used_weightings
from irpretrain.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def given():
    """The default without DeepCT's own experiments."""
    return {**yaml.safe_load((ROOT / "config.yaml").read_text()), "report": {"papers": ["prop"]}}


def test_what_a_first_stage_searches_is_used_only_where_an_experiment_shows_it(given):
    given["first_stages"] = {"roots": {"label": "BM25", "index": "deepct-root"}}
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
    if section == "first_stages":
        given["experiments"]["stages"] = {"dataset": "squad", "first_stages": list(entries)}
    with pytest.raises(ConfigError, match=expected.replace("?", r"\?")):
        parse_config(given)
