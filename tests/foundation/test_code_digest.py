"""The record of a job's code: the files that it has loaded, by digests that follow what the code does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from irpretrain.foundation import code_digest
from irpretrain.foundation.code_digest import PACKAGE, SCRIPTS, add_earlier_code, changed_files, code_record

RECORD = """
import json, sys
from importlib import import_module
from irpretrain.foundation.code_digest import begin_record, changed_files, code_record
begin_record()
for name in sys.argv[1:]:
    import_module(name)
print(json.dumps(code_record()))
"""
CHANGED = """
import json, sys
from irpretrain.foundation.code_digest import changed_files
print(json.dumps(changed_files(json.loads(sys.argv[1]))))
"""
DIGESTS = """
import json, sys
from irpretrain.foundation.code_digest import digests, sources
print(json.dumps(digests(sys.argv[1:] or sources())))
"""
OTHER_PYTHONS = [
    str(path)
    for folder in (Path("/usr"), *Path.home().glob(".pyenv/versions/*"))
    for path in folder.glob("bin/python3.1[23]")
]


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the library and its scripts, and a cache of its own."""
    folder = tmp_path_factory.mktemp("project")
    for source in (PACKAGE, SCRIPTS):
        retained = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(source, folder / source.relative_to(SCRIPTS.parent), ignore=retained)
    shutil.copytree(PACKAGE / "data", folder / "src/irpretrain/data")
    return folder


def run(project: Path, program: str, *arguments: str, python: str = sys.executable):
    environment = {
        **os.environ,
        "PYTHONPATH": str(project / "src"),
        "NUMBA_CACHE_DIR": str(project / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [python, "-c", program, *arguments]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)


@pytest.fixture(scope="module")
def record(project) -> dict[str, str]:
    """Of a job that reads queries."""
    return run(project, RECORD, "irpretrain.corpora.shared_queries", "irpretrain.report")


def changed_by(project: Path, record: dict[str, str], file: str, old: str, new: str) -> list[str]:
    """The files that count as changed with a text of one file, which is put back."""
    path = project / "src/irpretrain" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        return run(project, CHANGED, json.dumps(record))
    finally:
        path.write_text(text)


def test_what_a_job_loads_counts_and_nothing_else_does(project, record):
    assert changed_by(project, record, "corpora/shared_queries.py", "return ", "return not ") == [
        "corpora/shared_queries.py"
    ]
    assert changed_by(project, record, "training/ranking_tasks.py", "return ", "return 2 * ") == []
    assert not [name for name in record if name.startswith("training/")]


def test_packages_and_templates_beside_modules_count(project, record):
    assert {"__init__.py", "corpora/__init__.py"} <= record.keys()
    assert changed_by(project, record, "report/report.css", "{", "{ ") == ["report/report.css"]


def test_resources_that_a_job_reads_count(project):
    program = RECORD.replace("print", "load_stop_words('inquery')\nprint").replace(
        "import json, sys", "import json, sys\nfrom irpretrain.text.stop_words import load_stop_words"
    )
    record = run(project, program)
    assert [name for name in record if name.startswith("resources/")] == ["resources/stopwords/inquery.txt"]
    for file, expected in (("inquery", ["resources/stopwords/inquery.txt"]), ("nltk", [])):
        assert changed_by(project, record, f"data/stopwords/{file}.txt", "about", "abouts") == expected
    assert changed_files({"resources/never.txt": "0123"}) == ["resources/never.txt"]


def test_comments_docstrings_and_time_stamps_do_not_count(project, record):
    text = (project / "src/irpretrain/corpora/shared_queries.py").read_text()
    longer = f'# more\n\n"""Another text."""\n\n{text}'
    assert changed_by(project, record, "corpora/shared_queries.py", text, longer) == []
    for file in project.rglob("*.py"):
        file.touch()
    assert run(project, CHANGED, json.dumps(record)) == []


def test_a_file_that_is_gone_or_no_python_counts_as_changed(project, record):
    assert changed_by(project, record, "corpora/shared_queries.py", "\nfrom ", "\nfrom from ") == [
        "corpora/shared_queries.py"
    ]
    assert changed_files({"corpora/never.py": "0123"}) == ["corpora/never.py"]


def test_a_damaged_cache_changes_nothing(project, record):
    for content in ("{", "[]", '{"a": 1}'):
        (project / "cache" / code_digest.CACHE_FILE).write_text(content)
        assert run(project, CHANGED, json.dumps(record)) == []


def test_the_cache_may_be_impossible(project, record):
    shutil.rmtree(project / "cache")
    (project / "cache").write_text("no folder")
    assert run(project, CHANGED, json.dumps(record)) == []
    (project / "cache").unlink()


@pytest.mark.skipif(not OTHER_PYTHONS, reason="no other Python here")
@pytest.mark.parametrize(
    "names",
    [
        # Their formatted strings have other trees in Python 3.12.
        ("catalogue/absence.py", "catalogue/table.py", "screen/display.py"),
        pytest.param((), marks=pytest.mark.deep, id="all"),
    ],
)
def test_python_versions_agree(project, names):
    found = []
    for python in (sys.executable, *OTHER_PYTHONS):
        shutil.rmtree(project / "cache", ignore_errors=True)  # else they would agree on what is cached
        found.append(run(project, DIGESTS, *names, python=python))
    assert found == [found[0]] * len(found)


VERSIONS = [
    ("x = 1  # one", "x = (1)\n\n", True),
    ('def f():\n    "d"\n    return 1', "def f():\n    return 1", True),
    ('x = """a\n\nb"""', 'x = """a\nb"""', False),
    ("x = 1", "x = 1.0", False),
    ("x = True", "x = 1", False),
    ("x = None", "x = 0", False),
    ("f(None)", "f()", False),
    ("f'{x}a'", "f'{x}'", False),
    ("x = ['', y]", "x = [y]", False),
    ("def f(a, /): ...", "def f(a): ...", False),
]


def test_the_digest_is_that_of_what_the_code_does(project):
    texts = {f"{number}{side}.py": pair[side] for number, pair in enumerate(VERSIONS) for side in (0, 1)}
    for name, text in texts.items():
        (project / "src/irpretrain" / name).write_text(text)
    digests = list(run(project, DIGESTS, *texts).values())
    same = [first == second for first, second in zip(digests[::2], digests[1::2], strict=True)]
    assert same == [is_same for *_, is_same in VERSIONS]


def test_a_result_of_two_versions_is_of_neither():
    code_digest.begin_record()
    present = code_record()
    assert changed_files(present) == []
    add_earlier_code(present)
    assert code_record() == present
    add_earlier_code({"foundation/errors.py": "0123", "only/there.py": "4567"})
    assert changed_files(code_record()) == ["foundation/errors.py", "only/there.py"]
    assert code_record()["foundation/errors.py"].split() == sorted(["0123", present["foundation/errors.py"]])
    for digest in "fcbeda":
        add_earlier_code({"only/there.py": digest})
    assert code_record()["only/there.py"] == "4567 a b c d e f", "the same work has the same record"
    code_digest.begin_record()
    assert code_record() == present
