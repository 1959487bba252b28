"""Words of YAML mean what YAML 1.2 says, and a number is no truth value, at any depth."""

import os
from pathlib import Path

import pytest
import yaml

from irpretrain.command.files import read_settings
from irpretrain.config import load_config
from irpretrain.config.base import Section, explain, option
from irpretrain.config.yaml_files import MAX_BYTES, read_yaml
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.resources import parse_yaml
from irpretrain.foundation.yaml_scalars import dump_yaml

ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    ("0200", 200),
    ("-017", -17),
    ("0o17", 15),
    ("0x1F", 31),
    ("1e3", 1000.0),
    ("-.5E-1", -0.05),
    ("1.", 1.0),
    (".inf", float("inf")),
    ("3:20", "3:20"),
    ("1_000", "1_000"),
    ("0b11", "0b11"),
    ("2026-11-27", "2026-11-27"),
    ("off", "off"),
    ("No", "No"),
    ("y", "y"),
    ("=", "="),
    ("true", True),
    ("FALSE", False),
    ("tRue", "tRue"),
    ("~", None),
    ("null", None),
    ("", None),
]


@pytest.mark.parametrize(("word", "value"), WORDS, ids=[word or "empty" for word, _ in WORDS])
def test_a_plain_word_is_read_by_the_core_schema(tmp_path, word, value):
    path = tmp_path / "o.yaml"
    path.write_text(f"key: {word}\n")
    for read in (read_yaml(path)["key"], parse_yaml(f"key: {word}")["key"]):
        assert read == value
        assert type(read) is type(value)
    if word:
        assert read_settings("--set", [f"key={word}"]) == {"key": value}


@pytest.mark.parametrize(
    "text", ["08", "0o17", "1e5", "off", "2026-11-27", "3:20", "~", "1_0", "true", "a b"]
)
def test_what_is_written_is_read_alike_by_both_versions_of_yaml(tmp_path, text):
    path = tmp_path / "o.yaml"
    path.write_text(dump_yaml({"path": text, text: [0.5, 1e20, 8, True, None]}))
    assert (
        read_yaml(path)
        == yaml.safe_load(path.read_text())
        == {"path": text, text: [0.5, 1e20, 8, True, None]}
    )


def test_words_for_no_are_words_where_the_key_has_words(tmp_path):
    (tmp_path / "o.yaml").write_text("pretraining: {steps: 0200, compute: {packing: off}}\nskip_absent: no\n")
    config = load_config(ROOT / "config.yaml", tmp_path / "o.yaml")
    assert (config.pretraining.steps, config.pretraining.compute.packing) == (200, "off")
    assert config.skip_absent is False


class Shapes(Section):
    """A number in every place that a type has."""

    number: int | None = None
    share: float = 0.5
    numbers: list[int] = option([])
    pairs: list[tuple[int, float]] = option([])
    named: dict[str, float] | None = None
    bounds: tuple[int, ...] = ()
    switch: bool | int = False
    switches: list[bool] = option([])
    words: list[int] | list[bool] = option([])


@pytest.mark.parametrize(
    "given",
    [
        {"number": True},
        {"share": False},
        {"numbers": [1, True]},
        {"pairs": [[1, 0.5], [2, True]]},
        {"named": {"a": 1, "b": False}},
        {"bounds": [True]},
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_truth_value_is_no_number_at_any_depth(given):
    with pytest.raises(
        ConfigError, match=rf"- {next(iter(given))}[.\w]*: a number is needed, not (true|false)"
    ):
        explain(Shapes, given, "shapes", top=True)


def test_truth_values_stay_where_a_type_has_them():
    given = {"switch": True, "switches": [True], "words": [True, False], "number": None}
    assert explain(Shapes, given, "shapes", top=True).model_dump(include=set(given)) == given


def test_a_configuration_file_is_a_file_with_an_end(tmp_path):
    fifo, large = tmp_path / "fifo.yaml", tmp_path / "large.yaml"
    os.mkfifo(fifo)
    with open(large, "wb") as file:
        file.truncate(MAX_BYTES + 1)
    for path, reason in [
        ("/dev/zero", "a pipe or a device"),
        (str(fifo), "a pipe or a device"),
        (str(tmp_path), "a folder"),
        (str(large), "larger than 4 MB"),
    ]:
        overlay = tmp_path / "o.yaml"
        overlay.write_text(dump_yaml({"layers": [path]}))
        with pytest.raises(ConfigError, match=f"{path}: .*{reason}"):
            load_config(ROOT / "config.yaml", overlay)
