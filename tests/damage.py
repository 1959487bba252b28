"""Sound files with some damage, for the tests that give parsers whatever bytes."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

Pack = Callable[[bytes], bytes]
PACKINGS: tuple[Pack, ...] = (bytes, bytes, bytes, gzip.compress, bz2.compress, lzma.compress)
"""Mostly as it is."""


@st.composite
def damaged(
    draw: st.DrawFn, sound: bytes, tokens: Sequence[bytes], packings: Sequence[Pack] = PACKINGS
) -> bytes:
    """Sound bytes with a few places overwritten by others or by `tokens`, packed, sometimes cut off; or noise.

    Where they are compressed, a byte of that may be wrong too.
    """
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    data = bytearray(sound)
    for _ in range(draw(st.integers(1, 5))):
        position = draw(st.integers(0, len(data)))
        data[position : position + draw(st.integers(0, 8))] = draw(
            st.binary(max_size=8) | st.sampled_from(tokens)
        )
    packed = draw(st.sampled_from(packings))(bytes(data))
    if packed != data and draw(st.booleans()):
        position = draw(st.integers(0, len(packed) - 1))
        packed = packed[:position] + bytes([packed[position] ^ 0x55]) + packed[position + 1 :]
    return packed[: draw(st.integers(0, len(packed)))] if draw(st.booleans()) else packed
