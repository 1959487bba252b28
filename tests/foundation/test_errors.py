"""Messages that say what and where, and survive the way through a process pool."""

from __future__ import annotations

import pickle

import pytest

from irpretrain.errors import (
    ConfigError,
    InputError,
    IntegrityError,
    IRPretrainError,
    SetupError,
    TrainingError,
)


def test_the_message_says_where_what_and_what_to_do():
    error = InputError("data/a.jsonl", "not JSON", line=3, remedy="Mend the line.")
    assert str(error) == "data/a.jsonl:3: not JSON\n  Mend the line."


@pytest.mark.parametrize(
    ("line", "remedy", "expected"),
    [(None, "", "a.tsv: empty"), (1, "", "a.tsv:1: empty"), (None, "Fill it.", "a.tsv: empty\n  Fill it.")],
)
def test_line_and_remedy_are_optional(line, remedy, expected):
    assert str(InputError("a.tsv", "empty", line, remedy)) == expected


@pytest.mark.parametrize("kind", [InputError, IntegrityError])
@pytest.mark.parametrize("path", ["./a.jsonl", "/data/a.jsonl", "embedded:squad//train"])
def test_input_errors_are_the_same_after_pickling(kind, path):
    error = kind(path, "not JSON", line=3, remedy="Mend the line.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert (again.path, again.reason, again.line, again.remedy) == (
        error.path,
        error.reason,
        error.line,
        error.remedy,
    )


@pytest.mark.parametrize("kind", [ConfigError, SetupError, TrainingError])
def test_plain_errors_are_the_same_after_pickling(kind):
    again = pickle.loads(pickle.dumps(kind("what is wrong")))
    assert type(again) is kind
    assert str(again) == "what is wrong"


def test_every_error_is_meant_for_the_user():
    for kind in (ConfigError, InputError, IntegrityError, SetupError, TrainingError):
        assert issubclass(kind, IRPretrainError)
