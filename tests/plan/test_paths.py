"""Every file has one name, and its wildcards are constrained."""

import re

from irpretrain.workflow.plan import paths

PATHS = {
    name: path for name, path in vars(paths).items() if name.isupper() and str(path).startswith("results/")
}


def test_two_names_of_the_same_file_are_those_that_say_so():
    shapes = {name: re.sub(r"\{\w+\}", "*", path) for name, path in PATHS.items()}
    twice = {name for name, shape in shapes.items() if list(shapes.values()).count(shape) > 1}
    assert twice == {"QUERIES", "USED_QUERIES", "TERM_VECTORS", "INDEX_VECTORS"}


def test_each_wildcard_of_a_path_is_constrained():
    used = {wildcard for path in PATHS.values() for wildcard in re.findall(r"\{(\w+)\}", path)}
    assert used - paths.CONSTRAINTS.keys() == {"regime", "used", "name", "format"}, (
        "the rule constrains it, or plain names fill it"
    )


def test_a_sidecar_lies_beside_its_file():
    assert paths.sidecar("results/a.csv") == "results/a.csv.meta.json"
