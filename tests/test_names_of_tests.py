"""Tests have the same names in every process: several processes share the tests out by name."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
BYTES, OBJECT = gzip.compress(b"compressed bytes hold the time"), object()


def names_in_a_process_of_its_own(hash_seed: str) -> list[str]:
    """The names of all tests, in the order in which they are collected."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--assert=plain", str(TESTS)]
    # One line a test: as many -q as that takes, whatever `addopts` holds.
    environment = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTEST_ADDOPTS": "-o addopts=-pno:cacheprovider",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.deep
def test_two_collections_at_different_times_are_equal():
    first = names_in_a_process_of_its_own("1")
    assert len(first) > 4000
    assert len(set(first)) == len(first)
    assert names_in_a_process_of_its_own("2") == first


@pytest.mark.parametrize("value", [BYTES, OBJECT, b"", {}, pytest.param(b"", id="explicit")])
def test_no_name_holds_bytes(value, request):
    """They are numbered: the same bytes or object may look different in another process."""
    assert re.fullmatch(r"value\d+|explicit", request.node.callspec.id)
