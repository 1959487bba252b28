"""Tests have the same names in every process: several processes share the tests out by name."""

import gzip
import re

import pytest

BYTES, OBJECT = gzip.compress(b"compressed bytes hold the time"), object()


@pytest.mark.parametrize("value", [BYTES, OBJECT, b"", {}, pytest.param(b"", id="explicit")])
def test_no_name_holds_bytes(value, request):
    """They are numbered: the same bytes or object may look different in another process."""
    assert re.fullmatch(r"value\d+|explicit", request.node.callspec.id)
