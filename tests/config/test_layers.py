"""Overlays that lie under another: in which order, where from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from irpretrain.config.load import lay_overlays
from irpretrain.errors import ConfigError


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def _write(name: str, text: str) -> str:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        return name

    _write("base.yaml", "a: {x: 0, y: 0, z: 0}\n")
    return _write


def test_layers_lie_under_the_overlay_that_names_them_and_over_the_base(write):
    write("deep/low.yaml", "a: {x: 1, y: 1}\n")
    write("deep/middle.yaml", "layers: [low.yaml]\na: {y: 2}\n")
    top = write("top.yaml", "layers: [deep/middle.yaml]\na: {z: 3}\n")
    assert lay_overlays("base.yaml", [top]) == {"a": {"x": 1, "y": 2, "z": 3}}


def test_a_layer_of_several_lies_where_it_is_first_named(write):
    write("common.yaml", "a: {x: 1}\n")
    one = write("one.yaml", "layers: [common.yaml]\na: {x: 2}\n")
    two = write("two.yaml", "layers: [common.yaml]\na: {y: 2}\n")
    assert lay_overlays("base.yaml", [one, two])["a"] == {"x": 2, "y": 2, "z": 0}
    both = write("both.yaml", "layers: [one.yaml, two.yaml]\n")
    assert lay_overlays("base.yaml", [both])["a"] == {"x": 2, "y": 2, "z": 0}


def test_an_overlay_that_is_given_lies_where_it_is_given(write):
    """So that one paper's overlay over all papers' has the last word."""
    one = write("one.yaml", "a: {x: 1}\n")
    two = write("two.yaml", "a: {x: 2}\n")
    both = write("both.yaml", "layers: [one.yaml, two.yaml]\n")
    assert lay_overlays("base.yaml", [both, one])["a"]["x"] == 1
    assert lay_overlays("base.yaml", [both, two])["a"]["x"] == 2


def test_circles_end(write):
    one = write("one.yaml", "layers: [two.yaml]\na: {x: 1}\n")
    write("two.yaml", "layers: [one.yaml]\na: {x: 2}\n")
    assert lay_overlays("base.yaml", [one])["a"]["x"] == 1


def test_keys_of_the_command_line_are_last_and_null_stays(write):
    one = write("one.yaml", "a: null\nb: {c: 1}\n")
    assert lay_overlays("base.yaml", [one], {"b": {"c": 2}}) == {"a": None, "b": {"c": 2}}


def test_what_is_no_list_or_is_not_there_is_one_message(write):
    one = write("one.yaml", "layers: low.yaml\n")
    with pytest.raises(
        ConfigError, match=r"one\.yaml: layers must be a list of overlays' paths; given was 'low"
    ):
        lay_overlays("base.yaml", [one])
    two = write("two.yaml", "layers: [low.yaml]\n")
    with pytest.raises(ConfigError, match=r"low\.yaml: there is no such configuration file"):
        lay_overlays("base.yaml", [two])
