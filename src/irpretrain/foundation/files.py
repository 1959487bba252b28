"""A source's files: opened whatever their compression, read line by line with a bound."""

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, AnyStr, Literal, cast

from irpretrain.foundation.characters import without_marks
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.foundation.records import (
    MEND_RECORD,
    WHOLE_FILE,
    Malformed,
    Share,
    max_record_bytes,
    max_record_parts,
    too_large,
)

# Files of several bzip2 or xz streams, as parallel packers write them, unpacked whole or called damaged.

_READ_BYTES = 1 << 16


class Streams(io.RawIOBase):
    """The unpacked streams of a bzip2 or xz file.

    Python's own readers take a damaged stream after the first one for foreign bytes, and end without an error.
    """

    def __init__(self, path: str | Path, open_stream: Callable[[], Any], padding: int) -> None:
        """Zeros between streams, as many as a multiple of `padding`, are passed over, as in gzip files."""
        self._file = open(path, "rb")  # noqa: SIM115 - closed in `close`
        self._open_stream, self._padding = open_stream, padding
        self._packed = b""
        self._stream: Any = None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _read(self, size: int) -> bytes:
        while True:
            if self._stream is None:
                self._pass_zeros()
                if not self._packed:
                    return b""
                self._stream = self._open_stream()
            elif self._stream.needs_input and not self._packed:
                self._packed = self._file.read(_READ_BYTES)
                if not self._packed:
                    raise EOFError("the file ends within a stream")
            content: bytes = self._stream.decompress(self._packed, size)
            self._packed = self._stream.unused_data
            if self._stream.eof:
                self._stream = None
            if content:
                return content

    def _pass_zeros(self) -> None:
        zero_count = 0
        while True:
            without_zeros = self._packed.lstrip(b"\0")
            zero_count += len(self._packed) - len(without_zeros)
            self._packed = without_zeros or self._file.read(_READ_BYTES)
            if without_zeros or not self._packed:
                break
        if zero_count % self._padding:
            raise EOFError("the zeros between two streams are too few or too many")


STREAMS: dict[str | None, tuple[Callable[[], Any], int]] = {
    "bzip2": (bz2.BZ2Decompressor, 1),
    "xz": (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), 4),  # The .xz File Format, section 2.2
}


COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
Compression = Literal["gzip", "bzip2", "xz", "zstandard"]
Encoding = Literal["utf-8", "latin-1", "windows-1252"]

_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")

# Where a tar archive has its magic (POSIX 1003.1, ustar).
_TAR_MAGIC = slice(257, 262)

# Bytes of a file that show whether it is packed.
BEGINNING = _TAR_MAGIC.stop

# What files that are not read begin with, and what they are called.
_ARCHIVES = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "a zip archive without files",
    b"PK\x07\x08": "a part of a zip archive in several files",
    b"Rar!\x1a\x07": "a RAR archive",
    b"LZIP\x01": "packed by lzip",
    b"\x5d\0\0": "packed by lzma",
    b"\xff\x06\0\0sNaPpY": "packed by snappy",
    b"\x04\x22\x4d\x18": "packed by lz4",
    b"\x02\x21\x4c\x18": "packed by lz4",
    b"\x1f\x9d": "packed by Unix compress (.Z), which gunzip unpacks",
    b"PAR1\x15": "a Parquet file",
}

# What spreadsheets begin with, whatever their name: Excel's of before 2007, and zip archives whose first file is one of
# a workbook.
_SHEET = re.compile(
    rb"\xd0\xcf\x11\xe0|PK\x03\x04[\s\S]{26}(\[Content_Types\]|_rels/|docProps/|xl/|mimetypeapplication/vnd\.oasis)"
)
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")

_UNPACK = "Unpack it into a folder of its own, and give what comes out in its place."
# What is to be done where nothing can be unpacked.
_REMEDIES = {
    b"PK\x05\x06": "Get the file again.",
    b"PK\x07\x08": "Join the parts (zip -s 0 FILE.zip --out whole.zip), unpack that, and give what comes out.",
    b"PAR1\x15": "The format parquet reads documents in it. Of topics, judgements and runs make CSV: "
    """python -c "import sys, pyarrow.csv as c, pyarrow.parquet as p; c.write_csv(p.read_table(sys.argv[1]), """
    'sys.argv[2])" FILE FILE.csv',
}

# Begins a frame of Zstandard without content, as parallel compressors write one first (RFC 8878, 3.1.2).
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")

UNIX_LINES = "Save the file with Unix line ends (tr '\\r' '\\n')"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

