"""Outputs appear whole or not at all: written beside their target, flushed, then renamed.

Links are followed: the target of a link is replaced, never the link. Devices, pipes and sockets are refused. What
replaces a private file or folder is private from the beginning. A partial output is called
`.<target>.<host>.<process id>.partial`, with a number after the process id where several threads write the target at
once; the last of them stays. The next write of the same target on that host removes that of a killed process.
"""

import csv
import errno
import itertools
import json
import os
import re
import shutil
import socket
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.files import refuse_pipe

# In a row, as in Linux.
MAX_LINKS = 40


def file_to_write(path: str | Path) -> Path:
    """Return the file that an output replaces, behind links; InputError for a folder, device, pipe or socket."""
    target = _end_of_links(path, "file")
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        fault = "this is a folder" if stat.S_ISDIR(mode) else "this is a device, a pipe or a socket"
        raise InputError(path, f"{fault}, so no file can be written here", remedy="Name a file.")
    return target


def folder_to_write(path: str | Path) -> Path:
    """Return the folder that an output replaces, behind links; InputError for anything else or a circle."""
    target = _end_of_links(path, "folder")
    mode = _mode(target)
    if mode is not None and not stat.S_ISDIR(mode):
        raise InputError(path, "this is no folder", remedy="Name a folder that is new or empty.")
    return target


def _end_of_links(path: str | Path, output_kind: str) -> Path:
    target = Path(path)
    for _ in range(MAX_LINKS):
        if not os.path.islink(target):  # Path's own would raise where the name is too long
            return target
        # /dev/stdout leads to whatever file the shell opened, whose earlier content would be lost.
        if os.path.realpath(target.parent).startswith("/proc/") or os.path.realpath(target.parent) == "/dev":
            raise InputError(
                path,
                f"this is a device or an open file, so no {output_kind} can be written here",
                remedy=f"Name a {output_kind}.",
            )
        target = target.parent / os.readlink(target)
    raise InputError(path, "its links lead in a circle", remedy=f"Name a {output_kind}.")


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure."""
    if os.path.abspath(path) in _partial_paths:  # a temporary path already, which whoever made it renames
        yield Path(path)
        return
    target = file_to_write(path)
    mode = _permissions(target)
    with _partial(target) as temporary:
        if mode is not None:
            _create(temporary, mode)
        yield temporary
        _flush_written(temporary)
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)


@contextmanager
def atomic_directory(path: str | Path) -> Iterator[Path]:
    """Yield a temporary directory beside `path`; rename it to `path` (replacing it) on success."""
    target = folder_to_write(path)
    with _THREAD_LOCK:  # while another one replaces it there is no target
        mode = _permissions(target)
    with _partial(target) as temporary:
        temporary.mkdir(0o777 if mode is None else mode & 0o777 | stat.S_IRWXU)
        yield temporary
        files = [file for file in temporary.rglob("*") if file.is_file()]
        for file in files:
            _flush(file)
        if mode is not None:
            temporary.chmod(mode)
        with _THREAD_LOCK:
            for file in files:
                if (old_mode := _permissions(target / file.relative_to(temporary))) is not None:
                    file.chmod(old_mode)
            _replace_directory(temporary, target)


def write_together(
    folders: Mapping[str | Path, Callable[[Path], object]],
    files: Mapping[str | Path, Callable[[Path], object]],
    before_replacing: Callable[[], object] = lambda: None,
) -> None:
    """Write outputs, then rename them all to their paths; if one cannot be written, none is replaced.

    Args:
        folders, files: path → what writes it, called with a temporary path: an empty folder, or no file yet.
        before_replacing: called once all are written and on the disk, before the first one is renamed.
    """
    with ExitStack() as stack:
        temporary_outputs = [(stack.enter_context(atomic_file(path)), write) for path, write in files.items()]
        temporary_outputs += [
            (stack.enter_context(atomic_directory(path)), write) for path, write in folders.items()
        ]
        for temporary, write in temporary_outputs:
            write(temporary)
        for temporary, _ in temporary_outputs:
            if temporary.is_dir():
                for path in filter(Path.is_file, temporary.rglob("*")):
                    _flush(path)
            else:
                _flush_written(temporary)
        before_replacing()


@contextmanager
def working_directory(path: str | Path, purpose: str) -> Iterator[Path]:
    """Yield an empty directory beside `path`, this process's own, for what is needed on the way to it; remove it."""
    with _partial(Path(path).with_name(f"{Path(path).name}.{purpose}")) as folder:
        folder.mkdir(stat.S_IRWXU)
        yield folder


