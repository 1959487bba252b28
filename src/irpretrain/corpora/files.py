"""A source's files: opened whatever their compression, read line by line with a bound."""

import codecs
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, AnyStr, Literal, cast

from irpretrain.corpora.characters import without_marks
from irpretrain.corpora.records import Malformed, Share, everything, most_bytes, most_parts, too_large
from irpretrain.corpora.registry import format_of
from irpretrain.corpora.streams import STREAMS, Streams
from irpretrain.errors import InputError

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
Compression = Literal["gzip", "bzip2", "xz", "zstandard"]
Encoding = Literal["utf-8", "latin-1", "windows-1252"]

_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")

# Where a tar archive has its magic (POSIX 1003.1, ustar).
_TAR_MAGIC = slice(257, 262)

# Bytes of a file that show whether it is packed.
BEGINNING = _TAR_MAGIC.stop

# What archives that are not read begin with, what they are called, and what to do.
_ARCHIVES = {
    b"7z\xbc\xaf\x27\x1c": (
        "a 7z archive",
        "7z x -so FILE | zstd -o FILE.zst packs it in a way that can be read",
    ),
    b"PK\x03\x04": (
        "a zip archive",
        "Unpack it into a folder of its own (unzip), and give the folder in its place",
    ),
    b"PK\x05\x06": ("a zip archive without files", "Get the file again"),
    b"PK\x07\x08": (
        "a part of a zip archive in several files",
        "Join the parts (zip -s 0 FILE.zip --out whole.zip), unpack that (unzip), and give the folder",
    ),
    b"LZIP\x01": ("packed by lzip", "lzip -dc FILE | zstd -o FILE.zst packs it in a way that can be read"),
    b"\x5d\0\0": ("packed by lzma", "xz -dc FILE | zstd -o FILE.zst packs it in a way that can be read"),
    b"\xff\x06\0\0sNaPpY": (
        "packed by snappy",
        "Unpack it (snzip -d), and give the unpacked file in its place",
    ),
    b"PAR1\x15": ("a Parquet file", "The format parquet reads documents in it; other formats cannot"),
    b"Rar!\x1a\x07": (
        "a RAR archive",
        "Unpack it into a folder of its own (unrar x), and give the folder in its place",
    ),
    b"\x04\x22\x4d\x18": (
        "packed by lz4",
        "lz4 -dc FILE | zstd -o FILE.zst packs it in a way that can be read",
    ),
    b"\x02\x21\x4c\x18": (
        "packed by lz4",
        "lz4 -dc FILE | zstd -o FILE.zst packs it in a way that can be read",
    ),
}

# Ends names of files in other packings, in several, or with other names than `COMPRESSIONS`.
_UNREAD = re.compile(
    r"(?:\.(?:zip|7z|rar|ace|arj|cab|tar|tgz|taz|tbz2?|txz|tlz|tzst|lz4|lz|lzma|lzo|lrz|br|sz|snappy|z|gzip|gz|bzip2|bz2|xz"
    r"|zstd|zst))+$",
    re.IGNORECASE,
)

# Begins a frame of Zstandard without content, as parallel compressors write one first (RFC 8878, 3.1.2).
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")

# What names of Wikipedia's dumps in many parts have after .xml: the first and the last page.
_PAGES = re.compile(r"(?<=\.xml)-p\d+p\d+[^.]*")
UNIX_LINES = "Save the file with Unix line ends (tr '\\r' '\\n')"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

# Byte-order marks within a file: they begin lines where files were joined.
_INNER_MARKS = re.compile(rb"(?m)^(?:\xef\xbb\xbf)+")

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

    def joined(self) -> Malformed:
        """Return the fault of a line with a character in it that ended a line once."""
        detail = "only a line feed ends a line"
        return Malformed(self.position, "several lines in one", detail, self.number, remedy=UNIX_LINES)


@dataclass(frozen=True, slots=True)
class FieldLine:
    """One line that holds named fields, such as a JSON object or a row of a table, and its place."""

    position: int
    line: int
    fields: dict[str, Any]


