"""The configuration and the small run that the tests of the report share."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import ROOT, rows_of, write_results

from base_config import base_config
from irpretrain.config import Config, load_config, parse_config
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import with_caveats


@pytest.fixture(scope="session")
def config() -> Config:
    """The embedded default's configuration, as the workflow hands it on."""
    manifest = read_manifest(ROOT / "resources" / "embedded.yaml")
    return with_caveats(load_config(ROOT / "tests/base.yaml"), manifest)


@pytest.fixture(scope="session")
def config_of():
    """A function from models' names (and other sections) to the default's configuration with these models."""

    def make(*models: str, **sections) -> Config:
        content = base_config()
        for name in models:
            content["models"].setdefault(
                name, {"label": name.title(), "collection": "pretraining", "tasks": [{"objective": "rop"}]}
            )
        if "datasets" in sections:  # the default's predictors learn from one that is not there then
            content |= {"predictors": {}, "diagnoses": {}, "term_weights": {}}
            content |= {"weight_distributions": {}, "term_weight_pages": {}}
            del content["objectives"]["ares-simple"], content["models"]["ares-simple"]
        return parse_config({**content, **sections})

    return make


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    """scores.csv and per_query.parquet of the small run on `squad`."""
    return write_results(tmp_path_factory.mktemp("results"), rows_of("squad"))
