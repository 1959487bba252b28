"""Batches that other processes read: in the order of the steps, with the errors that reading has."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain.foundation.errors import InputError, TrainingError
from irpretrain.training.read_ahead import reading_ahead


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
