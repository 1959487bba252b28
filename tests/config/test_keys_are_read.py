"""Each key of the configuration is read: a key that no stage reads would be set, hashed and believed for nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from mypy import build, types
from mypy.main import process_options
from mypy.nodes import CallExpr, Decorator, FuncDef, MemberExpr, NameExpr, Node, StrExpr

from irpretrain.config import Config
from irpretrain.config.axioms import DiagnosisConfig
from irpretrain.config.base import Section
from irpretrain.config.corpora import DatasetConfig
from irpretrain.config.experiments import SelectionConfig
from irpretrain.config.objectives import OBJECTIVES, options_class
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.retrieval import (
    Bm25Config,
    JelinekMercerConfig,
    ParametersConfig,
    QueryLikelihoodConfig,
    RetrievalConfig,
    SweepConfig,
)
from irpretrain.config.text import GraphConfig
from irpretrain.corpora.registry import FORMATS, format_of
from irpretrain.library.options import Options
from irpretrain.wikipedia.names import Names

ROOT = Path(__file__).parents[2]

# Keys that code reads without naming them, or the type of what has them.
READ_OTHERWISE: dict[type[Section], set[str]] = {
    Config: {"preset", "axioms"},  # by `config.load`, before there are sections; by `RULES`
    DatasetConfig: {"validation_measure"},  # by `RULES`
    DiagnosisConfig: {"collection"},  # by plan/shown.py, beside predictors and models
    TaskConfig: {"loss", "masking", "query_length"},  # by `PretrainingConfig.of_task`
    # By the model that a search ranks by: `parameters_of`, `Run.search`, `lucene.tune`.
    RetrievalConfig: {"jelinek_mercer", "query_likelihood"},
    JelinekMercerConfig: {"smoothing"},
    QueryLikelihoodConfig: {"mu"},
    ParametersConfig: {"k1", "b", "mu", "smoothing"},
    SweepConfig: {"k1", "b", "mu", "smoothing"},
    SelectionConfig: {"candidates"},  # by plan/models.py, of a model that has a selection
    # By wikipedia/languages.py, beside the names of a wiki and of its language.
    Names: {
        *("boilerplate", "category", "disambiguation", "file", "image_frames", "image_options", "languages"),
        *("link_prefix", "link_trail", "namespaces", "redirect", "wikis"),
    },
    options_class("ares"): {"predictor"},  # wherever objectives of any type are
    options_class("bfs"): {"negatives"},  # by objectives/passages.py, as ICT's
    options_class("ict"): {"negatives"},
}

# How rules read keys themselves.
RULES = ('settings("axioms")', 'settings("datasets.validation_measure")')

# Without the types of other packages, but of pydantic, in whose annotations those of the sections stand.
MYPY = """
[mypy]
mypy_path = {root}/src:{root}
explicit_package_bases = True
ignore_missing_imports = True
follow_imports = skip
[mypy-pydantic.*]
follow_imports = normal
[mypy-matplotlib.*,numpy.*,pandas.*,tokenizers.*,torch.*,yaml.*]
follow_imports_for_stubs = True
"""

# What reads keys only to refuse them: functions, decorators of pydantic, and modules.
CHECK = re.compile(r"(.*_)?faults?|(field|model)_validator")
CHECKING_MODULES = {"irpretrain.config.consistency", "irpretrain.config.references"}

# Class and attribute.
Read = tuple[str, str]


def sections(annotation: Any) -> Iterator[type[Section]]:
    """Sections that a section can hold, at any depth; some repeatedly."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
        for field in annotation.model_fields.values():
            yield from sections(field.annotation)
    for inner in get_args(annotation):
        yield from sections(inner)


def all_sections() -> Iterator[type[Section]]:
    """Sections that a configuration or the options of a library's call can hold."""
    roots = [Config, Options, *map(options_class, OBJECTIVES)]
    roots += [format_of(kind, name).options for kind, names in FORMATS.items() for name in names]
    for root in roots:
        yield from sections(root)


SECTIONS = list(dict.fromkeys(all_sections()))


def keys() -> Iterator[tuple[type[Section], str]]:
    for section in SECTIONS:
        for key, field in section.model_fields.items():
            is_tag = key == "type" and get_origin(field.annotation) is Literal
            if not (is_tag and len(get_args(field.annotation)) == 1):
                yield section, key  # all but what tells the options of objectives apart


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


def is_check(node: Node) -> bool:
    if isinstance(node, FuncDef):
        return CHECK.fullmatch(node.name) is not None
    calls = node.decorators if isinstance(node, Decorator) else []
    names = [
        call.callee.name for call in calls if isinstance(call, CallExpr) and isinstance(call.callee, NameExpr)
    ]
    return any(map(CHECK.fullmatch, names))


def nodes(tree: Node) -> Iterator[Node]:
    """Nodes of a module but those of checks. Compiled visitors of mypy cannot be inherited."""
    reached_ids, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in reached_ids or is_check(node):
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
    """Every read of an attribute whose class mypy knows."""
    ini = tmp_path_factory.mktemp("reads") / "mypy.ini"
    ini.write_text(MYPY.format(root=ROOT))
    sources, options = process_options(["--config-file", str(ini), str(ROOT / "src"), str(ROOT / "scripts")])
    options.export_types, options.preserve_asts, options.incremental = True, True, False
    result = build.build(sources, options)
    found = set[Read]()
    for source in sources:
        tree = result.graph[source.module].tree
        assert tree is not None
        for node in nodes(tree) if source.module not in CHECKING_MODULES else ():
            if isinstance(node, MemberExpr):
                found |= {(name, node.name) for name in class_names(result.types.get(node.expr))}
            elif (
                isinstance(node, CallExpr)
                and isinstance(node.callee, NameExpr)
                and node.callee.name == "getattr"
            ):
                names = class_names(result.types.get(node.args[0]))
                found |= {(name, key.value) for name in names if isinstance(key := node.args[1], StrExpr)}
    return found


def test_each_key_is_read_by_a_stage(reads: set[Read]) -> None:
    assert len(list(keys())) > 430
    unread = {(section, key) for section, key in keys() if not is_read(section, key, reads)}
    assert unread == {(section, key) for section, names in READ_OTHERWISE.items() for key in names}
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk"))
    assert all(read in rules for read in RULES)
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
