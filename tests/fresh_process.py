"""A function of a test module, called in a Python of its own: to be killed, to hold a lock, to be measured."""

import importlib
import inspect
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def call(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the command that calls a function of a module's top level."""
    return [
        sys.executable,
        __file__,
        inspect.getfile(function),
        function.__name__,
        pickle.dumps(arguments).hex(),
    ]


if __name__ == "__main__":
    file, name, packed = sys.argv[1:]
    sys.path.insert(0, str(Path(file).parent))
    getattr(importlib.import_module(Path(file).stem), name)(*pickle.loads(bytes.fromhex(packed)))
