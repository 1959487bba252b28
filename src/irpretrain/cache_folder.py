"""The folder for what can be computed again at any time: machine code, digests of source files."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return `$NUMBA_CACHE_DIR`, else `$XDG_CACHE_HOME/irpretrain`, else `~/.cache/irpretrain`."""
    if directory := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(directory)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "irpretrain"
