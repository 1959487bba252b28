"""Files of several bzip2 or xz streams, as parallel packers write them, unpacked whole or called damaged."""

import bz2
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PACKED_AT_ONCE = 1 << 16


class Streams(io.RawIOBase):
    """The unpacked streams of a bzip2 or xz file.

    Python's own readers take a damaged stream after the first one for foreign bytes, and end without an error.
    """

    def __init__(self, path: str | Path, new: Callable[[], Any], padding: int) -> None:
        """Zeros between streams, as many as a multiple of `padding`, are passed over, as in gzip files."""
        self._file = open(path, "rb")  # noqa: SIM115 - closed in `close`
        self._new, self._padding = new, padding
        self._packed = b""
        self._stream: Any = None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        text = self._read(len(buffer))
        buffer[: len(text)] = text
        return len(text)

    def _read(self, size: int) -> bytes:
        while True:
            if self._stream is None:
                self._pass_zeros()
                if not self._packed:
                    return b""
                self._stream = self._new()
            elif self._stream.needs_input and not self._packed:
                self._packed = self._file.read(_PACKED_AT_ONCE)
                if not self._packed:
                    raise EOFError("the file ends within a stream")
            text: bytes = self._stream.decompress(self._packed, size)
            self._packed = self._stream.unused_data
            if self._stream.eof:
                self._stream = None
            if text:
                return text

    def _pass_zeros(self) -> None:
        zeros = 0
        while True:
            found = self._packed.lstrip(b"\0")
            zeros += len(self._packed) - len(found)
            self._packed = found or self._file.read(_PACKED_AT_ONCE)
            if found or not self._packed:
                break
        if zeros % self._padding:
            raise EOFError("the zeros between two streams are too few or too many")


STREAMS: dict[str | None, tuple[Callable[[], Any], int]] = {
    "bzip2": (bz2.BZ2Decompressor, 1),
    "xz": (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), 4),  # The .xz File Format, section 2.2
}
