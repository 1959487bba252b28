"""Runs as others take them: plain text under a header of ir_metadata (Breuer et al., SIGIR 2022; ir-metadata.org).

The header is comment lines. trec_eval 10 and repro_eval pass over them; ir_measures, ranx, PyTerrier and trec_eval 9 do
not, so that runs without a header stay what the workflow reads and writes.
"""

import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from irpretrain.atomic import atomic_file
from irpretrain.errors import InputError
from irpretrain.provenance import read_sidecar


class RunFacts(NamedTuple):
    """What the configuration says of a run.

    Attributes:
        source: page of the data set, as far as it is known.
        stages: first stage, and the model that re-ranks it.
        training: labels of what the model was trained on.
    """

    tag: str
    dataset: str
    source: str
    measures: Sequence[str]
    stages: Sequence[str]
    training: Sequence[str]


def export_run(run: str | Path, facts: RunFacts, output: str | Path) -> dict[str, Any]:
    """Write a run as plain text under a header that says how it was made.

    Args:
        run: TREC run, gzip, with its sidecar.

    Raises:
        InputError: the run has no sidecar that can be read.
    """
    record = read_sidecar(run)
    if not record:
        raise InputError(
            f"{run}.meta.json", "is missing or no record of a job", remedy=f"Delete {run} and run again."
        )
    text = yaml.safe_dump(describe_run(facts, record), sort_keys=False, allow_unicode=True, width=4096)
    header = ["# ir_metadata.start", *(f"# {line}" for line in text.splitlines()), "# ir_metadata.end"]
    with atomic_file(output) as temporary, open(temporary, "wb") as file, gzip.open(run) as lines:
        file.write("".join(f"{line}\n" for line in header).encode())
        shutil.copyfileobj(lines, file)
    return {"header": len(header)}


def describe_run(facts: RunFacts, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the components of ir_metadata; `actor` is for whoever passes the run on.

    Args:
        record: sidecar of the run.
    """
    hardware, cost = record.get("hardware", {}), record.get("cost", {})
    libraries = [f"{name}=={version}" for name, version in record.get("versions", {}).items() if version]
    before, last = facts.stages[:-1], facts.stages[-1]
    final = {"name": last, "parameters": json.loads(json.dumps(record.get("parameters", {})))}
    if before:
        final["reranks"] = before[-1]
    return {
        "tag": facts.tag,
        "actor": {},
        "platform": {
            "hardware": {
                "cpu": {
                    "model": hardware.get("cpu"),
                    "architecture": hardware.get("machine"),
                    "number of cores": hardware.get("cores"),
                }
            },
            "software": {"libraries": {"python": libraries}},
        },
        "implementation": {"source": {"lang": ["python"], "commit": record.get("commit")}},
        "resources": {
            name: cost[name] for name in ("wall_seconds", "cpu_seconds", "peak_memory_mb") if name in cost
        },
        "research goal": {"evaluation": {"reported measures": list(facts.measures)}},
        "method": {
            "automatic": True,
            "score ties": "identifier of the document",
            "retrieval": [*({"name": stage} for stage in before), final],
        },
        "data": {
            "test collection": {"name": facts.dataset, **({"source": facts.source} if facts.source else {})},
            "training data": [{"name": name} for name in facts.training],
        },
    }
