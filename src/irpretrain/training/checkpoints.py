"""Checkpoints of a job: whole or absent, checked by hash, the last two kept, gone after success.

They lie in `<root>/<hash of configuration, inputs and output>/`, so a changed configuration or input never meets old
state, and two jobs that differ in nothing but their output, such as equal models of two names, never share a folder.
A checkpoint's name carries the SHA-256 of its bytes: a damaged one is noticed and the one before is used.
Of several processes that train together the first writes, and says which state all go on from.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from irpretrain.atomic import atomic_file, write_text
from irpretrain.progress import say
from irpretrain.provenance import content_hash
from irpretrain.training.checkpoint_clock import CheckpointClock
from irpretrain.training.job_lock import hold
from irpretrain.training.ranks import here

NAME = re.compile(r"step-(\d+)-([0-9a-f]{16})\.pt")
KEPT = 2


class Checkpoints:
    """The checkpoints of one job. A `with` statement keeps other processes from the job.

    Args:
        root: folder of all jobs' checkpoints.
        job: everything that the job's results depend on, and where they go, JSON-able; its hash names the folder.
        title: for messages.
        minutes: longest time between two of them.

    Attributes:
        directory: where they lie.
        clock: says when the next one is due.
    """

    def __init__(self, root: str | Path, job: dict[str, Any], title: str, minutes: float) -> None:
        self.key = content_hash(job)
        self.directory = Path(root) / self.key
        self.clock = CheckpointClock(minutes)
        self._job, self._title, self._ranks = job, title, here()
        self._lock = hold(Path(root) / f"{self.key}.lock", title) if self._ranks.leads else nullcontext()

    def __enter__(self) -> Checkpoints:
        self._lock.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._lock.__exit__(*exception)

    def save(self, step: int, state: dict[str, Any]) -> None:
        """Write the state after `step` (a number that grows) and remove all but the last two; in the first process."""
        if not self._ranks.leads:
            return
        if not (self.directory / "job.json").exists():
            write_text(
                self.directory / "job.json",
                json.dumps(self._job, indent=1, sort_keys=True, default=str) + "\n",
            )
        buffer = io.BytesIO()
        torch.save({**state, "step": step, "job": self.key}, buffer)
        data = buffer.getbuffer()
        with atomic_file(self.directory / f"step-{step:08d}-{sha256(data).hexdigest()[:16]}.pt") as temporary:
            temporary.write_bytes(data)
        for _, path in self._all()[KEPT:]:
            path.unlink()
        self.clock.saved()

    def load(self) -> dict[str, Any] | None:
        """Return the newest whole state (its `step` says how many are done), or None where there is none.

        A damaged checkpoint is reported, removed, and passed over.
        """
        state, path = self._newest() if self._ranks.leads else (None, None)
        chosen = self._ranks.from_first(lambda: path)
        return self._read(chosen) if state is None and chosen is not None else state

    def _newest(self) -> tuple[dict[str, Any] | None, Path | None]:
        """The newest whole state and its file."""
        for step, path in self._all():
            state = self._read(path)
            if state is not None:
                say(f"[{self._title}] resumes after {step} from {path}")
                return state, path
            say(
                f"[{self._title}] the checkpoint {path} is damaged; it is removed and an earlier state is used"
            )
            path.unlink()
        return None, None

    def discard(self) -> None:
        """Remove the job's folder, after its results are written.

        It is renamed first: a folder that a killed process left half removed must not be resumed from.
        """
        if not self._ranks.leads:
            return
        removed = self.directory.with_name(f".{self.key}.removed")
        shutil.rmtree(removed, ignore_errors=True)
        if self.directory.exists():
            self.directory.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)

    def _all(self) -> list[tuple[int, Path]]:
        """All checkpoints, newest first."""
        if not self.directory.exists():
            return []
        checkpoints = [
            (int(match[1]), path) for path in self.directory.iterdir() if (match := NAME.fullmatch(path.name))
        ]
        return sorted(checkpoints, reverse=True)

    def _read(self, path: Path) -> dict[str, Any] | None:
        data = path.read_bytes()
        match = NAME.fullmatch(path.name)
        if match is None or sha256(data).hexdigest()[:16] != match[2]:
            return None
        state: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        return state if state.get("job") == self.key else None