# Pattern of characters that end no line here, and lines elsewhere (`str.splitlines`).
OTHER_LINE_END = "[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; `number` starts at 1."""

    number: int
    text: str

    @property
    def position(self) -> int:
        """That of the record that the line holds: its number less 1."""
        return self.number - 1

    def malformed(self, reason: str, detail: str) -> Malformed:
        return Malformed(self.position, reason, detail, self.number)

    def wrong_columns(self, detail: str) -> Malformed:
        """Return the fault of a line with other columns than needed; the lines of old Macs are one here."""
        return self.joined() if "\r" in self.text else self.malformed("wrong number of columns", detail)

    def joined(self) -> Malformed:
        """Return the fault of a line with a character in it that ended a line once."""
        detail = "only a line feed ends a line"
        reason = "several lines in one"
        return Malformed(self.position, reason, detail, self.number, remedy=UNIX_LINES, of_file=True)


@dataclass(frozen=True, slots=True)
class FieldLine:
    """One record of named fields, such as a JSON object or a row of a table, and its place."""

    position: int
    line: int | None  # None in files without lines
    fields: dict[str, Any]

    def malformed(self, reason: str, detail: str, remedy: str = MEND_RECORD) -> Malformed:
        return Malformed(self.position, reason, detail, self.line, remedy=remedy)


def refuse_pipe(path: str | Path) -> None:
    """Raise InputError for a pipe: reading the first bytes, which show the compression, loses them."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        remedy = "Write what it gives to a file, and name that."
        raise InputError(path, "this is a pipe or a device, which cannot be read twice", remedy=remedy)


def compression_of(path: str | Path) -> Compression | None:
    """Return how a file is compressed, known by its first bytes, not by its name."""
    refuse_pipe(path)
    try:
        with open(path, "rb") as handle:
            start = handle.read(BEGINNING)
    except OSError as error:
        raise _cannot_open(path, error) from None
    _refuse_archive(path, start)
    return compression_in(start)


def compression_in(start: bytes) -> Compression | None:
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    if start.startswith(b"BZh") and start[4:10] in _BZIP2_BLOCKS:
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return "zstandard" if start.startswith(b"\x28\xb5\x2f\xfd") or _SKIPPABLE.match(start) else None


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading, decompressed; InputError if impossible, or an archive (tar, 7z, zip, RAR, lz4)."""
    compression = compression_of(path)
    if compression is not None:
        with _open_as(path, compression) as stream, suppress(*DAMAGE):  # damage is reported when it is read
            refuse_packed(path, stream.read(_TAR_MAGIC.stop))
    return _open_as(path, compression)


def refuse_packed(path: str | Path, start: bytes) -> None:
    """Raise InputError where `start`, the first bytes of what a file unpacks to, begins what is packed once more."""
    _refuse_archive(path, start)
    if inner_format := compression_in(start):
        raise InputError(path, f"this is packed twice, with {inner_format} inside", remedy=_UNPACK)


def _refuse_archive(path: str | Path, start: bytes) -> None:
    if start[_TAR_MAGIC] == b"ustar":
        raise InputError(path, "this is a tar archive; such files are not read", remedy=_UNPACK)
    is_named_workbook = start.startswith(b"PK\x03\x04") and Path(path).suffix.lower() in WORKBOOKS
    if is_named_workbook or _SHEET.match(start):
        raise InputError(
            path, "this is a spreadsheet", remedy="Save the sheet as CSV (UTF-8), and give that."
        )
    for magic, name in _ARCHIVES.items():
        if start.startswith(magic):
            remedy = _REMEDIES.get(magic, _UNPACK)
            raise InputError(path, f"this is {name}; such files are not read", remedy=remedy)


def _open_as(path: str | Path, compression: Compression | None) -> IO[bytes]:
    try:
        if compression == "gzip":
            return cast(IO[bytes], gzip.open(path, "rb"))
        if compression in STREAMS:
            return io.BufferedReader(Streams(path, *STREAMS[compression]), 1 << 17)
        return _open_zstandard(path) if compression == "zstandard" else open(path, "rb")
    except OSError as error:
        raise _cannot_open(path, error) from None


def _cannot_open(path: str | Path, error: OSError) -> InputError:
    return InputError(path, f"the file cannot be opened: {error.strerror or error}")


def _open_zstandard(path: str | Path) -> IO[bytes]:
    import pyarrow

    return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"), 1 << 20)


# What reading a truncated or corrupt archive raises.
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)

# Remedy for a damaged file.
GET_AGAIN = "Get the file again and compare its checksum"


