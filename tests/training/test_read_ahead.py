"""Batches that other processes read: in the order of the steps, with the errors that reading has."""

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.training.read_ahead import READER_PROCESSES, reading_ahead


def squares(step: int) -> tuple[int, np.ndarray]:
    return os.getpid(), np.full(3, step**2)


@pytest.mark.parametrize("steps", [range(0), range(1), range(3, 20)])
@pytest.mark.parametrize("ahead", [True, False])
def test_batches_come_in_the_order_of_the_steps(steps: range, ahead: bool) -> None:
    with reading_ahead(squares, steps, ahead) as batches:
        found = [next(batches) for _ in steps]
    assert [array.tolist() for _, array in found] == [[step**2] * 3 for step in steps]
    assert all((process != os.getpid()) == ahead for process, _ in found)


@pytest.mark.parametrize("ahead", [True, False])
def test_what_reading_raises_is_raised_at_its_step(ahead: bool) -> None:
    def read(step: int) -> int:
        if step == 2:
            raise InputError(Path("groups.parquet"), "document 'd' is missing", remedy="Make it again.")
        return step

    found = []
    with pytest.raises(InputError, match=r"groups\.parquet: document 'd' is missing\n? *Make it again"):
        with reading_ahead(read, range(9), ahead) as batches:
            found += batches
    assert found == [] or found == [0, 1]


class UnreadableError(Exception):
    """Can be pickled, but not read."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def test_an_error_that_another_process_cannot_read_is_named() -> None:
    def read(step: int) -> int:
        raise UnreadableError("pears", "figs")

    with pytest.raises(TrainingError, match="UnreadableError: pears and figs"):
        with reading_ahead(read, range(9), True) as batches:
            list(batches)


def test_what_is_still_to_be_read_is_not_where_nobody_waits_for_it(tmp_path: Path) -> None:
    def read(step: int) -> int:
        (tmp_path / str(step)).touch()
        while step > 0 and not (tmp_path / "end").exists():
            time.sleep(0.01)
        return step

    others = set(multiprocessing.active_children())
    with reading_ahead(read, range(9), True) as batches:
        next(batches)
        while len(list(tmp_path.iterdir())) < 1 + READER_PROCESSES:
            time.sleep(0.01)
    (tmp_path / "end").touch()
    for process in set(multiprocessing.active_children()) - others:
        process.join()
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2", "end"}


@pytest.mark.parametrize("ending_signal", [signal.SIGTERM, signal.SIGHUP])
def test_a_reader_does_not_answer_signals_as_its_parent_does(ending_signal: signal.Signals) -> None:
    def read(step: int) -> int:
        os.kill(os.getpid(), ending_signal)
        return step

    previous_handler = signal.signal(ending_signal, lambda *_: pytest.fail("answered as the parent"))
    try:
        with pytest.raises(TrainingError, match="a process that reads batches was killed"):
            with reading_ahead(read, range(3), True) as batches:
                list(batches)
    finally:
        signal.signal(ending_signal, previous_handler)


def test_a_reader_leaves_ctrl_c_to_the_process_that_it_reads_for() -> None:
    def read(step: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return step

    with reading_ahead(read, range(3), True) as batches:
        assert list(batches) == [0, 1, 2]


def test_a_reader_that_was_killed_is_reported() -> None:
    def read(step: int) -> Any:
        if step == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return step

    with pytest.raises(TrainingError, match="a process that reads batches was killed"):
        with reading_ahead(read, range(9), True) as batches:
            list(batches)
