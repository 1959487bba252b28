"""Sidecars: inputs, code, machine and cost of an output.

The sidecar of `results/a/b.parquet` is `results/a/b.parquet.meta.json`. Wall time and memory differ from run to run, so
equal bytes are promised for outputs, not for sidecars.
"""

import hashlib
import json
import os
import platform
import re
import resource
import subprocess
import time
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from irpretrain.foundation import __version__
from irpretrain.foundation.atomic import atomic_file
from irpretrain.foundation.code_digest import begin_record, code_record

# What Snakemake puts into a directory after the stage that made it.
NOT_CONTENT = ".snakemake_timestamp"
# Parts of a sidecar that are JSON objects.
SECTIONS = ("inputs", "outputs", "parameters", "counts", "cost")
PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "pyarrow",
    "duckdb",
    "torch",
    "transformers",
    "accelerate",
    "xgboost-cpu",
    "tokenizers",
    "mwparserfromhell",
    "pyserini",
    "ir_measures",
    "ir_datasets",
    "snakemake",
)


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of a directory's sorted (relative path, SHA-256) list."""
    path = Path(path)
    if path.is_dir():
        lines = (f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n" for file in _files(path))
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _files(directory: Path) -> list[Path]:
    return sorted(file for file in directory.rglob("*") if file.is_file() and file.name != NOT_CONTENT)


def sidecar_path(output: str | Path) -> Path:
    return Path(f"{Path(output)}.meta.json")  # beside a folder, also of a path that ends in a slash


def content_hash(value: Any) -> str:
    """Return a short hash of any JSON-able value; equal values have equal hashes."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Recorder:
    def __init__(
        self,
        stage: str,  # name of the rule
        # inputs, outputs: paths.
        inputs: list[str],
        outputs: list[str],
        params: dict[str, Any],  # what else the outputs depend on
        # Resources that the job requested, such as `threads` and `memory_mb`.
        requested_resources: dict[str, int] | None = None,
    ) -> None:
        self.stage, self.inputs, self.outputs, self.params = stage, inputs, outputs, params
        self._requested_resources = requested_resources or {}
        begin_record()
        self._start_time, self._start, self._start_cpu = time.time(), time.monotonic(), _cpu_seconds()

    def write(self, counts: dict[str, Any] | None = None) -> Path:
        """Write the sidecar. `counts` is what the stage read, skipped (with reasons) and made."""
        last_change = max(_changed(Path(path)) for path in self.outputs)
        record = {
            "stage": self.stage,
            "inputs": {path: _known_sha256(path) for path in self.inputs},
            "outputs": {path: sha256(path) for path in self.outputs},
            "parameters": self.params,
            "parameters_hash": content_hash(self.params),
            "counts": counts or {},
            "cost": {
                "started": round(self._start_time, 3),
                "wall_seconds": round(time.monotonic() - self._start, 3),
                "cpu_seconds": round(_cpu_seconds() - self._start_cpu, 3),
                "peak_memory_mb": _peak_kilobytes() // 1024,
                "asked": self._requested_resources,
            },
            "code": code_record(),
            "versions": _versions(),
            "commit": _commit(),
            "hardware": {"machine": platform.machine(), "cores": os.cpu_count(), "cpu": _cpu_name()},
        }
        target = sidecar_path(self.outputs[0])
        with atomic_file(target) as temporary:
            content = json.dumps(record, indent=1, sort_keys=True, default=str)
            temporary.write_text(f"{content}\n", encoding="utf-8")
            # What changes after it was hashed is newer than its sidecar, however fast the sidecar was written.
            os.utime(temporary, ns=(last_change, last_change))
        return target


def read_record(path: str | Path) -> dict[str, Any]:
    """Return what a sidecar records; ValueError if it is damaged, OSError if it cannot be read."""
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    for section in SECTIONS:
        if not isinstance(record.get(section, {}), dict):
            raise ValueError(f"{section} is not a JSON object")
    return record


def read_sidecar(output: str | Path) -> dict[str, Any]:
    """Return the sidecar of `output`, or an empty record where there is none that can be read."""
    try:
        return read_record(sidecar_path(output))
    except (FileNotFoundError, ValueError):
        return {}


def mixed_versions_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Return one line on packages and processors of which the results of a run have several; empty for none."""
    versions: dict[str, set[str]] = {}
    for record in records:
        processor = {"processor": (record.get("hardware") or {}).get("cpu")}
        for name, version in {**(record.get("versions") or {}), **processor}.items():
            if version:
                versions.setdefault(name, set()).add(str(version))
    mixed_versions = [
        f"{name} {', '.join(sorted(version_set))}"
        for name, version_set in versions.items()
        if len(version_set) > 1
    ]
    if not mixed_versions:
        return ""
    return f"Made with different {'; '.join(mixed_versions)}: numbers can differ for that alone."


def _known_sha256(path: str) -> str:
    """The hash its own sidecar gives, as long as nothing in it changed after the sidecar; else computed."""
    sidecar = sidecar_path(path)
    if sidecar.exists() and sidecar.stat().st_mtime_ns >= _changed(Path(path)):
        recorded_hash = read_sidecar(path).get("outputs", {}).get(path)
        if recorded_hash:
            return str(recorded_hash)
    return sha256(path)


def _changed(path: Path) -> int:
    """When a file, or anything in a directory, last changed; a directory's own time misses its files'."""
    # Whoever replaces a file may give it an older time of writing (cp -p, rsync -a), but not of its change.
    statuses = (file.stat() for file in (path, *(_files(path) if path.is_dir() else ())))
    return max(max(status.st_mtime_ns, status.st_ctime_ns) for status in statuses)


def _usages() -> tuple[resource.struct_rusage, resource.struct_rusage]:
    """Of this process, and of its finished children (Lucene runs in one)."""
    return resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)


def _peak_kilobytes() -> int:
    # The kernel's counter begins with the memory of the parent, here Snakemake's; /proc counts this program alone.
    # A child's counter begins with that of this process, so the larger of the two is right.
    usages = _usages()
    try:
        status = Path("/proc/self/status").read_text()
        peak = int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1])  # type: ignore[index]
    except (OSError, TypeError):
        peak = usages[0].ru_maxrss
    return max(peak, usages[1].ru_maxrss)


def _cpu_seconds() -> float:
    return sum(usage.ru_utime + usage.ru_stime for usage in _usages())


def _versions() -> dict[str, str]:
    versions = {"irpretrain": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _commit() -> str:
    try:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
        package_folder = Path(__file__).parent
        return subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=package_folder
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _cpu_name() -> str:
    try:
        names = re.search(r"^model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = None
    return names[1].strip() if names else platform.processor()
