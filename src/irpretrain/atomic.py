"""Outputs appear whole or not at all: written beside their place, flushed, then renamed.

What is being written has the name `.<target>.<host>.<process id>.partial`. A killed process leaves it behind; the
next write of the same target on that host removes it.
"""

import csv
import os
import re
import shutil
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure."""
    target = Path(path)
    temporary = _temporary(target)
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
    finally:
        _remove(temporary)


@contextmanager
def atomic_directory(path: str | Path) -> Iterator[Path]:
    """Yield a temporary directory beside `path`; rename it to `path` (replacing it) on success."""
    target = Path(path)
    temporary = _temporary(target)
    temporary.mkdir()
    try:
        yield temporary
        for name in temporary.rglob("*"):
            if name.is_file():
                _flush(name)
        _replace_directory(temporary, target)
    finally:
        _remove(temporary)


@contextmanager
def working_directory(path: str | Path, purpose: str) -> Iterator[Path]:
    """Yield an empty directory beside `path`, this process's own, for what is needed on the way to it; remove it."""
    folder = _temporary(Path(path).with_name(f"{Path(path).name}.{purpose}"))
    folder.mkdir()
    try:
        yield folder
    finally:
        _remove(folder)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file with a heading, atomically."""
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def read_csv(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a file that `write_csv` wrote, by column."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _temporary(target: Path) -> Path:
    """Where this process writes `target`: free, and without leftovers of dead processes beside it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    return target.with_name(f".{target.name}.{socket.gethostname()}.{os.getpid()}.partial")


def _remove_leftovers(target: Path) -> None:
    """Remove what processes of this host that are no more left of `target`; other hosts' cannot be judged here."""
    host = re.escape(socket.gethostname())
    leftover = re.compile(rf"\.{re.escape(target.name)}\.{host}\.(\d+)(\.old)?\.partial")
    for name in os.listdir(target.parent):
        match = leftover.fullmatch(name)
        if match and (int(match[1]) == os.getpid() or not _alive(int(match[1]))):
            _remove(target.with_name(name))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _replace_directory(temporary: Path, target: Path) -> None:
    """Rename `temporary` to `target`. A kill in between leaves no target, never a part of one."""
    # A directory that is not empty cannot be renamed over, and removing it in place takes long enough to be hit.
    old = temporary.with_name(temporary.name.removesuffix(".partial") + ".old.partial")
    existed = target.exists()
    if existed:
        os.replace(target, old)
    try:
        os.replace(temporary, target)
    except OSError:
        if existed:
            os.replace(old, target)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with open(path, "rb") as handle:
        os.fsync(handle.fileno())
