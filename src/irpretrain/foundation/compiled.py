"""Functions compiled by numba, with a cache of machine code between processes.

Compiling the kernels takes seconds. The cache is a folder (see `code_digest`) named by the source of all compiled
modules: numba itself ignores changes of called functions in other files. Numba writes entries atomically, and
checks processor and version, so jobs may share the folder, and it can be deleted at any time. If it is damaged or
read-only, functions are compiled anew.
"""

import hashlib
import os
import pickle
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import IndexDataCacheFile

from irpretrain.foundation.code_digest import cache_folder, sources
from irpretrain.foundation.progress import notice, print_line

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function`, compiled at its first call without Python's global lock; its callees must be compiled."""
    return _compiled(function, {})


def compiled_uncounted(function: Function) -> Function:
    """As `compiled`, for a function that makes no array, called by compiled ones only, with arrays in tuples."""
    # References of its arrays are not counted, as the caller holds them; counting takes an atomic operation per use
    # of a tuple's array. Numba refuses to compile a function that makes an array so.
    return _compiled(function, {"_nrt": False})


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    dispatcher = numba.njit(nogil=True, **options)(function)
    if reason := _sharing_risk(cache_folder()):
        _report_lost_cache(reason)
        return cast(Function, dispatcher)
    config: Any = numba.config
    old_cache_folder, config.CACHE_DIR = config.CACHE_DIR, str(cache_directory())
    try:
        dispatcher.enable_caching()
        numba_cache = dispatcher._cache
        numba_cache._cache_file = _CacheFile(
            cache_path=numba_cache._cache_path,
            filename_base=numba_cache._impl.filename_base,
            source_stamp=numba_cache._impl.locator.get_source_stamp(),
        )
    except RuntimeError:  # numba can write no file there
        _report_lost_cache("nothing can be written there")
    finally:
        config.CACHE_DIR = old_cache_folder
    return cast(Function, dispatcher)


@cache
def _sharing_risk(folder: Path) -> str:
    """Return why others may have put files into the folder; empty if only this user or root may write there."""
    # Numba unpickles what it finds: files of others would run their code.
    try:
        status = folder.stat()
    except OSError:
        return ""
    if status.st_uid not in (os.getuid(), 0):
        return f"the folder is of user {status.st_uid}"
    return "all users may write there" if status.st_mode & stat.S_IWOTH else ""


class _CacheFile(IndexDataCacheFile):
    """Numba's files of one function. A damaged one counts as none, and one that cannot be written is done without."""

    def load(self, key: Any) -> Any:
        try:
            compiled = super().load(key)
        except Exception:  # pickle raises whatever the bytes of a torn file suggest
            compiled = None
            with suppress(OSError):
                self.flush()
        if compiled is None:
            _report_compiling()
        return compiled

    def save(self, key: Any, data: Any) -> None:
        try:
            super().save(key, data)
        except OSError as error:
            _report_lost_cache(error.strerror or str(error))

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        digest, content = content[:32], content[32:]
        # Machine code with a hole of zeros, as a loss of power leaves, would end the process.
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("damaged")
        return pickle.loads(content)


@cache
def _report_compiling() -> None:
    print_line("[compile] compiling once, about 15 s of one core")


@cache
def _report_lost_cache(reason: str) -> None:
    notice(
        "compile",
        f"machine code cannot be kept in {cache_directory()} ({reason}), so each process compiles it anew: "
        "make room, or set NUMBA_CACHE_DIR to a folder of your own that you may write to",
    )


@cache
def cache_directory() -> Path:
    """Return where the machine code of this version of the source is kept."""
    # "@compiled" begins the name of compiled_uncounted too.
    compiled_files = [item for item in sorted(sources().items()) if b"\n@compiled" in item[1]]
    digest = hashlib.sha256(repr(compiled_files).encode()).hexdigest()
    return cache_folder() / f"compiled-{digest[:16]}"
