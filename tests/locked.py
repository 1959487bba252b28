"""What the lock files pin, and what files import."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNNING = ("requirements.lock", "envs/torch.lock")
HASHED = ("requirements.lock", "envs/develop.lock", "envs/docs.lock", "envs/slurm.lock")
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][A-Za-z0-9.]*)( --hash=sha256:[0-9a-f]{64})*")


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(lock: str) -> list[str]:
    """What a lock requires, each package with its hashes on one line."""
    text = (ROOT / lock).read_text().replace("\\\n", "")
    return [" ".join(line.split()) for line in text.splitlines() if line and not line.startswith("#")]


def pins(*locks: str) -> dict[str, str]:
    """Package → version, of those locks; of what running needs, where none is named."""
    lines = [line for lock in locks or RUNNING for line in requirements(lock)]
    return {normal(match[1]): match[2] for line in lines if (match := PIN.fullmatch(line))}


def write_pins(path: Path) -> Path:
    """Write the pins of what running needs without hashes, as constraints of what has none."""
    path.write_text("".join(f"{name}=={version}\n" for name, version in pins().items()))
    return path


def imports(path: Path) -> Iterator[str]:
    """Top-level names of all imports of a file, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def library_modules(path: Path) -> set[str]:
    """The modules of irpretrain that a file imports from."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {module for module in modules if module.startswith("irpretrain.")}
