"""Where a number comes from: the sidecars of all stages, joined by the files that one makes and another reads, and what
the page's provenance dialog says of each value of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from irpretrain.config import Config
from irpretrain.config.labels import regime_label
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.foundation.errors import refusing
from irpretrain.foundation.provenance import read_record
from irpretrain.report.cells import Cell, OurValue, Table, difference_text, p_text, value_text
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

    @property
    def requested_memory_mb(self) -> int:
        """What it asked the scheduler for; 0 where it was not recorded."""
        return int(self.content.get("cost", {}).get("asked", {}).get("memory_mb", 0) or 0)


class Lineage:
    """All records, and which of them made a file."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self._index_of_maker = {
            output: index for index, record in enumerate(self.records) for output in record.outputs
        }

    @classmethod
    def read(cls, sidecars: Iterable[str | Path]) -> Lineage:
        records = []
        for path in sorted(map(str, sidecars)):
            with refusing(path, "this is not a sidecar", "Delete it with its output and run again."):
                records.append(Record(path, read_record(path)))
        return cls(records)

    def maker_index(self, path: str) -> int | None:
        """Return the index of the record that made `path`, or the directory it lies in; None if unknown."""
        for candidate in (path, *(str(parent) for parent in PurePosixPath(path).parents)):
            if candidate in self._index_of_maker:
                return self._index_of_maker[candidate]
        return None

    def runs(self, run: RunName, seeds: Sequence[int]) -> list[int]:
        """Return the records of the files of one run, all folds and seeds."""
        candidates = run.candidates.partition("@")[0]  # a run that is scored at a depth is the whole list's
        base = f"/runs/{run.dataset}/{candidates}/{run.model}/{run.regime}/seed-"
        stems = [f"{base}{seed}{separator}" for seed in seeds for separator in "./"]
        if run.regime == FIRST_STAGE:
            stems = [f"/runs/{run.dataset}/{run.model}/first-stage."]
        makers_of_outputs = self._index_of_maker.items()
        return sorted(
            {index for output, index in makers_of_outputs if any(stem in f"/{output}" for stem in stems)}
        )

    def sources(self, index: int) -> list[int]:
        """Return the records that made the inputs of a record."""
        makers = (self.maker_index(path) for path in self.records[index].content.get("inputs", {}))
        return sorted({maker for maker in makers if maker is not None and maker != index})

    def reachable(self, indices: Iterable[int]) -> list[int]:
        """Return the records that lead to some records, themselves included."""
        pending, reached = list(indices), set()
        while pending:
            index = pending.pop()
            if index not in reached:
                reached.add(index)
                pending += self.sources(index)
        return sorted(reached)

    def leading_to(self, paths: Iterable[str]) -> Lineage:
        makers = (self.maker_index(path) for path in paths)
        return Lineage(
            [self.records[index] for index in self.reachable(maker for maker in makers if maker is not None)]
        )

    def payload(self, indices: Iterable[int], max_bytes: int) -> dict[str, Any]:
        """Return the records as plain values for the report's page.

        Versions and hardware, which many records share, are listed once. Where the whole would be larger than
        `max_bytes`, inputs are left out; the sidecars hold everything.
        """
        environments: dict[str, dict[str, Any]] = {}
        records = {}
        for index in indices:
            record, content = self.records[index], self.records[index].content
            environment = {key: content.get(key) or {} for key in ("commit", "versions", "hardware")}
            key = json.dumps(environment, sort_keys=True)
            environments.setdefault(key, environment)
            records[index] = {
                "stage": record.stage,
                "sidecar": record.path,
                "outputs": list(content.get("outputs", {}).items()),
                "inputs": list(content.get("inputs", {}).items()),
                "sources": self.sources(index),
                "hash": content.get("parameters_hash", ""),
                "seed": content.get("parameters", {}).get("seed"),
                "counts": record.counts,
                "cost": content.get("cost", {}),
                "environment": list(environments).index(key),
            }
        payload = {"records": records, "environments": list(environments.values()), "left_out": False}
        if len(json.dumps(payload)) > max_bytes:
            without_inputs = {index: {**record, "inputs": []} for index, record in records.items()}
            payload |= {"records": without_inputs, "left_out": True}
        return payload


class CellBook:
    """Numbers the cells of ours and collects what their provenance dialog shows."""

    def __init__(self, config: Config, lineage: Lineage) -> None:
        self._config, self._lineage = config, lineage
        self.cells: list[dict[str, Any]] = []
        self._cell_indices: dict[tuple[str, OurValue], int] = {}

    def cell_index(self, table: Table, cell: Cell, ours: OurValue) -> int:
        key = (table.name, ours)
        if key not in self._cell_indices:
            self._cell_indices[key] = len(self.cells)
            self.cells.append(self._entry(cell, ours))
        return self._cell_indices[key]

    def _entry(self, cell: Cell, ours: OurValue) -> dict[str, Any]:
        run = ours.run
        if cell.source:
            facts = [("Model", run.model), ("Data", run.dataset), ("File", cell.source)]
        else:
            facts = [
                ("Model", self._config.model_label(run.model)),
                ("Data set", self._config.dataset_label(run.dataset, run.candidates)),
                ("Regime", regime_label(run.regime)),
            ]
        facts += [
            ("Measure", ours.measure),
            ("Value", value_text(ours, marks=False)),
            (cell.unit.capitalize(), f"{ours.sample_size:,}"),
        ]
        if run.regime == FIRST_STAGE:
            facts.append(("Seeds", "none: nothing is trained"))
        elif ours.seeds:
            facts.append(("Seeds", ", ".join(str(seed) for seed in ours.seeds)))
        if cell.published is not None:
            facts.append(("Published", cell.published.printed))
        facts += [
            (f"Against {c.label}", f"{difference_text(c.difference)}, {p_text(c.p)}")
            for c in ours.comparisons
        ]
        if cell.difference is not None:
            facts.append(("Ours minus published", difference_text(cell.difference)))
        if cell.note:
            facts.append(("Note", cell.note))
        if not cell.source:
            return {"facts": facts, "runs": self._lineage.runs(run, ours.seeds)}
        maker = self._lineage.maker_index(cell.source)
        return {"facts": facts, "runs": [] if maker is None else [maker]}

    def reachable(self) -> list[int]:
        """Return every record that leads to a cell."""
        return self._lineage.reachable(index for cell in self.cells for index in cell["runs"])
