"""Every file has one name, and its wildcards are constrained."""

from __future__ import annotations

import re
from pathlib import Path

from irpretrain.workflow.plan import paths

ROOT = Path(__file__).resolve().parents[2]
PATHS = {
    name: path for name, path in vars(paths).items() if name.isupper() and str(path).startswith("results/")
}
RULES = "".join(path.read_text() for path in sorted((ROOT / "rules").glob("*.smk")))


def test_two_names_of_the_same_file_are_those_that_say_so():
    shapes = {name: re.sub(r"\{\w+\}", "*", path) for name, path in PATHS.items()}
    twice = {name for name, shape in shapes.items() if list(shapes.values()).count(shape) > 1}
    assert twice == {"QUERIES", "USED_QUERIES", "TERM_VECTORS", "INDEX_VECTORS"}


def test_each_wildcard_of_a_path_is_constrained():
    used = {wildcard for path in PATHS.values() for wildcard in re.findall(r"\{(\w+)\}", path)}
    assert used - paths.CONSTRAINTS.keys() == {"regime", "used", "name", "format"}, (
        "the rule constrains it, or plain names fill it"
    )


def test_each_path_is_in_a_rule():
    """TABLE and FIGURE are in those of the reports, whose outputs the plan lists."""
    unused = {name for name in PATHS if not re.search(rf"\bpaths\.{name}\b", RULES)}
    assert unused == {"TABLE", "FIGURE"}


def test_no_rule_spells_a_path_out():
    spelt = set(re.findall(r'"(results/[^"]*)"', RULES))
    assert {path.split("/")[1] for path in spelt} == {"logs"}


def test_a_sidecar_lies_beside_its_file():
    assert paths.sidecar("results/a.csv") == "results/a.csv.meta.json"
