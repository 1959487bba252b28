"""Rules and scripts keep their shape: a script a rule, a log, resources, and one library call a script."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from irpretrain.workflow.plan import paths

ROOT = Path(__file__).resolve().parents[1]
PATHS = {
    name: path for name, path in vars(paths).items() if name.isupper() and str(path).startswith("results/")
}
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
SHARED = {
    "materialise_file": "materialise_input",
    "materialise_directory": "materialise_input",
    "prepare_questions": "prepare_dataset",
    "rerank_snapshot": "rerank",
    "write_paper_report": "write_report",
}
"""Rules whose script has another name, because two rules use it."""
TRIGGERS = {
    "materialise_file": {"expected"},
    "read_corpus": {"aids", "files"},
    "verify_dataset": {"present"},
    **{rule: {"code"} for rule in ("make_tables", "make_figures", "write_overview")},
    **{rule: {"code", "other_code"} for rule in ("write_report", "write_paper_report")},
}
"""Parameters that no script reads: a change of one runs its rule again."""


@dataclass(frozen=True)
class Rule:
    """One rule, read from its text: what stands under each directive."""

    name: str
    file: str
    directives: dict[str, str]

    @property
    def script(self) -> str:
        """The script's name without folder and ending; empty for a target that runs nothing."""
        match = re.search(r'"\.\./scripts/(\w+)\.py"', self.directives.get("script", ""))
        return match[1] if match else ""


def with_paths(text: str) -> str:
    """The text of rules with paths in place of their names."""
    text = re.sub(r"paths\.(\w+)\.format\([^()]*\)", lambda name: f'f"{PATHS[name[1]]}"', text)
    text = re.sub(r"paths\.(?!CONSTRAINTS)(\w+)", lambda name: f'"{PATHS[name[1]]}"', text)
    text = re.sub(r'sidecar\((f?".*)"\)', r'\1.meta.json"', text)
    return re.sub(r"sidecar\(([^()]*)\)", r'f"{\1}.meta.json"', text)


def rules() -> list[Rule]:
    found = []
    for path in (ROOT / "Snakefile", *sorted((ROOT / "rules").rglob("*.smk"))):
        for head in re.finditer(r"^( *)rule *(\w*):\n", with_paths(path.read_text()), re.MULTILINE):
            body = textwrap.dedent(_body(head.string[head.end() :], len(head[1])))
            parts = dict(re.findall(r"^(\w+):(.*\n(?:(?:    .*)?\n)*)", body, re.MULTILINE))
            name = head[2] or re.search(r'f?"?(\w+?)(?:_\{paper\}")?\n', parts.pop("name"))[1]
            found.append(Rule(name, path.name, parts))
    return found


def _body(text: str, indentation: int) -> str:
    """The lines that are indented deeper than a rule's first."""
    lines = itertools.takewhile(
        lambda line: not line.strip() or line.startswith(" " * (indentation + 1)),
        text.splitlines(keepends=True),
    )
    return "".join(lines)


@cache
def reached(path: str) -> frozenset[str]:
    """The library's files that a file imports, directly or not, also inside functions, but not for its types."""
    found: set[str] = set()
    todo = [path]
    while todo:
        for file in imported_files(todo.pop()):
            if file not in found:
                found.add(file)
                todo.append(file)
    return frozenset(found)


def imported_files(path: str) -> Iterator[str]:
    nodes: list[ast.AST] = [tree(ROOT / path)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irpretrain"):
            module = f"src/{(node.module or '').replace('.', '/')}"
            names = [f"{module}/{alias.name}.py" for alias in node.names]
            yield from (file for file in (f"{module}.py", *names) if (ROOT / file).exists())
        nodes += ast.iter_child_nodes(node)


COMPUTE = "src/irpretrain/training/compute.py"
WITHOUT_DEVICE = {"make_term_targets", "write_term_weight_page"}
"""Rules that compute on no device, though a module that they use can: it has functions of other rules too."""
ALL = rules()
JOBS = [rule for rule in ALL if "output" in rule.directives]
jobs = pytest.mark.parametrize("rule", JOBS, ids=lambda rule: rule.name)
scripts = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)


def test_every_rule_was_read():
    text = "".join(path.read_text() for path in (ROOT / "Snakefile", *(ROOT / "rules").rglob("*.smk")))
    assert len(re.findall(r"^\s*(?:rule|checkpoint)\b", text, re.MULTILINE)) == len(ALL)
    assert {"all", "target", "pretrain", "make_tables", "write_report"} <= {rule.name for rule in ALL}


def test_targets_run_nothing():
    targets = {rule.name: set(rule.directives) for rule in ALL if rule not in JOBS}
    assert all(directives <= {"input", "default_target"} for directives in targets.values()), targets


@jobs
def test_a_rule_runs_the_script_of_its_name(rule):
    assert rule.script == SHARED.get(rule.name, rule.name)
    assert not {"run", "shell", "notebook", "wrapper"} & set(rule.directives)


def test_there_is_no_orphan_script_and_no_missing_one():
    assert sorted({rule.script for rule in JOBS}) == [path.stem for path in SCRIPTS]


def test_only_declared_scripts_are_shared():
    used = [rule.script for rule in JOBS]
    twice = {rule.name for rule in JOBS if used.count(rule.script) > 1}
    assert twice <= {*SHARED, *SHARED.values()}