def damage_text(path: str | Path, error: BaseException) -> str:
    """Return what is damaged; raise InputError for a fault of disk or network, or a window that is too large."""
    if isinstance(error, OSError) and error.errno:
        raise InputError(path, f"reading failed: {error.strerror or error}") from error
    if "Frame requires too much memory" in str(error):
        remedy = "Pack it again: zstd -dc --long=31 FILE | zstd -o FILE.zst."
        raise InputError(
            path, "zstd --long has packed it with a window of more than 128 MB", remedy=remedy
        ) from error
    return " ".join(str(error).split()) or type(error).__name__


def read_lines(
    path: str | Path,
    # An option of the format; None: UTF-8, and the format has no such option.
    encoding: Encoding | None = None,
    share: Share = WHOLE_FILE,
) -> Iterator[Line | Malformed]:
    r"""Yield the non-blank lines of a share of a text file; a line's position is its number less 1.

    Byte-order marks before a line are dropped; `\r\n` ends a line like `\n`. Lines that are not of the encoding or
    longer than a record may be (`bounds`) are malformed, and so is the line in which a compressed file breaks off.

    Raises:
        InputError: the file begins as UTF-16 does, or reading fails (disk, network), in any share.
    """
    line_number, max_bytes = 0, max_record_bytes()
    with open_bytes(path) as stream:
        try:
            while raw := stream.readline(max_bytes + 1):
                if is_too_long := len(raw) > max_bytes and not raw.endswith(b"\n"):
                    _skip_rest(stream)
                line_number += 1
                if line_number == 1:  # whatever the share: it shows the encoding
                    refuse_utf16(path, raw, encoding or "utf-8")
                if not share(line_number - 1):
                    continue
                raw = without_marks(raw)
                if is_too_long:
                    yield too_large(line_number - 1, line_number)
                elif not raw.isspace():
                    line = _decode(raw, line_number, encoding)
                    if isinstance(line, Malformed) or line.text.strip():
                        yield line
        except DAMAGE as error:
            detail, remedy = damage_text(path, error), "Get the file again, or pack it again"
            if share(line_number):
                yield Malformed(
                    line_number, "damaged archive", detail, line_number + 1, remedy=remedy, loses_more=True
                )


def refuse_utf16(path: str | Path, start: bytes, encoding: Encoding = "utf-8") -> None:
    """Raise InputError for UTF-16: with its mark, or with the zero that one of an ASCII character's two bytes is."""
    is_half_zero = len(start) > 1 and (start[0] == 0) != (start[1] == 0)
    if encoding == "utf-8" and (start.startswith(_UTF16_BOMS) or is_half_zero):
        remedy = "Save the file as UTF-8 (iconv -f utf-16 -t utf-8; in Excel: CSV UTF-8)."
        raise InputError(path, "this is UTF-16, not UTF-8", remedy=remedy)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a file; InputError on a malformed line."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            raise InputError(path, f"{line.reason}: {line.detail}", line.line, line.remedy)
        yield line.number, line.text


def split_fields(line: AnyStr, separator: AnyStr | None) -> list[AnyStr]:
    """Split a line at a separator, None for white space; the fields beyond `max_record_parts()` stay together as
    one."""
    return line.split(separator, max_record_parts())


def split_columns(line: str) -> list[str]:
    """Split a line at blanks and tabs alone: other white space in an identifier would shift the columns behind it."""
    return list(filter(None, split_fields(line.replace("\t", " "), " ")))


def _decode(raw: bytes, line_number: int, encoding: Encoding | None) -> Line | Malformed:
    try:
        return Line(line_number, raw.removesuffix(b"\n").removesuffix(b"\r").decode(encoding or "utf-8"))
    except UnicodeDecodeError as error:
        return encoding_fault(error, line_number - 1, line_number, encoding)


def encoding_fault(
    error: UnicodeDecodeError, position: int, line_number: int, encoding: Encoding | None
) -> Malformed:
    """Return the fault of a line that is not of the encoding; see `read_lines` for None."""
    name = (encoding or "utf-8").upper()
    remedy = f"Save the file as {name}"
    if name == "UTF-8":
        remedy += " (iconv -f windows-1252 -t utf-8; in Excel: CSV UTF-8)"
    if encoding == "utf-8":
        setting = "set encoding: windows-1252 in the options", "add --option encoding=windows-1252"
        remedy += f", or {cli_or_api(*setting)}"
    detail = f"byte {error.start + 1} of the line"
    return Malformed(position, f"not valid {name}", detail, line_number, remedy=remedy, of_file=True)


def _skip_rest(stream: IO[bytes]) -> None:
    while (piece := stream.readline(1 << 20)) and not piece.endswith(b"\n"):
        pass
