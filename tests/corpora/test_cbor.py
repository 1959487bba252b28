"""CBOR: whatever is written is read, whatever is broken is told with its byte."""

from __future__ import annotations

import io
import math

import pytest
from cbor_writer import Unknown, dumps
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.corpora.formats.car import CarError, CborReader, CborTooLargeError
from irpretrain.foundation import records

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**64), 2**64 - 1), st.floats(allow_nan=False), st.binary(max_size=30),
        st.text(max_size=30),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(Unknown),
        st.dictionaries(st.text(max_size=5), inner, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


def read(content: bytes):
    return CborReader(io.BytesIO(content)).item()


@given(values)
def test_what_is_written_is_read(value):
    content = dumps(value)
    reader = CborReader(io.BytesIO(content + dumps("next")))
    assert reader.item() == value
    assert reader.offset == len(content)
    assert reader.item() == "next"
    assert reader.peek() == b""


# Appendix A of RFC 8949.
EXAMPLES = {
    "00": 0, "1818": 24, "1903e8": 1000, "1bffffffffffffffff": 18446744073709551615, "20": -1, "3863": -100,
    "3bffffffffffffffff": -18446744073709551616, "f90000": 0.0, "f93e00": 1.5, "fa47c35000": 100000.0,
    "fbc010666666666666": -4.1, "f97c00": math.inf, "f4": False, "f5": True, "f6": None,
    "4401020304": b"\x01\x02\x03\x04",
    "6449455446": "IETF", "62c3bc": "ü",
    "8301820203820405": [1, [2, 3], [4, 5]], "a201020304": {1: 2, 3: 4}, "7f657374726561646d696e67ff": "streaming",
    "5f42010243030405ff": b"\x01\x02\x03\x04\x05", "9f018202039f0405ffff": [1, [2, 3], [4, 5]],
    "bf61610161629f0203ffff": {"a": 1, "b": [2, 3]},
}  # fmt: skip


@pytest.mark.parametrize(("content", "value"), EXAMPLES.items())
def test_examples_of_the_standard(content, value):
    assert read(bytes.fromhex(content)) == value


@pytest.mark.parametrize(
    ("content", "reason", "byte"),
    [
        (b"\x82\x01", "the file breaks off", 2),
        (b"\x65abc", "the file breaks off", 4),
        (b"\x19\x01", "the file breaks off", 2),
        (b"\x7b\x00\xff\xff\xff\xff\xff\xff\xffa", "the file breaks off", 10),
        (b"\x1c", "unknown unsigned integer subtype 0x1c", 1),
        (b"\xff", "break code encountered", 1),
        (b"\x82\x01\xff", "break code encountered", 3),
        (b"\xa1\xff", "break code encountered", 2),
        (b"\xbf\x01\xff", "missing value for key", 3),
        (b"\x62\xc3\x28", "error decoding text string", 3),
        (b"\x7f\x41a\xff", "non-text string", 2),
        (b"\x81" * 200, "nesting depth (100) exceeded", 101),
    ],
)
def test_faults_have_a_byte(content, reason, byte):
    reader = CborReader(io.BytesIO(content))
    with pytest.raises(CarError) as caught:
        reader.item()
    assert reason in str(caught.value)
    assert reader.offset == byte


def test_items_are_bounded(monkeypatch):
    monkeypatch.setattr(records, "max_record_bytes", lambda: 10)
    assert read(dumps([1] * 9)) == [1] * 9
    with pytest.raises(CborTooLargeError):
        read(dumps([1] * 11))
    with pytest.raises(CborTooLargeError):
        read(b"\x9b\x00\x00\x00\xff\xff\xff\xff\xff" + b"\x01" * 100)
