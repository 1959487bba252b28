"""Each key of the configuration is read: a key that no stage reads would be set, hashed and believed for nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from mypy import build, types
from mypy.main import process_options
from mypy.nodes import CallExpr, FuncDef, MemberExpr, NameExpr, Node, StrExpr

from irpretrain.config import Config
from irpretrain.config.axioms import DiagnosisConfig
from irpretrain.config.base import Section
from irpretrain.config.corpora import DatasetConfig
from irpretrain.config.objectives import OBJECTIVES, options_class
from irpretrain.config.retrieval import (
    Bm25Config,
    JelinekMercerConfig,
    ParametersConfig,
    QueryLikelihoodConfig,
)
from irpretrain.config.text import GraphConfig

ROOT = Path(__file__).parents[2]

# Keys that code reads without naming the type of what has them.
READ_OTHERWISE: dict[type[Section], set[str]] = {
    DatasetConfig: {"validation_measure"},  # by rules/reranking.smk
    DiagnosisConfig: {"collection"},  # by plan/shown.py, beside predictors and models
    JelinekMercerConfig: {"smoothing"},  # by `parameters_of`, as QueryLikelihoodConfig
    ParametersConfig: {"k1", "b", "mu", "smoothing"},  # by `Run.search`
    QueryLikelihoodConfig: {"mu"},
    options_class("ares"): {"predictor"},  # wherever objectives of any type are
    options_class("bfs"): {"negatives"},  # by objectives/passages.py, as ICT's
    options_class("ict"): {"negatives"},
}

# Without the types of other packages, but of pydantic, in whose annotations those of the sections stand.
MYPY = """
[mypy]
mypy_path = {root}/src:{root}/.ci/pages:{root}
explicit_package_bases = True
ignore_missing_imports = True
follow_imports = skip
[mypy-pydantic.*]
follow_imports = normal
[mypy-matplotlib.*,numpy.*,pandas.*,tokenizers.*,torch.*,yaml.*]
follow_imports_for_stubs = True
"""

# Class and attribute.
Read = tuple[str, str]


def sections(annotation: Any = Config) -> Iterator[type[Section]]:
    """Sections that a configuration can hold, at any depth; some repeatedly."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
        for field in annotation.model_fields.values():
            yield from sections(field.annotation)
    for inner in get_args(annotation):
        yield from sections(inner)
    if annotation is Config:
        for name in OBJECTIVES:
            yield from sections(options_class(name))


SECTIONS = list(dict.fromkeys(sections()))


def keys() -> Iterator[tuple[type[Section], str]]:
    for section in SECTIONS:
        for key, field in section.model_fields.items():
            if get_origin(field.annotation) is not Literal or len(get_args(field.annotation)) > 1:
                yield section, key  # all but a `type` that tells the options of objectives apart


def is_read(section: type[Section], key: str, reads: set[Read]) -> bool:
    """Whether code reads the key of this class, of one that it inherits from, or of one that inherits it."""
    inherited = (base for base in section.__mro__ if key in getattr(base, "model_fields", {}))
    inheriting = (other for other in SECTIONS if issubclass(other, section))
    return any((f"{cls.__module__}.{cls.__qualname__}", key) in reads for cls in (*inherited, *inheriting))


def class_names(value_type: types.Type | None) -> Iterator[str]:
    value_type = types.get_proper_type(value_type)
    if isinstance(value_type, types.UnionType):
        for item in value_type.items:
            yield from class_names(item)
    elif isinstance(value_type, types.TypeVarType):
        yield from class_names(value_type.upper_bound)
    elif isinstance(value_type, types.Instance):
        yield value_type.type.fullname


def nodes(tree: Node) -> Iterator[Node]:
    """Nodes of a module but those in functions that only check keys. Compiled visitors of mypy cannot be inherited."""
    reached_ids, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        is_check = isinstance(node, FuncDef) and node.name.endswith(("fault", "faults"))
        if is_check or id(node) in reached_ids:
            continue
        reached_ids.add(id(node))
        yield node
        for name in type(node).__mypyc_attrs__:
            # `node`, `info` and others lead to definitions elsewhere, `names` is a module's table of symbols.
            if name not in ("node", "info", "def_var", "names", "type", "unanalyzed_type", "target"):
                values = [getattr(node, name, None)]
                while values:
                    value = values.pop()
                    values += value if isinstance(value, (list, tuple)) else ()
                    waiting += [value] if isinstance(value, Node) else ()


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> set[Read]:
    """Every read of an attribute whose class mypy knows; `getattr` by a variable reads whatever a text names."""
    ini = tmp_path_factory.mktemp("reads") / "mypy.ini"
    ini.write_text(MYPY.format(root=ROOT))
    folders = [str(ROOT / folder) for folder in ("src", "scripts", ".ci/pages")]
    sources, options = process_options(["--config-file", str(ini), *folders])
    options.export_types, options.preserve_asts, options.incremental = True, True, False
    result = build.build(sources, options)
    found, texts, read_by_variables = set[Read](), set[str](), set[str]()
    for source in sources:
        tree = result.graph[source.module].tree
        assert tree is not None
        for node in nodes(tree):
            if isinstance(node, StrExpr):
                texts.add(node.value)
            elif isinstance(node, MemberExpr):
                found |= {(name, node.name) for name in class_names(result.types.get(node.expr))}
            elif (
                isinstance(node, CallExpr)
                and isinstance(node.callee, NameExpr)
                and node.callee.name == "getattr"
            ):
                names = set(class_names(result.types.get(node.args[0])))
                if isinstance(node.args[1], StrExpr):
                    found |= {(name, node.args[1].value) for name in names}
                else:
                    read_by_variables |= names
    return found | {(name, text) for name in read_by_variables for text in texts}


def test_each_key_is_read_by_a_stage(reads: set[Read]) -> None:
    assert len(list(keys())) > 380
    unread = {(section, key) for section, key in keys() if not is_read(section, key, reads)}
    assert unread == {(section, key) for section, names in READ_OTHERWISE.items() for key in names}
    # Such keys are read, but of other sections.
    assert not is_read(Bm25Config, "minimum_count", reads)
    assert not is_read(GraphConfig, "margin", reads)


def test_only_how_a_job_computes_and_how_it_is_called_decides_nothing() -> None:
    """Pieces are files of their own, and threads of a sum are part of it."""
    for section in SECTIONS:
        for key, field in section.model_fields.items():
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            is_said = "No effect on results" in (field.description or "") and key != "shards"
            is_of_the_job = key in ("memory_mb", "log_every", "checkpoint_minutes")
            is_name = (section.__name__, key) == ("EncoderConfig", "label")
            assert extra.get("decides", True) == (not (is_said or is_of_the_job or is_name)), key