def write_text(path: str | Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def read_csv(path: str | Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Partial outputs that threads of this process are writing.
_partial_paths = set[str]()
_THREAD_LOCK = threading.Lock()


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """Yield a path beside `target` that nobody else writes; what lies there in the end is removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with _THREAD_LOCK:
        _remove_leftovers(target)
        paths = (target.with_name(_partial_name(target, writer)) for writer in itertools.count())
        path = next(path for path in paths if os.path.abspath(path) not in _partial_paths)
        key = os.path.abspath(path)
        _partial_paths.add(key)
    try:
        yield path
    finally:
        _remove(path)
        _partial_paths.discard(key)


def _partial_name(target: Path, writer_number: int = 0) -> str:
    writer_name = f"{os.getpid()}.{writer_number}" if writer_number else f"{os.getpid()}"
    return f".{target.name}.{socket.gethostname()}.{writer_name}.partial"


def _mode(target: Path) -> int | None:
    # One call: between a question whether it exists and a second one, another process may move it.
    try:
        return target.stat().st_mode
    except (OSError, ValueError):  # as os.path.exists
        return None


def _permissions(target: Path) -> int | None:
    """Return the permission bits of a file or folder; None where there is none."""
    mode = _mode(target)
    return None if mode is None else stat.S_IMODE(mode)


def _create(path: Path, mode: int) -> None:
    """Create an empty file with a mode that its writer, which opens it once more, leaves as it is."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    os.close(os.open(path, flags, mode & 0o777 | stat.S_IRUSR | stat.S_IWUSR))
    os.utime(path, (0, 0))  # shows whether there was a writer


def _remove_leftovers(target: Path) -> None:
    """Remove what processes of this host that are no more left of `target`; other hosts' cannot be judged here."""
    host = re.escape(socket.gethostname())
    leftover_pattern = re.compile(rf"\.{re.escape(target.name)}\.{host}\.(\d+)(\.\d+)?(\.old)?\.partial")
    for name in os.listdir(target.parent):
        match = leftover_pattern.fullmatch(name)
        path = target.with_name(name)
        if match is None or os.path.abspath(path) in _partial_paths:
            continue
        if int(match[1]) == os.getpid() or not _is_alive(int(match[1])):
            _remove(path)


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # another user's, or no number of a process
        pass
    return True


def _replace_directory(temporary: Path, target: Path) -> None:
    """Rename `temporary` to `target`. A kill in between leaves no target, never a part of one."""
    # A directory that is not empty cannot be renamed over, and removing it in place takes long enough to be hit.
    old_folder = temporary.with_name(temporary.name.removesuffix(".partial") + ".old.partial")
    try:
        os.replace(target, old_folder)
        had_target = True
    except FileNotFoundError:
        had_target = False
    try:
        os.replace(temporary, target)
    except OSError:
        if had_target:
            os.replace(old_folder, target)
        raise
    _remove(old_folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _flush_written(path: Path) -> None:
    """Flush a temporary file; FileNotFoundError if nobody has written it since `_create`."""
    if path.stat().st_mtime == 0:
        raise FileNotFoundError(errno.ENOENT, "nothing was written", str(path))
    _flush(path)


def _flush(path: Path) -> None:
    with open(path, "rb") as handle:
        os.fsync(handle.fileno())


# What an output may replace: never an input, and of folders only an empty one or what the same function wrote.


def check_output_file(output: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise an error if a file cannot be written without loss.

    Raises:
        InputError: the output is, or links to, a folder or a device, or no file can be created there.
        ConfigError: the output is an input, or one lies in the other, by whatever path.
    """
    path = Path(output)
    _check_inputs(path, inputs, "file")
    _check_writable(path, file_to_write(path))


def check_output_folder(
    output: str | Path, inputs: Iterable[str | Path], is_earlier: Callable[[Path], bool], earlier_output: str
) -> None:
    """Raise an error if a folder cannot be written without loss.

    Args:
        is_earlier: whether a folder that is not empty was written by the same function.
        earlier_output: description of that function's outputs, for the message.

    Raises:
        InputError: the output is a file, the folder holds something else, or it cannot be created.
        ConfigError: the output is an input, or one lies in the other, by whatever path.
    """
    path = Path(output)
    _check_inputs(path, inputs, "folder")
    target = folder_to_write(path)
    if (
        os.path.isdir(path)
        and (names := sorted(entry.name for entry in path.iterdir()))
        and not is_earlier(path)
    ):
        raise InputError(
            path,
            f"the folder is not {earlier_output}: it holds {names[0]}",
            remedy="Name a folder that is new or empty, or remove this one yourself.",
        )
    _check_writable(path, target)


def _check_writable(output: Path, target: Path) -> None:
    """Raise InputError, before hours of work, where `target` (a file or folder) cannot be created; nothing is left."""
    folder = next(parent for parent in target.absolute().parents if os.path.exists(parent))
    if not folder.is_dir():
        raise InputError(
            output, f"{folder} is no folder, so nothing can lie in it", remedy="Name another place."
        )
    try:
        with TemporaryFile(dir=folder):
            pass
        with suppress(FileNotFoundError):
            os.lstat(folder / _partial_name(target))
    except OSError as error:
        is_name_too_long = error.errno == errno.ENAMETOOLONG
        raise InputError(
            output,
            f"nothing can be created in {folder}: {error.strerror or error}",
            remedy="Give it a shorter name." if is_name_too_long else "Name a place that you may write to.",
        ) from None


def _check_inputs(output: Path, inputs: Iterable[str | Path], output_kind: str) -> None:
    output_location = _end_of_links(output, output_kind).resolve()
    for input_path in map(Path, inputs):
        if not os.path.exists(input_path):
            continue
        input_location = input_path.resolve()
        locations = (output_location, input_location)
        is_nested = any(inner.is_relative_to(outer) for inner, outer in (locations, locations[::-1]))
        input_paths = (
            [input_path, *(input_path.rglob("*") if os.path.isdir(input_path) else ())]
            if os.path.exists(output)
            else []
        )
        if is_nested or any(os.path.exists(path) and path.samefile(output) for path in input_paths):
            raise ConfigError(f"{output}: would replace the input {input_path}; name another output")


# JSON files that a user gives: read whole, or refused with one message.


def parse_json(text: str | bytes) -> Any:
    """Return the value of a user's JSON; ValueError if invalid, or if a key occurs twice."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    return _DECODER.decode(text.lstrip("\ufeff"))


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(repeated_key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {repeated_key[:40]!r} twice")
    return fields


def _parse_whole_number(digits: str) -> int | float:
    # As a whole number -0 would be 0, and the identifier "0".
    return -0.0 if digits == "-0" else int(digits)


# Made once: json.loads makes one for every text where a hook is given, which takes twice as long.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_int=_parse_whole_number)


def load_json(path: str | Path, remedy: str = "") -> Any:
    """Return the value of a JSON file; InputError if it is missing, a pipe, unreadable, not UTF-8 or not JSON."""
    refuse_pipe(path)
    try:
        return parse_json(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "there is no such file", remedy=remedy) from None
    except OSError as error:
        raise InputError(
            path, f"the file cannot be opened: {error.strerror or error}", remedy=remedy
        ) from None
    except RecursionError:
        raise InputError(path, "this is not JSON: it is nested too deeply", remedy=remedy) from None
    except ValueError as error:  # of JSON, of UTF-8, and of numbers with thousands of digits
        raise InputError(path, f"this is not JSON: {error}", getattr(error, "lineno", None), remedy) from None
