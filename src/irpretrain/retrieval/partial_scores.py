"""Scores of a long re-ranking as far as they are computed, so that a job that is broken off goes on where it was.

They lie in `<root>/<hash of everything that the scores depend on>.scores`, as checkpoints do, and go when the run is
written. Pairs have one order, so that their number says which are scored. Batches do not count: how they are cut
depends on the machine, as a GPU may pack sequences.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irpretrain.atomic import atomic_file
from irpretrain.provenance import content_hash
from irpretrain.training.checkpoint_clock import CheckpointClock
from irpretrain.training.job_lock import hold


class PartialScores:
    """The scores of one job, kept in a file.

    Args:
        path: the file; need not exist.
        clock: says when to save.
        before: called before each saving.
    """

    def __init__(self, path: Path, clock: CheckpointClock, before: Callable[[], None] = lambda: None) -> None:
        self._path, self._clock, self._before = path, clock, before

    def resume(self, pairs: int) -> tuple[NDArray[np.float32], int]:
        """Return scores, float32 [pairs], and how many of the pairs, in the order of `batch_by_length`, are scored; a
        damaged file is not used."""
        try:
            with open(self._path, "rb") as handle:
                done, scores = int(np.load(handle)), np.load(handle)
        except (OSError, ValueError, TypeError, EOFError):
            return np.zeros(pairs, np.float32), 0
        if scores.shape != (pairs,) or scores.dtype != np.float32 or not 0 < done <= pairs:
            return np.zeros(pairs, np.float32), 0
        return scores, done

    def keep(self, scores: NDArray[np.float32], done: int) -> None:
        """Save the scores after so many scored pairs, if it is time."""
        if not self._clock.due():
            return
        self._before()
        with atomic_file(self._path) as temporary, open(temporary, "wb") as handle:
            np.save(handle, np.int64(done))
            np.save(handle, scores)
        self._clock.saved()

    def discard(self) -> None:
        """Remove the file: the scores are no longer needed."""
        self._path.unlink(missing_ok=True)


@contextmanager
def partial_scores(
    job: dict[str, Any], root: str | Path, title: str, minutes: float
) -> Iterator[PartialScores]:
    """Yield the scores of a job, which no other process works on meanwhile; they are removed if it ends well.

    Args:
        job: everything that the scores depend on, JSON-able.
        root: folder of all jobs' unfinished work.
        title: for messages.
        minutes: longest time between two savings.
    """
    key = content_hash(job)
    with hold(Path(root) / f"{key}.lock", title):
        kept = PartialScores(Path(root) / f"{key}.scores", CheckpointClock(minutes))
        yield kept
        kept.discard()