def list_files(
    source: str | Path, suffixes: Sequence[str], patterns: Sequence[str] | None = None
) -> list[Path]:
    """Return the files of `source` in the order that numbers the parts of a corpus.

    A file is taken whatever its name. Of a folder and its sub-folders, files with one of `suffixes` (a suffix of
    compression may follow), or those whose relative path fits one of `patterns` (`*` is anything but /, `**/` any
    folders; any case), sorted by relative path (code points). Names that begin with a dot are hidden.
    """
    source = Path(source)
    if _is_file(source):
        return [source]
    if not source.is_dir():
        _refuse_pipe(source)
        raise InputError(source, "there is no such file or folder", remedy="Check the path.")
    fits = _by_suffix(suffixes) if patterns is None else _by_pattern(patterns)
    fitting = [path for path in _walk(source) if fits(path.relative_to(source))]
    for path in fitting:
        if path.is_symlink() and not path.exists():
            remedy = "Mend the link, or delete it if the file is not meant to count."
            raise InputError(path, "this link leads nowhere", remedy=remedy)
    if patterns is None:
        _refuse_unread(source, suffixes, set(fitting))
    paths = [path for path in fitting if path.is_file()]
    if not paths:
        what = (
            f"ends in {', '.join(suffixes)} (compressed or not)"
            if patterns is None
            else f"fits {' or '.join(patterns)}"
        )
        raise InputError(
            source,
            f"the folder holds no file that {what}",
            remedy="Check the path and the format, or give a file.",
        )
    return sorted(paths, key=lambda path: path.relative_to(source).as_posix())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # its name is too long, a folder on the way to it cannot be entered
        raise InputError(path, error.strerror or str(error), remedy="Check the path.") from None


# What a folder holds → parts of the usual names of files and folders, the most telling first.
NAME_PARTS = {
    "qrels": ("qrel", "judg", "relevance"),
    "topics": ("topic", "quer", "qry", "question"),
    "documents": ("document", "docs", "corpus", "collection", "passage", "article", "text", ".all"),
}


def role_of(name: str) -> str | None:
    """Return what the name of a file or folder says that it holds, a key of `NAME_PARTS`."""
    return next(
        (role for role, parts in NAME_PARTS.items() if any(part in name.lower() for part in parts)), None
    )


def document_files(source: str | Path, format_name: str, patterns: Sequence[str] | None = None) -> list[Path]:
    """Return the files of documents as `list_files` does.

    Raises:
        InputError: as in `list_files`; or, without patterns, files are named like topics or judgements, others like
            documents.
    """
    paths = list_files(source, format_of("documents", format_name).suffixes, patterns)
    if patterns is None:
        refuse_topics(source, paths)
    return paths


def refuse_topics(source: str | Path, paths: Sequence[Path]) -> None:
    """Raise InputError where files of a folder are named like topics or judgements, others like documents."""
    if len(paths) == 1:
        return
    named: dict[str | None, str] = {}
    for path in reversed(paths):
        name = path.relative_to(source)
        named[next(filter(None, map(role_of, name.parts)), None)] = str(name)
    other = named.get("topics") or named.get("qrels")
    if other and "documents" in named:
        fault = f"{named['documents']} is named like documents, {other} like topics or judgements"
        remedy = f"Give {named['documents']} alone, or name the files that count by `files` of the corpus."
        raise InputError(source, fault, remedy=remedy)


