"""Functions compiled by numba, whose machine code is kept between processes.

Compiling the kernels takes seconds, so their code is cached on disk, in
`$NUMBA_CACHE_DIR`, else `$XDG_CACHE_HOME/irpretrain`, else `~/.cache/irpretrain`, in a folder named by the source of
all compiled modules. (Numba itself only looks at the file of the function that is called: a change in a function that
it calls, in another file, would go unnoticed.) Numba writes entries beside their place and renames them, and checks
processor and version, so jobs may share the folder. It can be deleted at any time.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function`, compiled at its first call; all it calls must be compiled too.

    It runs without Python's global lock, so that threads may share its work.
    """
    return _compiled(function, {})


def compiled_uncounted(function: Function) -> Function:
    """As `compiled`, for a function that makes no array, and is called with arrays in tuples by compiled ones only.

    Its arrays' references are not counted, as the caller holds them anyway; counting takes an atomic operation for each
    use of a tuple's array, most of the time of a small function. (Numba refuses to compile one that makes an array.)
    """
    return _compiled(function, {"_nrt": False})


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(cache_directory())
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, **options)(function))
    finally:
        config.CACHE_DIR = before


@cache
def cache_directory() -> Path:
    """Return where the machine code of this version of the source is kept."""
    return _base() / f"compiled-{_source_hash()}"


def _base() -> Path:
    if directory := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(directory)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "irpretrain"


def _source_hash() -> str:
    """Hash the source of every module of the package that has compiled functions."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"\n@compiled" in source:  # compiled_uncounted too
            digest.update(
                f"{path.relative_to(Path(__file__).parent).as_posix()}\0{len(source)}\0".encode() + source
            )
    return digest.hexdigest()[:16]
