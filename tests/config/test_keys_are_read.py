"""Each key of the configuration is read: a key that no stage reads would be set, hashed and believed for nothing."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import irpretrain.config
from irpretrain.config.base import Section
from irpretrain.config.objectives import OBJECTIVES

ROOT = Path(__file__).parents[2]


def sections(parent: type[Section] = Section) -> Iterator[type[Section]]:
    for child in parent.__subclasses__():
        yield child
        yield from sections(child)


def names_read() -> set[str]:
    """Names of attributes, and texts (`getattr`) that are no members of sets: such sets list keys to pass over."""
    found, nodes = set(), list[ast.AST]()
    folders = ("src/irpretrain/**", "scripts", ".ci/pages")  # the catalogue's page is made of its keys
    for path in (path for folder in folders for path in ROOT.glob(f"{folder}/*.py")):
        nodes.append(ast.parse(path.read_text(encoding="utf-8")))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Set):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        nodes += ast.iter_child_nodes(node)
    return found


def test_each_key_is_read_by_a_stage() -> None:
    for module in pkgutil.walk_packages(irpretrain.config.__path__, "irpretrain.config."):
        importlib.import_module(module.name)
    for name in OBJECTIVES.values():
        importlib.import_module(name)
    keys = {(section.__name__, key) for section in sections() for key in section.model_fields}
    assert len(keys) > 600
    read = names_read()
    assert [key for key in sorted(keys) if key[1] not in read] == []


def test_only_how_a_job_computes_and_how_it_is_called_decides_nothing() -> None:
    """Pieces are files of their own, and threads of a sum are part of it."""
    for section in sections():
        for key, field in section.model_fields.items():
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            is_said = "No effect on results" in (field.description or "") and key != "shards"
            is_of_the_job = key in ("memory_mb", "log_every", "checkpoint_minutes")
            is_name = (section.__name__, key) == ("EncoderConfig", "label")
            assert extra.get("decides", True) == (not (is_said or is_of_the_job or is_name)), key
