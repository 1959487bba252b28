"""Which code made a result: digests of the files whose code the job has loaded.

A job records the library's modules that it has imported, the templates beside them, its script, and the resources that
it has read, such as stop lists. Code that was not loaded cannot have made the result. The digest of a Python file is
that of its syntax tree without docstrings, so comments and layout do not count; Python 3.11 to 3.13 agree on it.
Digests are cached by the content of the files.
"""

import ast
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.resources import resources_directory, resources_read

PACKAGE = Path(__file__).parents[1]
SCRIPTS = PACKAGE.parents[1] / "scripts"
TEMPLATES = (".j2", ".css", ".js")
RESOURCES = "resources"
CACHE_FILE = "code-digests.json"

# The code of a checkpoint that records none.
UNKNOWN_CODE = {"unknown": "unknown"}

# Code of other processes, whose work the result of this one rests on.
_earlier_digests: dict[str, str] = {}


@cache
def sources() -> dict[str, bytes]:
    """Return the files of the library and of the scripts by name, as of the first call: files may change."""
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*")}
    paths |= {f"{SCRIPTS.name}/{path.name}": path for path in SCRIPTS.glob("*.py")}
    return {name: path.read_bytes() for name, path in paths.items() if path.suffix in (".py", *TEMPLATES)}


@cache
def library_digest() -> str:
    """Return one digest of all files, comments included."""
    return sha256(repr(sorted(sources().items())).encode()).hexdigest()[:16]


def begin_record() -> None:
    sources()
    _earlier_digests.clear()


def code_record() -> dict[str, str]:
    """Return the code of this job: file → digest. A file that was used in two versions has both digests."""
    return _merge_digests(digests(_loaded_files()), _earlier_digests)


def add_earlier_code(code: Mapping[str, str]) -> None:
    """Add the code of another process, whose work this one resumes."""
    _earlier_digests.update(_merge_digests(_earlier_digests, code))


def changed_files(code: Mapping[str, str]) -> list[str]:
    """Return the files of a record that the present code has in another version, or not at all."""
    present_digests = digests(code)
    return [name for name in code if present_digests.get(name) != code[name]]


def digests(names: Iterable[str]) -> dict[str, str]:
    names = list(names)
    contents, known_digests = sources() | _resources(names), _cached_digests()
    content_hashes = {name: _sha256(contents[name]) for name in names if name in contents}
    new_digests = {
        content_hash: _digest(contents[name])
        for name, content_hash in content_hashes.items()
        if name.endswith(".py") and content_hash not in known_digests
    }
    if new_digests:
        known_digests.update(new_digests)
        with suppress(OSError):
            path = cache_folder() / CACHE_FILE
            write_text(path, json.dumps(read_digests(path) | new_digests))
    return {name: known_digests.get(key, key) for name, key in content_hashes.items()}


def _resources(names: Iterable[str]) -> dict[str, bytes]:
    contents = {}
    for name in names:
        folder, _, path = name.partition("/")
        if folder == RESOURCES and path in resources_read:
            contents[name] = resources_read[path]
        elif folder == RESOURCES and (file := resources_directory() / path).is_file():
            contents[name] = file.read_bytes()
    return contents


def _merge_digests(first_digests: Mapping[str, str], second_digests: Mapping[str, str]) -> dict[str, str]:
    versions = {
        name: {*first_digests.get(name, "").split(), *second_digests.get(name, "").split()}
        for name in [*first_digests, *second_digests]
    }
    return {name: " ".join(sorted(versions[name])) for name in sorted(versions)}


def _loaded_files() -> set[str]:
    start = len(str(PACKAGE)) + 1
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == PACKAGE.name]
    loaded_files = {str(module.__file__)[start:] for module in modules}
    folders = {os.path.dirname(name) for name in loaded_files}
    templates = {name for name in sources() if name.endswith(TEMPLATES) and os.path.dirname(name) in folders}
    # Snakemake's copy of a script has its name too.
    script = os.path.basename(getattr(sys.modules["__main__"], "__file__", None) or "")
    resources = {f"{RESOURCES}/{name}" for name in resources_read}
    return loaded_files | templates | resources | {f"{SCRIPTS.name}/{script}"}


def _digest(source: bytes) -> str:
    try:
        return _sha256(ascii(_tree(ast.parse(source))).encode())
    except (SyntaxError, ValueError, RecursionError):  # while somebody writes it
        return _sha256(source)


def _tree(node: Any) -> Any:
    """The names and fields of a syntax tree. Empty fields are left out: each Python version has some of its own."""
    if isinstance(node, list):
        return [_tree(child) for child in node if not _is_text_alone(child)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.JoinedStr):  # Python 3.12 ends some formats with an empty text
        node.values = [
            child for child in node.values if not (isinstance(child, ast.Constant) and child.value == "")
        ]
    fields = ((name, getattr(node, name, None)) for name in node._fields)
    return [type(node).__name__, *((name, _tree(value)) for name, value in fields if value not in (None, []))]


def _is_text_alone(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]


@cache
def _cached_digests() -> dict[str, str]:
    return read_digests(cache_folder() / CACHE_FILE)


def read_digests(path: Path) -> dict[str, str]:
    """Return the digests that a JSON file holds by name; none where it is missing or damaged."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    is_sound = isinstance(content, dict) and all(isinstance(text, str) for text in content.values())
    return content if is_sound else {}


# The folder for what can be computed again at any time: machine code, digests of source files.


def cache_folder() -> Path:
    """Return `$NUMBA_CACHE_DIR`, else `$XDG_CACHE_HOME/irpretrain`, else `~/.cache/irpretrain`."""
    if directory := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(directory)
    try:
        home = Path.home()
    except RuntimeError:  # a container's user, without HOME and unknown to the system
        home = Path(os.devnull)  # nothing is kept there
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "irpretrain"
