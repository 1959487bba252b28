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

        Versions and hardware, which many records share, are listed once. Where the whole would be larger than
        `most_bytes`, inputs are left out; the sidecars hold everything.
        """
        environments: dict[str, dict[str, Any]] = {}
        records = {}
        for number in numbers:
            record, content = self.records[number], self.records[number].content
            environment = {key: content.get(key) or {} for key in ("commit", "versions", "hardware")}
            key = json.dumps(environment, sort_keys=True)
            environments.setdefault(key, environment)
            records[number] = {
                "stage": record.stage,
                "sidecar": record.path,
                "outputs": list(content.get("outputs", {}).items()),
                "inputs": list(content.get("inputs", {}).items()),
                "sources": self.sources(number),
                "hash": content.get("parameters_hash", ""),
                "seed": content.get("parameters", {}).get("seed"),
                "counts": record.counts,
                "cost": content.get("cost", {}),
                "environment": list(environments).index(key),
            }
        payload = {"records": records, "environments": list(environments.values()), "left_out": False}
        if len(json.dumps(payload)) > most_bytes:
            fewer = {number: {**record, "inputs": []} for number, record in records.items()}
            payload |= {"records": fewer, "left_out": True}
        return payload


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