@jobs
def test_a_rule_has_a_log_of_its_own(rule):
    [log] = re.findall(r'"([^"]+)"', rule.directives["log"])
    assert re.fullmatch(r"results/logs/[\w/{}@-]+\.log", log)
    # Two jobs of a rule must not write one log: each wildcard of the outputs is in its name.
    log, output = (re.sub(r'f".*?"', "", rule.directives[part]) for part in ("log", "output"))
    assert set(re.findall(r"\{(\w+)\}", log)) == set(re.findall(r"\{(\w+)\}", output))


def test_no_two_rules_share_a_log():
    logs = [
        re.sub(r"\{\w+\}", "*", rule.directives["log"].strip()) for rule in JOBS if rule.name not in SHARED
    ]
    assert len(logs) == len(set(logs))


@jobs
def test_a_rule_asks_for_memory_and_time(rule):
    assert re.search(r"\bmem_mb=memory\(", rule.directives["resources"]), "memory grows with each attempt"
    assert re.search(r"\bruntime=minutes\(\d+\)", rule.directives["resources"]), "so does time, for clusters"


@jobs
def test_a_rule_that_computes_on_a_device_asks_for_gpus_and_threads(rule):
    """`compute` of the configuration reaches the scheduler."""
    asks = re.search(r"\bgpu=", rule.directives["resources"]) is not None
    can = COMPUTE in reached(f"scripts/{rule.script}.py")
    assert asks == (can and rule.name not in WITHOUT_DEVICE)
    assert can or rule.name not in WITHOUT_DEVICE
    assert "threads" in rule.directives or not asks


@jobs
def test_a_rule_declares_the_sidecar_of_its_first_output(rule):
    first, sidecar = (
        re.search(r"=(?:directory\()?f?(.+?)\)?,\n", rule.directives["output"]),
        rule.directives["output"],
    )
    assert first is not None
    named = re.search(r'meta=f?"(.+)\.meta\.json"', sidecar)
    assert named is not None, "so that Snakemake makes and removes it with the output"
    if first[1].startswith('"'):
        assert f'"{named[1]}"' == first[1]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


@scripts
def test_a_script_is_imports_and_one_stage(path):
    body = tree(path).body
    assert ast.get_docstring(tree(path)), "it says what it does"
    rest = [node for node in body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    assert [type(node) for node in rest] == [ast.With]
    stages = [node for node in ast.walk(tree(path)) if is_call_of(node, "stage")]
    assert len(stages) == 1
    first = rest[0].items[0]
    assert ast.unparse(first) == "stage(snakemake) as counts"


def root_of(node: ast.expr) -> str:
    """The name that a call goes back to: `f` in `f(x)` and in `f(x).g(y)`."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@scripts
def test_a_script_hands_the_counts_of_one_library_call_to_its_sidecar(path):
    [added] = [node for node in ast.walk(tree(path)) if isinstance(node, ast.AugAssign)]
    assert ast.unparse(added.target) == "counts"
    assert isinstance(added.value, ast.Call)
    imported = {
        alias.asname or alias.name
        for node in tree(path).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irpretrain.")
        for alias in node.names
    }
    assert root_of(added.value) in imported


@scripts
def test_a_script_computes_nothing(path):
    forbidden = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.While, ast.Try)
    assert [node for node in ast.walk(tree(path)) if isinstance(node, forbidden)] == []


@jobs
def test_a_script_uses_only_what_its_rule_declares(rule):
    declared = {
        f"{part}.{name}"
        for part in ("input", "output", "params")
        for name in re.findall(r"^ {4}(\w+)=", rule.directives.get(part, ""), re.MULTILINE)
    }
    wildcards = re.findall(r"\{(\w+)\}", rule.directives["output"])
    declared |= {f"wildcards.{name}" for name in wildcards}
    text = (ROOT / "scripts" / f"{rule.script}.py").read_text()
    used = set(re.findall(r"\bsnakemake\.((?:input|output|params)\.\w+)", text))
    used |= {f"wildcards.{name}" for name in re.findall(r"\bsnakemake\.wildcards\.(\w+)", text)}
    assert used
    assert used <= declared


@jobs
def test_a_script_reads_the_parameters_of_its_rule(rule):
    names = set(re.findall(r"^ {4}(\w+)=", rule.directives.get("params", ""), re.MULTILINE))
    script = (ROOT / "scripts" / f"{rule.script}.py").read_text()
    assert names - set(re.findall(r"\bparams\.(\w+)", script)) == TRIGGERS.get(rule.name, set())


def test_the_library_knows_nothing_of_snakemake():
    for path in (ROOT / "src" / "irpretrain").rglob("*.py"):
        for node in ast.walk(tree(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "snakemake" for name in names), path


def test_what_is_no_rule_is_little():
    """Whatever decides anything is in irpretrain.workflow.plan, where types and tests see it."""
    texts = {path: path.read_text() for path in (ROOT / "Snakefile", *(ROOT / "rules").rglob("*.smk"))}
    functions = [name for text in texts.values() for name in re.findall(r"^ *def (\w+)", text, re.MULTILINE)]
    assert functions == ["result_of_the_run", "planned_costs"]
    assert {path.name for path, text in texts.items() if not re.search(r"^ *rule\b", text, re.MULTILINE)} == {
        "common.smk"
    }
    assert not any("lambda" in text for text in texts.values())
    lines = [line for text in texts.values() for line in beside_rules(text) if line.strip()]
    assert len(lines) < 150


def beside_rules(text: str) -> Iterator[str]:
    """The lines of a file that belong to no rule."""
    in_rule = False
    for line in text.splitlines():
        in_rule = bool(re.match(r" *(use )?rule\b", line)) or (in_rule and not re.match(r"\S", line))
        if not in_rule:
            yield line
