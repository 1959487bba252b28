"""Titles in normal form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.wikipedia.titles import normal_title


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("apple pie", "Apple pie"),
        ("Apple_pie", "Apple pie"),
        ("__apple _ pie_ ", "Apple pie"),
        (" Super_Bowl_50", "Super Bowl 50"),
        ("apple\u00a0pie", "Apple pie"),
        (":Apple", "Apple"),
        (": apple", "Apple"),
        ("éclair", "Éclair"),
        ("ßx", "ßx"),
        ("œuvre", "Œuvre"),
        ("iPod", "IPod"),
        ("C#", "C#"),
        ("50 Cent", "50 Cent"),
        ("", ""),
        ("_", ""),
    ],
)
def test_normal_form(written, normal):
    assert normal_title(written) == normal


def test_wikis_with_case_sensitive_first_letters():
    assert normal_title("apple_Pie", "case-sensitive") == "apple Pie"


@given(st.text())
def test_only_the_first_colon_changes_a_normal_form_again(title):
    once = normal_title(title)
    if not once.startswith(":"):
        assert normal_title(once) == once
    assert "_" not in once
    assert once == once.strip()