def _refuse_unread(source: Path, suffixes: Sequence[str], fitting: Collection[Path]) -> None:
    """Raise InputError where a file of the format lies in the folder in a packing alone that is not read."""
    endings = tuple(filter(None, suffixes))
    for path in sorted(_walk(source)):
        unpacked = path.with_name(_UNREAD.sub("", path.name) or path.name)
        if path in fitting or unpacked == path or unpacked in fitting:
            continue
        if _PAGES.sub("", unpacked.name.lower()).endswith(endings):
            remedy = "Unpack it, or name the files that count by `files` of the corpus."
            raise InputError(
                path, "files packed like this one are not read, and it would be left out", remedy=remedy
            )


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its sub-folders, through links too; nothing hidden, no folder twice."""
    seen = set[tuple[int, int]]()
    for location, folders, names in os.walk(folder, onerror=_refuse_folder, followlinks=True):
        state = os.stat(location)
        if (state.st_dev, state.st_ino) in seen:  # a link that leads back up
            folders.clear()
            continue
        seen.add((state.st_dev, state.st_ino))
        # Of two ways to a folder, the first by name counts, whatever the order of the file system.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(location) / name for name in names if not name.startswith("."))


def _refuse_folder(error: OSError) -> None:
    """Raise InputError for a folder that cannot be listed: without its files the corpus would lack documents."""
    remedy = "Make it readable (chmod u+rx), or move it elsewhere if its files are not meant to count."
    raise InputError(error.filename, f"the folder cannot be read: {error.strerror or error}", remedy=remedy)


def _by_suffix(suffixes: Sequence[str]) -> Callable[[Path], bool]:
    endings = tuple(suffix + compression for suffix in suffixes for compression in ("", *COMPRESSIONS))
    return lambda path: _PAGES.sub("", path.name.lower()).endswith(endings)


def _by_pattern(patterns: Sequence[str]) -> Callable[[Path], bool]:
    written = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    expressions = [
        re.compile(
            re.sub(r"\*\*/|.", lambda part: written.get(part[0], re.escape(part[0])), pattern), re.IGNORECASE
        )
        for pattern in patterns
    ]
    return lambda path: any(expression.fullmatch(path.as_posix()) for expression in expressions)


def given_files(sources: str | Path | Sequence[str | Path], suffixes: Sequence[str]) -> list[Path]:
    """Return the files of topics, judgements or a run: a source is a file, or a folder for formats with `suffixes`."""
    several = [sources] if isinstance(sources, str | Path) else sources
    return [
        path
        for source in several
        for path in (
            list_files(source, suffixes) if suffixes and os.path.isdir(source) else [one_file(source)]
        )
    ]


def one_file(source: str | Path) -> Path:
    path = Path(source)
    if os.path.isdir(path):
        raise InputError(path, "this is a folder; a file is needed here")
    if not _is_file(path):
        _refuse_pipe(path)
        raise InputError(path, "there is no such file", remedy="Check the path.")
    return path


def _refuse_pipe(path: str | Path) -> None:
    """Raise InputError for a pipe: reading the first bytes, which show the compression, loses them."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        remedy = "Write what it gives to a file, and name that."
        raise InputError(path, "this is a pipe or a device, which cannot be read twice", remedy=remedy)


def compression_of(path: str | Path) -> Compression | None:
    """Return how a file is compressed, known by its first bytes, not by its name."""
    _refuse_pipe(path)
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
        with _opened(path, compression) as stream, suppress(*DAMAGE):  # damage is reported when it is read
            refuse_packed(path, stream.read(_TAR_MAGIC.stop))
    return _opened(path, compression)


def refuse_packed(path: str | Path, start: bytes) -> None:
    """Raise InputError where `start`, the first bytes of what a file unpacks to, begins what is packed once more."""
    _refuse_archive(path, start)
    if inner := compression_in(start):
        remedy = "Unpack it once (7z x, for one), and give what comes out in its place."
        raise InputError(
            path, f"this is packed twice, with {inner} inside; such files are not read", remedy=remedy
        )


def _refuse_archive(path: str | Path, start: bytes) -> None:
    if start[_TAR_MAGIC] == b"ustar":
        remedy = "Unpack it into a folder of its own (tar -xf), and give the folder in its place."
        raise InputError(path, "this is a tar archive", remedy=remedy)
    if start.startswith(b"\x1f\x9d"):
        remedy = (
            "gunzip unpacks this old format: gunzip -r -S .z <folder>, also with -S .Z, .0z, .1z and so on."
        )
        raise InputError(path, "the file is packed by Unix compress (.Z)", remedy=remedy)
    for magic, (name, remedy) in _ARCHIVES.items():
        if start.startswith(magic):
            raise InputError(path, f"this is {name}; such files are not read", remedy=f"{remedy}.")


def _opened(path: str | Path, compression: Compression | None) -> IO[bytes]:
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
    """Return what is damaged; raise InputError for a fault of disk or network."""
    if isinstance(error, OSError) and error.errno:
        raise InputError(path, f"reading failed: {error.strerror or error}") from error
    return " ".join(str(error).split()) or type(error).__name__


def read_lines(
    path: str | Path,
    encoding: Encoding = "utf-8",
    share: Share = everything,
) -> Iterator[Line | Malformed]:
    r"""Yield the non-blank lines of a share of a text file; a line's position is its number less 1.

    Byte-order marks before a line are dropped; `\r\n` ends a line like `\n`. Lines that are not of the encoding or
    longer than a record may be (`bounds`) are malformed, and so is the line in which a compressed file breaks off.

    Raises:
        InputError: the file begins as UTF-16 does, or reading fails (disk, network), in any share.
    """
    number, longest = 0, most_bytes()
    with open_bytes(path) as stream:
        try:
            while raw := stream.readline(longest + 1):
                if too_long := len(raw) > longest and not raw.endswith(b"\n"):
                    _skip_rest(stream)
                number += 1
                if number == 1:  # read by every share: it shows the encoding
                    _refuse_utf16(path, raw, encoding)
                raw = without_marks(raw)
                if number > 1 or share(0):  # of other shares' lines only the first is read
                    if too_long:
                        yield too_large(number - 1, number)
                    elif not raw.isspace():
                        line = _decode(raw, number, encoding)
                        if isinstance(line, Malformed) or line.text.strip():
                            yield line
                if others := share.distance(number):
                    for ends in _pass_lines(stream, others):
                        number += ends
        except DAMAGE as error:
            detail, remedy = damage_text(path, error), "Get the file again, or pack it again"
            if share(number):
                yield Malformed(number, "damaged archive", detail, number + 1, remedy=remedy, loses_more=True)


