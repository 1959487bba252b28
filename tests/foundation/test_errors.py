"""Messages that say what and where, and survive the way through a process pool."""

import pickle

import pytest

from irpretrain.foundation.errors import (
    ConfigError,
    InputError,
    IntegrityError,
    count_of,
    first_names,
)


@pytest.mark.parametrize(
    ("line", "remedy", "expected"),
    [
        (3, "Fill it.", "data/a.tsv:3: empty\n  Fill it."),
        (1, "", "data/a.tsv:1: empty"),
        (None, "Fill it.", "data/a.tsv: empty\n  Fill it."),
        (None, "", "data/a.tsv: empty"),
    ],
)
def test_the_message_says_where_what_and_what_to_do(line, remedy, expected):
    assert str(InputError("data/a.tsv", "empty", line, remedy)) == expected


@pytest.mark.parametrize("kind", [InputError, IntegrityError])
@pytest.mark.parametrize("path", ["./a.jsonl", "/data/a.jsonl", "embedded:squad//train"])
def test_input_errors_are_the_same_after_pickling(kind, path):
    error = kind(path, "not JSON", line=3, remedy="Mend the line.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_control_characters_are_written_out_and_long_lines_lose_their_middle():
    error = InputError("a\x1b[2J\r\u202e\ud800.tsv", "column \x9b31m\x00", remedy="One.\n\tTwo.")
    assert str(error) == "a\\x1b[2J\\r\\u202e\\ud800.tsv: column \\x9b31m\\x00\n  One.\n\tTwo."
    assert str(ConfigError("a\x1b")) == "a\\x1b"
    long = str(InputError("a", f"the header is {'x' * 10_000}, which is long", remedy="Mend it."))
    assert [len(str(ConfigError("x" * length))) for length in (2000, 2001, 9000)] == [2000, 2003, 2003]
    assert long.startswith("a: the header is xxx")
    assert long.endswith("xxx, which is long\n  Mend it.")


def test_of_many_names_the_first_are_given():
    texts = [first_names("abc"[:count], 2) for count in range(4)]
    assert texts == ["", "a", "a, b", "a, b and 1 more"]
    assert first_names("a" * 1002, 1) == "a and 1,001 more"


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "line", "1 line"),
        (0, "query", "0 queries"),
        (1, "query", "1 query"),
        (1234, "epoch", "1,234 epochs"),
    ],
)
def test_one_of_a_kind_is_singular(number: int, noun: str, text: str) -> None:
    assert count_of(number, noun) == text
