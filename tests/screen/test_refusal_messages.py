"""Snakemake's text of an exception becomes one message; the texts are recorded ones of Snakemake 9.27."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from snakemake_logger_plugin_irpretrain.refusals import TARGETS_FIRST, full_disk_message, refusal

RECORDED = {
    "of the configuration": (
        'WorkflowError in file "/x/Snakefile", line 61:\nconfig.yaml: 1 fault in the configuration\n'
        "  - sed: unknown key; did you mean seed?\n  docs/reference/config lists every key.\n"
        '  File "/x/Snakefile", line 61, in <module>',
        "config.yaml: 1 fault in the configuration\n  - sed: unknown key; did you mean seed?\n"
        "  docs/reference/config lists every key.",
    ),
    "of an input function": (
        'WorkflowError in rule attributions in file "/x/Snakefile", line 9:\nadd a page\n'
        '  File "/x/src/irpretrain/workflow/plan/whole.py", line 7, in pages (rule all, line 3, /x/a.smk)',
        "add a page",
    ),
    "unknown name": (
        'InputFunctionException in rule search in file "/x/rules/retrieval.smk", line 26:\nError:\n'
        "  KeyError: 'nope'\nWildcards:\n  dataset=nope\n  candidates=bm25\nTraceback:\n"
        '  File "/x/src/irpretrain/workflow/plan/retrieval.py", line 139, in dataset_index\n'
        '  File "/x/src/irpretrain/workflow/plan/retrieval.py", line 15, in index_of (rule search, line 57, /x/r.smk)',
        "the configuration does not name 'nope', so search makes no file for dataset=nope, candidates=bm25.\n"
        "  Mend the name of the file, or add what it names to the configuration.",
    ),
    "error of ours in an input function": (
        'InputFunctionException in rule read_corpus in file "/x/rules/corpora.smk", line 26:\nError:\n'
        "  InputError: data/mine: there is no such file or folder\n  Check the path.\n"
        'Wildcards:\n  corpus=mine\nTraceback:\n  File "/x/src/irpretrain/workflow/plan/corpora.py", line 9, in files',
        "data/mine: there is no such file or folder\n  Check the path.",
    ),
    "missing input": (
        'MissingInputException in rule read_corpus in file "/x/rules/corpora.smk", line 26:\n'
        "Missing input files for rule read_corpus:\n    output: results/a, results/b\n    wildcards: corpus=tiny\n"
        "    affected files:\n        data/a.jsonl\n        data/b.jsonl",
        "data/a.jsonl (and 1 more): there is no such file, and no rule of this configuration makes it.\n"
        "  Rule read_corpus needs it.",
    ),
    "lock": (
        "LockException:\nError: Directory cannot be locked. Please make sure that no other Snakemake process is trying "
        "to create the same files in the following directory:\n/tmp/my project\nIf you are sure that no other "
        "instances of snakemake are running on this directory, the remaining lock was likely caused by a kill signal "
        "or a power loss. It can be removed with the --unlock argument.",
        "/tmp/my project: a run was killed in this folder, or one of another machine works in it.\n"
        "  If none is alive, go on from there: the same command with `make resume` for `make run`; without make, call\n"
        "  it once with --unlock.",
    ),
    "a target after --configfile": (
        'Traceback (most recent call last):\n\n  File "/x/common/configfile.py", line 38, in load_configfile\n'
        "    config = _load_configfile(configpath)\n             ^^^^^^\n\n"
        "FileNotFoundError: [Errno 2] No such file or directory: 'deepct'\n",
        f"deepct: there is no such configuration file.\n{TARGETS_FIRST}",
    ),
    "a target after --configfile that is there": (
        'Traceback (most recent call last):\n\n  File "/x/common/configfile.py", line 38, in load_configfile\n'
        "    config = _load_configfile(configpath)\n             ^^^^^^\n\n"
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte\n",
        f"UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte\n{TARGETS_FIRST}",
    ),
    "a page after --configfile": (
        "WorkflowError:\nConfig file must be given as JSON or YAML with keys at top level.",
        f"Config file must be given as JSON or YAML with keys at top level.\n{TARGETS_FIRST}",
    ),
    "an exception of Python": (
        'Traceback (most recent call last):\n\n  File "/x/a.py", line 3, in read\n    x\n\nOSError: disk full\n',
        "OSError: disk full",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), RECORDED.values(), ids=RECORDED.keys())
def test_only_the_message_is_left(text, message):
    assert refusal(text) == message


NOT_YAML = "WorkflowError{}:\nConfig file is not valid JSON or YAML. In case of YAML, make sure to not mix whitespace."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"seed: 1\na: {b: 1\nc: 2\n", "own.yaml:3: this is not valid YAML: ", id="broken"),
        pytest.param(b"corpora:\n\tmine: {}\n", "own.yaml:2: this is not valid YAML: ", id="tab"),
        pytest.param(b"seed: 1\n# \xe9\n", "own.yaml:2: this is not UTF-8: ", id="Latin-1"),
        pytest.param(b"", "own.yaml: the file must hold a mapping from keys to values", id="empty"),
        pytest.param(b"- a\n", "own.yaml: the file must hold a mapping from keys to values", id="list"),
    ],
)
def test_a_fault_of_an_overlay_names_file_and_line(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.yaml").write_text("seed: 1\n")
    (tmp_path / "own.yaml").write_bytes(content)
    displayed = refusal(NOT_YAML.format(""), ["--cores", "1", "--configfile", "sound.yaml", "own.yaml", "-n"])
    assert displayed.startswith(message)
    assert TARGETS_FIRST not in displayed


def test_a_fault_of_the_default_names_file_and_line(tmp_path):
    (tmp_path / "config.yaml").write_text("a: {b: 1\nc: 2\n")
    text = NOT_YAML.format(f' in file "{tmp_path}/Snakefile", line 42')
    assert refusal(text, ["-n"]).startswith(f"{tmp_path}/config.yaml:2: this is not valid YAML: ")


def test_a_home_that_cannot_be_written_is_one_message(tmp_path):
    (tmp_path / "Snakefile").write_text("rule all:\n    output: 'x'\n    shell: 'touch x'\n")
    (tmp_path / "home").touch()
    homeless = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", "--logger", "irpretrain"]
    done = subprocess.run(
        command, cwd=tmp_path, env=homeless | {"HOME": str(tmp_path / "home")}, capture_output=True, text=True
    )
    displayed = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"Snakemake cannot write its cache: Not a directory: '{tmp_path / 'home'}" in displayed
    assert "XDG_CACHE_HOME" in displayed
    assert "Traceback" not in displayed
    own = homeless | {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert subprocess.run(command, cwd=tmp_path, env=own, capture_output=True).returncode == 0


FULL = [
    (
        "WorkflowError:\nError recording metadata for finished job ([Errno 28] No space left on device). Please ensure "
        "write permissions for the directory /x/.snakemake",
        "{here}: no space left on the disk",
    ),
    (
        'OSError in file "/x/rules/report.smk", line 119:\n[Errno 28] No space left on device: '
        "'/x/.snakemake/scripts/tmpx.write_overview.py'",
        "/x/.snakemake/scripts/tmpx.write_overview.py: no space left on the disk",
    ),
    (
        "Traceback:\nOSError: [Errno 27] File too large",
        "{here}: a file became larger than the disk or `ulimit -f` allows",
    ),
    ("OSError: [Errno 122] Disk quota exceeded: 'a'", "a: no space left in your quota of the disk"),
]


@pytest.mark.parametrize(("text", "message"), FULL, ids=["record", "script", "limit", "quota"])
def test_a_full_disk_where_snakemake_writes_is_one_message(text: str, message: str) -> None:
    made = refusal(text)
    assert made.startswith(message.format(here=os.getcwd()) + " (")
    assert made.endswith("; make room, then run the same command again")
    assert "\n" not in made
    assert full_disk_message(["other", text], ["other"]) == made


def test_no_room_for_temporary_files_is_one_message():
    text = "FileNotFoundError: [Errno 2] No usable temporary directory found in ['/tmp', '/var/tmp']"
    assert refusal(text).startswith("no folder for temporary files can be written to; make room in /tmp")


def test_a_job_without_a_message_is_explained_by_a_full_disk_alone(monkeypatch):
    silent = ["ERROR in x: x stopped without a message.\n  Its log: y"]
    assert full_disk_message([], silent) == ""
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((4096, 4096, 9, 1, 1, 9, 9, 9, 0, 255)))
    assert full_disk_message([], silent).startswith(f"{os.getcwd()}: no space left on the disk")
    assert full_disk_message([], ["ERROR in x: the loss is not a finite number"]) == ""
