"""The configuration and the small run that the tests of the report share."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
from page_reader import plain_text
from small_run import DEEPCT_YAML, MANIFEST, ROOT, flat_rows, rows_of, write_results

from base_config import base_config
from irpretrain.config import Config, load_config, parse_config
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import with_caveats
from irpretrain.report.html import write_report
from irpretrain.report.result_files import ResultFiles


@pytest.fixture(scope="session")
def config() -> Config:
    """The embedded default's configuration, as the workflow hands it on."""
    manifest = read_manifest(MANIFEST)
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


@pytest.fixture
def deepct_section(config: Config, tmp_path: Path) -> Callable[..., str | None]:
    """A function from an identifier, and result files beside the scores, to the text of that fold of DeepCT's page,
    or None where the page has no such fold."""
    results = write_results(tmp_path, flat_rows("squad-first-stages", {}))
    (tmp_path / "results/figures").mkdir(parents=True)
    (tmp_path / "results/figures/deepct_figure1.svg").write_text("<svg/>")

    def text_of(identifier: str, **files: Any) -> str | None:
        page, deepct = tmp_path / "page.html", config.of_papers(["deepct"])
        write_report(
            deepct, [DEEPCT_YAML], ResultFiles(*results, **files), tmp_path / "results", MANIFEST, page
        )
        text = page.read_text(encoding="utf-8")
        found = re.search(rf'<details id="{identifier}">.*?</details>', text, re.DOTALL)
        return found and plain_text(found[0])

    return text_of


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Browser]:
    program = chromium.find()
    if program is None:
        pytest.skip("no Chromium or Chrome on the PATH")
    with chromium.Browser(program) as started:
        yield started
