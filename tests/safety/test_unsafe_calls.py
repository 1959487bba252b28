"""What must never be called on data of others: the project's own sources are searched for it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sorted(
    path
    for folder in ("src", "scripts", "envs", "benchmarks", ".ci")
    for path in (ROOT / folder).rglob("*.py")
)
WORKFLOW = [ROOT / "Snakefile", *sorted((ROOT / "rules").rglob("*.smk"))]
RUNS_CODE = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
"""Modules whose files run code when they are read."""
BETWEEN_OWN_PROCESSES = {
    "training/processes.py",
    "training/read_ahead.py",
    "wikipedia/guarded_parser.py",
    "foundation/compiled.py",
}
"""These pickle what one process hands to another that it started, by a pipe or in a temporary folder that only this
user enters, and the machine code that numba keeps in the user's own cache."""
ARCHIVES = {"tarfile", "zipfile"}
"""Modules that unpack archives; who needs one has to keep members inside their folder, and to test it."""
XML = {"xml.etree", "xml.sax", "xml.dom", "lxml", "xmltodict", "bs4"}
"""Parsers of XML that expand entities; dumps are read by expat with entities refused (irpretrain.wikipedia.dump)."""
CODE = {"eval", "exec", "compile", "__import__", "input"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput"}
UNPACKS = {"shutil.unpack_archive"}
SAFE_LOADERS = {"loader", "StrictLoader", "yaml.SafeLoader", "yaml.CSafeLoader"}
"""`_LOADER` is catalogue.read's name of PyYAML's two, `StrictLoader` the class over one that loses no key."""
TRUSTED = "local_files_only=True", "trust_remote_code=False"
"""What every loader of a Hugging Face directory is called with: nothing is fetched, no code of the directory is run."""


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, what is wrong) of imports and calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((node.lineno, fault) for fault in import_faults(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from ((node.lineno, fault) for fault in import_faults(f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, fault) for fault in call_faults(node))


def import_faults(name: str) -> Iterator[str]:
    if any(name == module or name.startswith(f"{module}.") for module in RUNS_CODE | ARCHIVES):
        yield f"imports {name}"
    # saxutils only escapes.
    if any(name == m or name.startswith(f"{m}.") for m in XML) and not name.startswith("xml.sax.saxutils"):
        yield f"imports {name}"


def call_faults(call: ast.Call) -> Iterator[str]:
    function = ast.unparse(call.func)
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}
    if function in CODE | SHELLS | UNPACKS:
        yield f"calls {function}"
    if function == "torch.load" and given.get("weights_only") != "True":
        yield "torch.load without weights_only=True"
    if function == "torch.hub.load" or function.endswith(".read_pickle"):
        yield f"calls {function}"
    if given.get("allow_pickle", "False") != "False":
        yield f"{function} with allow_pickle"
    if given.get("shell", "False") != "False":
        yield f"{function} with a shell"
    if re.search(r"\bKeyedVectors\.load$|\bWord2Vec\.load$|\bjoblib\.load$", function):
        yield f"{function} unpickles"
    if function in ("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load"):
        loader = given.get("Loader", ast.unparse(call.args[1]) if len(call.args) > 1 else "")
        if loader not in SAFE_LOADERS:
            yield f"{function} without a safe loader"
    if function.endswith(".from_pretrained"):
        yield from loader_faults(function, given)
    elif given.get("trust_remote_code", "False") != "False":
        yield f"{function} runs code of others"


def loader_faults(function: str, given: dict[str, str]) -> Iterator[str]:
    for wanted in TRUSTED:
        name, _, value = wanted.partition("=")
        if given.get(name) != value:
            yield f"{function} without {wanted}"
    weightless = ("Tokenizer" in function or "Config" in function) and "Model" not in function
    if not weightless and given.get("use_safetensors") != "True":
        yield f"{function} without use_safetensors=True"


def faults_of(source: str) -> list[str]:
    return [fault for _, fault in faults(ast.parse(source))]


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "import tarfile",
        "from xml.etree import ElementTree",
        "import lxml.html",
        "eval(text)",
        "exec(text)",
        "os.system(f'rm {path}')",
        "subprocess.run(command, shell=True)",
        "subprocess.run(command, shell=chosen)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.full_load(text)",
        "shutil.unpack_archive(path)",
        "pd.read_pickle(path)",
        "gensim.models.KeyedVectors.load(path)",
        "AutoTokenizer.from_pretrained(path, local_files_only=True)",
        "AutoModel.from_pretrained(path, local_files_only=True, trust_remote_code=False)",
        "AutoModel.from_pretrained(path, local_files_only=True, trust_remote_code=True, use_safetensors=True)",
        "AutoModel.from_pretrained(path, trust_remote_code=False, use_safetensors=True)",
        "AutoModelForTokenClassification.from_pretrained(p, local_files_only=True, trust_remote_code=False)",
        "pipeline('x', trust_remote_code=True)",
    ],
)
def test_the_search_notices(source):
    assert len(faults_of(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import json, gzip",
        "from xml.parsers import expat",
        "from xml.sax.saxutils import escape",
        "model.eval()",
        "re.compile(text)",
        "subprocess.run([sys.executable, path])",
        "torch.load(path, weights_only=True)",
        "np.load(path)",
        "yaml.safe_load(text)",
        "yaml.load(text, Loader=loader)",
        "AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)",
    ],
)
def test_what_is_harmless_passes(source):
    assert faults_of(source) == []


def test_no_source_calls_what_is_unsafe():
    assert len(PYTHON) > 200, "the sources are found"
    found = {
        f"{path.relative_to(ROOT)}:{line}": fault
        for path in PYTHON
        for line, fault in faults(ast.parse(path.read_text(encoding="utf-8")))
        if not (fault == "imports pickle" and f"{path.parent.name}/{path.name}" in BETWEEN_OWN_PROCESSES)
    }
    assert found == {}


def test_commands_are_lists():
    """A command given as one string would need a shell, or break at a blank in a path."""
    runners = ("subprocess.run", "subprocess.Popen", "subprocess.check_output", "subprocess.check_call")
    given = [
        (path.name, node.args[0])
        for path in PYTHON
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in runners
    ]
    assert len(given) >= 8, "the commands are found"
    assert [
        name for name, command in given if isinstance(command, ast.Constant | ast.JoinedStr | ast.BinOp)
    ] == []


UNSAFE_DIRECTIVES = (
    r"^\s*(?:shell|run|wrapper|notebook|cwl|template_engine)\s*:|\bshell\s*\(|\bos\.(?:system|popen)\b"
)


def test_no_rule_has_a_shell():
    assert re.search(UNSAFE_DIRECTIVES, '    shell:\n        "ls {input}"', re.MULTILINE)
    assert re.search(UNSAFE_DIRECTIVES, 'FILES = shell("ls", read=True)', re.MULTILINE)
    assert len(WORKFLOW) > 15, "the rules are found"
    found = [
        path.name
        for path in WORKFLOW
        if re.search(UNSAFE_DIRECTIVES, path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == []
