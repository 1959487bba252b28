"""Rules and scripts keep their shape: a script a rule, a log, resources, and one library call a script.

The rules are those that Snakemake reads; the scripts are read as Python.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.glob("scripts/*.py")}
SHARED = {
    "materialise_file": "materialise_input",
    "materialise_directory": "materialise_input",
    "prepare_questions": "prepare_dataset",
    "rerank_snapshot": "rerank",
    "write_paper_report": "write_report",
    "compute_judged_axioms": "compute_axioms",
    "compute_negative_axioms": "compute_axioms",
}
"""Rules whose script has another name, because two rules use it."""
TRIGGERS = {
    **{rule: {"expected"} for rule in ("materialise_file", "materialise_directory")},
    "read_corpus": {"aids", "files"},
    "verify_dataset": {"present"},
    **{rule: {"code"} for rule in ("make_tables", "make_figures", "write_overview")},
    **{rule: {"code", "other_code"} for rule in ("write_report", "write_paper_report")},
}
"""Parameters that no script reads: a change of one runs its rule again."""
COMPUTE = "src/irpretrain/training/compute.py"
WITHOUT_DEVICE = {"make_term_targets", "write_term_weight_page"}
"""Rules that compute on no device, though a module that they use can: it has functions of other rules too."""


COMPUTING = {"compute": {"threads": 2}}
TWO_THREADS = {
    **dict.fromkeys(("pretraining", "finetuning", "reranking", "question_answering"), COMPUTING),
    "term_weights": {"deepct": {"training": COMPUTING, "inference": COMPUTING}},
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Name → rule that runs a script; the rules of a paper have their name without it."""
    folder = tmp_path_factory.mktemp("workflow")
    with pytest.MonkeyPatch.context() as patch, SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["snakemake"])  # the Snakefile looks at its targets
        settings = ResourceSettings(cores=4), ConfigSettings(config=TWO_THREADS)
        workflow = api.workflow(*settings, snakefile=ROOT / "Snakefile", workdir=folder)._workflow
        found = {
            re.sub(r"_(prop|ares|wikiformer|php|deepct)$", "", rule.name): rule for rule in workflow.rules
        }
    assert {"all", "pretrain", "make_tables", "write_report"} <= found.keys()
    return {name: rule for name, rule in found.items() if rule.output}


def script(name: str, rule: Any) -> str:
    return Path(rule.script or "none").stem


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


@cache
def imported_files(path: str) -> frozenset[str]:
    files: set[str] = set()
    nodes: list[ast.AST] = [ast.parse((ROOT / path).read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irpretrain"):
            module = f"src/{(node.module or '').replace('.', '/')}"
            names = [f"{module}/{alias.name}.py" for alias in node.names]
            files.update(file for file in (f"{module}.py", *names) if (ROOT / file).exists())
        nodes += ast.iter_child_nodes(node)
    return frozenset(files)


def test_each_rule_runs_the_script_of_its_name_and_each_script_has_a_rule(rules):
    scripts = {name: script(name, rule) for name, rule in rules.items()}
    assert scripts == {name: SHARED.get(name, name) for name in rules}
    assert set(scripts.values()) == SCRIPTS.keys()


def test_each_rule_has_a_log_of_its_own(rules):
    """Two jobs of a rule must not write one log: each wildcard of the outputs is in its name."""
    logs = {name: str(rule.log) for name, rule in rules.items()}
    assert [name for name, log in logs.items() if not re.fullmatch(r"results/logs/\S+\.log", log)] == []
    wildcards = {name: set(re.findall(r"\{(\w+)", log)) for name, log in logs.items()}
    assert wildcards == {name: rule.wildcard_names for name, rule in rules.items()}
    assert len(set(logs.values())) == len(logs)


def test_each_rule_asks_for_memory_and_time_that_grow_with_each_attempt(rules):
    requests = {
        name: [rule.resources.get(kind) for kind in ("mem_mb", "runtime")] for name, rule in rules.items()
    }
    constant = [name for name, own in requests.items() if not all(one and one.is_evaluable() for one in own)]
    assert constant == []


def test_each_rule_that_computes_on_a_device_asks_for_gpus_and_threads(rules):
    """`compute` of the configuration reaches the scheduler."""
    asks = {name for name, rule in rules.items() if "gpu" in rule.resources}
    can = {name for name, rule in rules.items() if COMPUTE in reached(f"scripts/{script(name, rule)}.py")}
    assert asks == can - WITHOUT_DEVICE
    cores = {name: rules[name].resources["_cores"] for name in asks}
    assert [name for name, own in cores.items() if not (own.is_evaluable() or own.value == 2)] == []
    assert can >= WITHOUT_DEVICE


def test_each_rule_declares_the_sidecar_of_its_first_output(rules):
    """Snakemake makes and removes it with the output."""
    sidecars = {name: str(rule.output.meta) for name, rule in rules.items()}
    assert sidecars == {name: f"{rule.output[0]}.meta.json" for name, rule in rules.items()}


def test_a_script_uses_what_its_rule_declares_and_all_of_its_parameters(rules):
    strangers, unread = {}, {}
    for name, rule in rules.items():
        text = (ROOT / "scripts" / f"{script(name, rule)}.py").read_text()
        used = set(re.findall(r"\bsnakemake\.((?:input|output|params|wildcards)\.\w+)", text))
        parts = {"input": rule.input, "output": rule.output, "params": rule.params}
        declared = {f"{part}.{key}" for part, values in parts.items() for key, _ in values._allitems() if key}
        strangers[name] = used - declared - {f"wildcards.{key}" for key in rule.wildcard_names}
        read = set(re.findall(r"\bparams\.(\w+)", text))
        unread[name] = {key for key, _ in rule.params._allitems() if key} - read
    assert {name: own for name, own in strangers.items() if own} == {}
    assert {name: own for name, own in unread.items() if own} == TRIGGERS


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_hands_the_counts_of_one_library_call_to_its_sidecar(name):
    tree = SCRIPTS[name]
    assert ast.get_docstring(tree), "it says what it does"
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    [block] = [node for node in tree.body[1:] if node not in imports]
    assert isinstance(block, ast.With)
    assert ast.unparse(block.items[0]) == "stage(snakemake) as counts"
    [added] = [node for node in ast.walk(tree) if isinstance(node, ast.AugAssign)]
    assert ast.unparse(added.target) == "counts"
    library = {alias.asname or alias.name for node in imports for alias in node.names}
    assert root_of(added.value) in library
    forbidden = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.While, ast.Try)
    assert [node for node in ast.walk(tree) if isinstance(node, forbidden)] == []


def root_of(node: ast.expr) -> str:
    """The name that a call goes back to: `f` in `f(x)` and in `f(x).g(y)`."""
    assert isinstance(node, ast.Call)
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_the_library_knows_nothing_of_snakemake():
    for path in (ROOT / "src" / "irpretrain").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "snakemake" for name in names), path


def test_what_decides_stands_in_the_plan_where_types_and_tests_see_it():
    texts = [path.read_text() for path in (ROOT / "Snakefile", *(ROOT / "rules").rglob("*.smk"))]
    functions = [name for text in texts for name in re.findall(r"^ *def (\w+)", text, re.MULTILINE)]
    assert functions == ["result_of_the_run", "planned_times", "planned_costs"]
    assert not any("lambda" in text for text in texts)
