"""A tiny random BERT encoder and tiny token stores, shared by the tests that need a model."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS
from irpretrain.foundation.garbage import raise_gc_threshold
from irpretrain.objectives.groups import Span, group
from small_documents import document_rows
from tiny_models import write_encoder

# Tests assert results, never times; every run draws the same examples: few in `make test`, many in `make test-deep`.
for name, examples in (("few", 10), ("many", 150)):
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("few")

raise_gc_threshold()

# Java compiles thoroughly what runs for long; in tests, which start it many times, that costs more than it saves.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

# Every shell sets it; messages show paths from there (`screen.job_output`).
os.environ.setdefault("PWD", os.getcwd())

# A make of `make test` hands its flags on to those that tests start, whose output is then another one.
for inherited in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(inherited, None)

MAKES_THE_RUN = "test_workflow.py"
"""The file with which a process begins that makes the run `finished` (tests/workflow/conftest.py)."""
LONG = ("test_readme.py", "test_tutorial.py")
"""Files that begin first of those that go on from it, so that the processes end together."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Each of several processes takes one core."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One of several processes makes the run that files go on from; these files come last."""
    if hasattr(config, "workerinput"):
        waiting = {item.path for item in items if "finished" in _fixtures(item)}
        items.sort(
            key=lambda item: (
                item.path.name != MAKES_THE_RUN,
                item.path in waiting,
                item.path.name not in LONG,
                item.get_closest_marker("workflow") is None,
            )
        )


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else ()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their parameter and numbered, as pytest names objects.

    Bytes can hold the time (a gzip header does), and processes that name tests differently cannot share them out.
    """
    return argname if isinstance(val, bytes) else None


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
    from irpretrain.text.token_store import write_token_store

    def make(documents: dict[str, str], name: str = "store", positions: bool = False, **options: Any) -> Path:
        rows = document_rows(documents)
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
            group((0, position), queries, [Span(document)])
            for position, (document, *queries) in enumerate(pairs)
        ]
        path = tmp_path / f"{name}.parquet"
        GROUPS.write(path, rows)
        return path

    return make
