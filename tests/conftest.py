"""A tiny random BERT encoder and tiny token stores, shared by the tests that need a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, GROUPS
from irpretrain.objectives.groups import Span, group
from tiny_models import write_encoder

# Tests assert results, never times; in CI the same examples every time, elsewhere new ones each time.
settings.register_profile(
    "project", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")

SHARED_RUN = tuple(f"tests/workflow/test_{name}.py" for name in ("readme", "screen", "workflow"))
"""Files of tests on the run of `finished`, which takes minutes to make."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Each of several processes takes one core."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each file goes to one process, for what its tests share; files on one run are as one file."""
    from xdist.scheduler import LoadFileScheduling

    class WholeFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "the shared run" if file in SHARED_RUN else file

    config.option.loadscopereorder = False  # the order of `pytest_collection_modifyitems`
    return WholeFiles(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes begin with the workflow, of which a single file can take ten minutes."""
    sharing = {item.nodeid.partition("::")[0] for item in items if "finished" in _fixtures(item)}
    assert sharing <= {*SHARED_RUN}, (
        f"tests on the run of `finished` are in {sorted(sharing)}; name all these files in SHARED_RUN of "
        "tests/conftest.py, or each process makes a run of its own"
    )
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("workflow") is None)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their parameter and numbered, as pytest names objects.

    Bytes can hold the time (a gzip header does), and processes that name tests differently cannot share them out.
    """
    return argname if isinstance(val, bytes) else None


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else ()


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the tiny encoder without dropout."""
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def make_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that writes a tiny encoder with other options."""
    return lambda **changes: write_encoder(tmp_path_factory.mktemp("encoder") / "tiny", **changes)


@pytest.fixture
def make_store(tmp_path: Path, tiny_encoder: Path) -> Callable[..., Path]:
    """Return a function that writes a token store of {document id: text}."""
    from irpretrain.text.store_tokens import write_token_store

    def make(documents: dict[str, str], name: str = "store", positions: bool = False, **options: Any) -> Path:
        rows = [
            {"document_id": key, "part": 0, "position": place, "title": "", "url": "", "body": body}
            for place, (key, body) in enumerate(documents.items())
        ]
        table = tmp_path / f"{name}.parquet"
        DOCUMENTS.write(table, rows)
        text = TextConfig(words="alphanumeric", **options)
        write_token_store(table, tiny_encoder, text, tmp_path / name, positions=positions)
        return tmp_path / name

    return make


@pytest.fixture
def make_groups(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes ROP groups of (document id, preferred query, other query)."""

    def make(pairs: Sequence[tuple[str, str, str]], name: str = "groups") -> Path:
        rows = [
            group((0, place), queries, [Span(document)]) for place, (document, *queries) in enumerate(pairs)
        ]
        path = tmp_path / f"{name}.parquet"
        GROUPS.write(path, rows)
        return path

    return make