def read_text(path: str | Path, encoding: Encoding = "utf-8") -> Iterator[Line | Malformed]:
    r"""Yield a text file in pieces of many lines, each with its first line number; faults as in `read_lines`.

    Records of millions of short lines cost no time per line. Blank lines stay, line ends are `\n`.
    """
    number, longest = 1, most_bytes()
    with open_bytes(path) as stream:
        try:
            while raw := stream.read(_PIECE):
                last = b"" if raw.endswith(b"\n") else stream.readline(longest + 1)
                if number == 1:
                    _refuse_utf16(path, raw, encoding)
                if too_long := len(last) > longest and not last.endswith(b"\n"):
                    _skip_rest(stream)
                    raw, last = raw[: raw.rfind(b"\n") + 1], b""
                raw += last
                text = _INNER_MARKS.sub(b"", raw) if codecs.BOM_UTF8 in raw else raw
                yield from _decode_lines(text, number, encoding)
                number += raw.count(b"\n")
                if too_long:
                    yield too_large(number - 1, number)
                    number += 1
        except DAMAGE as error:
            detail, remedy = damage_text(path, error), "Get the file again, or pack it again"
            yield Malformed(number, "damaged archive", detail, number + 1, remedy=remedy, loses_more=True)


# Bytes that are read at a time: the most that is lost before the end of a truncated archive.
_PIECE = 1 << 16


def _refuse_utf16(path: str | Path, start: bytes, encoding: Encoding) -> None:
    if encoding == "utf-8" and start.startswith(_UTF16_BOMS):
        raise InputError(path, "this is UTF-16, not UTF-8", remedy="Save the file as UTF-8.")


def _decode_lines(raw: bytes, number: int, encoding: Encoding) -> Iterator[Line | Malformed]:
    """Yield the text of several lines, or of single lines if one cannot be decoded."""
    try:
        yield Line(number, raw.removesuffix(b"\n").decode(encoding).replace("\r\n", "\n").removesuffix("\r"))
    except UnicodeDecodeError:
        for line, content in enumerate(raw.removesuffix(b"\n").split(b"\n"), number):
            yield _decode(content, line, encoding)


def given_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a file; InputError on a malformed line."""
    for line in read_lines(path):
        if isinstance(line, Malformed):
            raise InputError(path, f"{line.reason}: {line.detail}", line.line, line.remedy)
        yield line.number, line.text


def split_fields(line: AnyStr, separator: AnyStr | None) -> list[AnyStr]:
    """Split a line at a separator, None for white space; the fields beyond `most_parts()` stay together as one."""
    return line.split(separator, most_parts())


def split_columns(line: str) -> list[str]:
    """Split a line at blanks and tabs alone: other white space in an identifier would shift the columns behind it."""
    return list(filter(None, split_fields(line.replace("\t", " "), " ")))


def _decode(raw: bytes, number: int, encoding: Encoding) -> Line | Malformed:
    try:
        return Line(number, raw.removesuffix(b"\n").removesuffix(b"\r").decode(encoding))
    except UnicodeDecodeError as error:
        detail, name = f"byte {error.start + 1} of the line", encoding.upper()
        return Malformed(number - 1, f"not valid {name}", detail, number, remedy=f"Save the file as {name}")


def _pass_lines(stream: IO[bytes], lines: int) -> Iterator[int]:
    """Pass over the next lines, a buffer at a time; yield how many ended in each, so that damage has a place."""
    while lines and (buffered := cast(io.BufferedReader, stream).peek(1)):
        ends = buffered.count(b"\n")
        if ends < lines:
            stream.read(len(buffered))
        else:
            ends, behind = lines, 0
            for _ in range(lines):
                behind = buffered.index(b"\n", behind) + 1
            stream.read(behind)
        lines -= ends
        yield ends


def _skip_rest(stream: IO[bytes]) -> None:
    while (piece := stream.readline(1 << 20)) and not piece.endswith(b"\n"):
        pass
