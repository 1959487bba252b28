"""Where a number comes from: the sidecars of all stages, joined by the files that one makes and another reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from irpretrain.errors import InputError
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.report.scores import RunName

# Characters of a stage's parameters that the report shows; the sidecar holds all.
PARAMETERS_LIMIT = 4_000


@dataclass(frozen=True)
class Record:
    path: str
    content: dict[str, Any]

    @property
    def stage(self) -> str:
        return str(self.content.get("stage", ""))

    @property
    def outputs(self) -> list[str]:
        return list(self.content.get("outputs", {}))

    @property
    def counts(self) -> dict[str, Any]:
        """What it read, skipped and made."""
        return dict(self.content.get("counts", {}))

    def cost(self, key: str) -> float:
        """wall_seconds, cpu_seconds or peak_memory_mb; 0 where it was not recorded."""
        return float(self.content.get("cost", {}).get(key, 0) or 0)

    def requested(self, key: str) -> int:
        """What it asked the scheduler for, threads or memory_mb; 0 where it was not recorded."""
        return int(self.content.get("cost", {}).get("asked", {}).get(key, 0) or 0)


class Lineage:
    """All records, and which of them made a file."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self._maker = {output: i for i, record in enumerate(self.records) for output in record.outputs}

    @classmethod
    def read(cls, sidecars: Iterable[str | Path]) -> Lineage:
        return cls([Record(path, _read(path)) for path in sorted({str(p) for p in sidecars})])

    def maker(self, path: str) -> int | None:
        """Return the number of the record that made `path`, or the directory it lies in; None if unknown."""
        for candidate in (path, *(str(parent) for parent in PurePosixPath(path).parents)):
            if candidate in self._maker:
                return self._maker[candidate]
        return None

    def runs(self, run: RunName, seeds: Sequence[int]) -> list[int]:
        """Return the records of the files of one run, all folds and seeds."""
        if run.regime == FIRST_STAGE:
            stems = [f"/runs/{run.dataset}/{run.model}/first-stage."]
        else:
            base = f"/runs/{run.dataset}/{run.candidates}/{run.model}/{run.regime}/seed-"
            stems = [f"{base}{seed}{end}" for seed in seeds for end in "./"]
        makers = {i for output, i in self._maker.items() if any(stem in f"/{output}" for stem in stems)}
        return sorted(makers)

    def sources(self, number: int) -> list[int]:
        """Return the records that made the inputs of record `number`."""
        makers = (self.maker(path) for path in self.records[number].content.get("inputs", {}))
        return sorted({maker for maker in makers if maker is not None and maker != number})

    def reachable(self, numbers: Iterable[int]) -> list[int]:
        """Return the records that lead to `numbers`, themselves included."""
        waiting, reached = list(numbers), set()
        while waiting:
            number = waiting.pop()
            if number not in reached:
                reached.add(number)
                waiting += self.sources(number)
        return sorted(reached)

    def leading_to(self, paths: Iterable[str]) -> Lineage:
        makers = (self.maker(path) for path in paths)
        return Lineage([self.records[i] for i in self.reachable(m for m in makers if m is not None)])

    def payload(self, numbers: Iterable[int], most_bytes: int) -> dict[str, Any]:
        """Return the records as plain values for the report's page.

        What many records share (versions, hardware, parameters) is listed once. Where the whole would be larger
        than `most_bytes`, parameters are left out, then inputs; the sidecars hold everything.
        """
        chosen = list(numbers)
        for left_out in ((), ("parameters",), ("parameters", "inputs")):
            content = self._payload(chosen, left_out)
            if len(json.dumps(content)) <= most_bytes:
                break
        return content

    def _payload(self, numbers: Sequence[int], left_out: tuple[str, ...]) -> dict[str, Any]:
        shared = _Shared()
        records = {}
        for number in numbers:
            record = self.records[number]
            content = record.content
            inputs = [[path, digest, self.maker(path)] for path, digest in content.get("inputs", {}).items()]
            records[number] = {
                "stage": record.stage,
                "sidecar": record.path,
                "outputs": list(content.get("outputs", {}).items()),
                "inputs": [] if "inputs" in left_out else inputs,
                "sources": self.sources(number),
                "parameters": None if "parameters" in left_out else shared.number(_parameters(content)),
                "hash": content.get("parameters_hash", ""),
                "seed": content.get("parameters", {}).get("seed"),
                "counts": record.counts,
                "cost": content.get("cost", {}),
                "environment": shared.number(
                    {key: content.get(key, {}) for key in ("commit", "versions", "hardware")}
                ),
            }
        return {"records": records, "shared": shared.values, "left_out": list(left_out)}


class _Shared:
    """Distinct values, numbered in order of appearance."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        key = json.dumps(value, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def _read(path: str) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            path, f"this is not a sidecar: {error}", remedy="Delete it with its output and run again."
        ) from None
    if not isinstance(content, dict):
        raise InputError(path, "this is not a sidecar: not a JSON object")
    return content


def _parameters(content: dict[str, Any]) -> str:
    text = json.dumps(content.get("parameters", {}), indent=1, sort_keys=True, ensure_ascii=False)
    if len(text) <= PARAMETERS_LIMIT:
        return text
    return f"{text[:PARAMETERS_LIMIT]}\n… {len(text) - PARAMETERS_LIMIT:,} more characters in the sidecar"
