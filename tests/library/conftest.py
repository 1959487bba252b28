"""What the tests of the command share."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from irpretrain.command import main


class Called(NamedTuple):
    """The exit status of a call of the command, and what it printed."""

    status: int
    out: str
    err: str


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Return a function that calls `irpretrain` with arguments, in this process."""

    def called(*arguments: object) -> Called:
        capsys.readouterr()
        return Called(main([str(argument) for argument in arguments]), *capsys.readouterr())

    return called
