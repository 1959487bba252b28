"""The configuration and the small run that the tests of the report share."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import ROOT, rows_of, write_results

from irpretrain.config import Config, load_config
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import with_caveats


@pytest.fixture(scope="session")
def config() -> Config:
    """The embedded default's configuration, as the workflow hands it on."""
    manifest = read_manifest(ROOT / "resources" / "embedded.yaml")
    return with_caveats(load_config(ROOT / "config.yaml"), manifest)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """scores.csv and per_query.parquet of the small run on `squad`."""
    return write_results(tmp_path_factory.mktemp("results"), rows_of("squad"))
