"""A document's text from its fields."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.text.texts import body_start, compose, stream_texts
from small_documents import document_rows

DOCUMENT = {"title": "Fruit", "url": "https://fruit.example", "body": "Apples grow."}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Fruit. Apples grow."),
        ({"fields": ["body", "title"], "separator": " | "}, "Apples grow. | Fruit"),
        ({"fields": ["url", "title", "body"]}, "https://fruit.example. Fruit. Apples grow."),
        ({"fields": ["title"]}, "Fruit"),
    ],
)
def test_fields_are_joined_in_the_configured_order(changes: dict[str, object], expected: str) -> None:
    assert compose(DOCUMENT, TextConfig(words="letters", **changes)) == expected


def test_empty_fields_leave_no_separator_behind() -> None:
    text = TextConfig(words="letters")
    assert compose({**DOCUMENT, "title": " \n"}, text) == "Apples grow."
    assert compose({**DOCUMENT, "body": ""}, text) == "Fruit"
    assert compose({"title": "", "body": " "}, text) == ""
    assert compose({"title": " Fruit ", "body": "\tApples grow.\n"}, text) == "Fruit. Apples grow."


@given(
    st.lists(st.sampled_from(["url", "title", "body"]), min_size=1, unique=True),
    st.text(" ab\n", max_size=4),
    st.text(" cd\n", max_size=4),
    st.text(" ef\n", max_size=6),
)
def test_the_body_is_where_it_is_reported_to_begin(
    fields: list[str], url: str, title: str, body: str
) -> None:
    options = TextConfig(words="alphanumeric", fields=fields)
    document = {"url": url, "title": title, "body": body}
    if "body" not in fields:
        with pytest.raises(ConfigError, match=r"text\.fields: .* lacks body"):
            body_start(document, options)
        return
    text, shift = compose(document, options), body_start(document, options)
    for position in range(len(body) - len(body.lstrip()), len(body.rstrip())):
        assert text[shift + position] == body[position]


def test_a_table_is_streamed_in_its_order(tmp_path: Path) -> None:
    rows = [row | {"title": "T", "url": "u"} for row in document_rows("abcde")]
    DOCUMENTS.write(tmp_path / "documents.parquet", rows)
    options = TextConfig(words="letters", fields=["url", "body"])
    batches = list(stream_texts(tmp_path / "documents.parquet", options, 2))
    assert [names for names, _ in batches] == [["d0", "d1"], ["d2", "d3"], ["d4"]]
    assert [text for _, texts in batches for text in texts] == [f"u. {body}" for body in "abcde"]
