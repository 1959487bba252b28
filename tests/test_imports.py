"""Stages that train nothing start without torch, whose import alone takes seconds and hundreds of megabytes."""

import json
import subprocess
import sys
from pathlib import Path

from irpretrain.config.objectives import OBJECTIVES
from irpretrain.corpora.registry import FORMATS, format_of
from locked import library_modules

ROOT = Path(__file__).resolve().parents[1]
TRAINING = {
    "pretrain",
    "finetune",
    "finetune_downstream",
    "rerank",
    "train_term_weights",
    "make_neural_ranker",
}
"""Scripts that run or make a model."""
HEAVY = ("torch", "transformers")

PROBE = """
import importlib, json, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            found.setdefault(module, name)
            raise ImportError(f"{name} must not be imported here")

HEAVY, found = json.loads(sys.argv[1]), {}
sys.meta_path.insert(0, Refuse())
for module in json.loads(sys.argv[2]):
    try:
        importlib.import_module(module)
    except ImportError:
        if module not in found:
            raise
print(json.dumps(found))
"""


def heavy_imports(modules: list[str], heavy: tuple[str, ...] = HEAVY) -> dict[str, str]:
    """Which of `modules` import one of the `heavy` packages at their top, directly or not."""
    command = [sys.executable, "-c", PROBE, json.dumps(heavy), json.dumps(modules)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_probe_notices():
    found = heavy_imports(["irpretrain.foundation.errors", "irpretrain.training.pretrain"])
    assert list(found) == ["irpretrain.training.pretrain"]
    assert found["irpretrain.training.pretrain"].partition(".")[0] in HEAVY


def test_modules_of_stages_that_train_nothing_import_no_torch():
    scripts = [path for path in (ROOT / "scripts").glob("*.py") if path.stem not in TRAINING]
    modules = set().union(*(library_modules(path) for path in scripts))
    assert {"irpretrain.text.statistics", "irpretrain.retrieval.lucene", "irpretrain.report.html"} <= modules
    modules |= set(OBJECTIVES.values())
    modules |= {format_of(kind, name).read.__module__ for kind, names in FORMATS.items() for name in names}
    assert heavy_imports(sorted(modules)) == {}


def test_the_workflow_itself_imports_nothing_heavy():
    """Snakemake reads the Snakefile again for every job."""
    text = "\n".join(path.read_text() for path in (ROOT / "Snakefile", *(ROOT / "rules").rglob("*.smk")))
    named = {
        line.split()[1] for line in map(str.strip, text.splitlines()) if line.startswith("from irpretrain")
    }
    assert {"irpretrain.config", "irpretrain.workflow.plan", "irpretrain.workflow.screen.closing"} <= named
    assert heavy_imports(sorted(named), (*HEAVY, "numba", "matplotlib", "scipy", "gensim")) == {}


def test_the_command_init_imports_neither_compiler_nor_statistics() -> None:
    assert heavy_imports(["irpretrain.library.own_folder"], (*HEAVY, "numba", "scipy")) == {}
