"""Checkpoints of a job: whole or absent, checked by hash, the last two stored, removed after success.

Of several processes that train together the first writes, and decides which state all resume from.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from irpretrain.foundation.atomic import atomic_file, write_text
from irpretrain.foundation.other_code import resume_from, write_code
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import content_hash
from irpretrain.training.job_lock import hold_lock
from irpretrain.training.ranks import current_ranks

FILE_NAME = re.compile(r"step-(\d+)-([0-9a-f]{16})\.pt")
CODE_FILE = "code.json"
KEPT_CHECKPOINTS = 2


class Checkpoints:
    """The checkpoints of one job. A `with` statement locks the job against other processes."""

    # The folder's name hashes configuration, inputs and output: a changed configuration never meets old state, and
    # equal jobs with two outputs never share a folder.
    def __init__(self, root: str | Path, job: dict[str, Any], title: str, max_minutes: float) -> None:
        self.key = content_hash(job)
        self.directory = Path(root) / self.key
        self.clock = CheckpointClock(max_minutes)
        self._job, self._title, self._ranks = job, title, current_ranks()
        self._lock = hold_lock(Path(root) / f"{self.key}.lock", title) if self._ranks.leads else nullcontext()

    def __enter__(self) -> Checkpoints:
        self._lock.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._lock.__exit__(*exception)

    def save(self, step: int, state: dict[str, Any]) -> None:
        """Write the state after `step`, a number that grows, in the first process; remove all but the last two."""
        if not self._ranks.leads:
            return
        if not (self.directory / "job.json").exists():
            content = json.dumps(self._job, indent=1, sort_keys=True, default=str)
            write_text(self.directory / "job.json", content + "\n")
        write_code(self.directory / CODE_FILE)
        buffer = io.BytesIO()
        torch.save({**state, "step": step, "job": self.key}, buffer)
        data = buffer.getbuffer()
        with atomic_file(self.directory / f"step-{step:08d}-{sha256(data).hexdigest()[:16]}.pt") as temporary:
            temporary.write_bytes(data)
        for _, path in self._sorted_files()[KEPT_CHECKPOINTS:]:
            path.unlink()
        self.clock.saved()

    def load(self, is_whole: Callable[[dict[str, Any]], bool] = lambda state: True) -> dict[str, Any] | None:
        """Return the newest whole state, or None; remove and report damaged ones and those with damaged files.

        Args:
            is_whole: whether the files that belong to a state, such as the metrics of its steps, are whole.
        """
        state, path = self._newest_state(is_whole) if self._ranks.leads else (None, None)
        newest_path = self._ranks.from_first(lambda: path)
        return self._read(newest_path) if state is None and newest_path is not None else state

    def _newest_state(
        self, is_whole: Callable[[dict[str, Any]], bool]
    ) -> tuple[dict[str, Any] | None, Path | None]:
        for step, path in self._sorted_files():
            state = self._read(path)
            if state is None:
                fault = f"the checkpoint {path} is damaged; it"
            elif not is_whole(state):
                fault = f"the files up to step {step} are damaged in {self.directory}; the checkpoint of this step"
            else:
                print_line(f"[{self._title}] resumes from {path}")
                resume_from(self.directory / CODE_FILE)
                return state, path
            print_line(f"[{self._title}] {fault} is removed and an earlier state is used")
            path.unlink()
        return None, None

    def discard(self) -> None:
        """Remove the job's folder, after its results are written."""
        if not self._ranks.leads:
            return
        # Renamed first: a folder that a killed process left half removed must not be resumed from.
        removed_folder = self.directory.with_name(f".{self.key}.removed")
        shutil.rmtree(removed_folder, ignore_errors=True)
        if self.directory.exists():
            self.directory.rename(removed_folder)
        shutil.rmtree(removed_folder, ignore_errors=True)

    def _sorted_files(self) -> list[tuple[int, Path]]:
        if not self.directory.exists():
            return []
        checkpoints = [
            (int(match[1]), path)
            for path in self.directory.iterdir()
            if (match := FILE_NAME.fullmatch(path.name))
        ]
        return sorted(checkpoints, reverse=True)

    def _read(self, path: Path) -> dict[str, Any] | None:
        data = path.read_bytes()
        match = FILE_NAME.fullmatch(path.name)
        if match is None or sha256(data).hexdigest()[:16] != match[2]:
            return None
        state: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        return state if state.get("job") == self.key else None


# Seconds from the start of a job to its first saving.
SECONDS_TO_FIRST_SAVE = 5.0


class CheckpointClock:
    """Due soon after the job starts or resumes, then at twice the time each, at most `minutes` apart; 0: always due.

    A job that is killed repeatedly progresses if it computes for some seconds each time. A kill costs at most half of
    the time since the start, and at most `minutes`, besides the current step.
    """

    def __init__(self, max_minutes: float) -> None:
        self._max_interval = max_minutes * 60
        self._start_time = time.monotonic()
        self._due_time = self._start_time + min(SECONDS_TO_FIRST_SAVE, self._max_interval)

    def due(self) -> bool:
        return time.monotonic() >= self._due_time

    def saved(self) -> None:
        """Note that a save has just ended."""
        now = time.monotonic()
        self._due_time = now + min(now - self._start_time, self._max_interval)
