"""The example in the rank engine's docstring runs as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

from irpretrain import rank_engine


def test_the_example_runs(tmp_path: Path) -> None:
    done = doctest.testmod(rank_engine, extraglobs={"folder": tmp_path / "postings"})
    assert (done.attempted, done.failed) == (5, 0)
