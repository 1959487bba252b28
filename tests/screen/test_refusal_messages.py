"""An exception that ends Snakemake becomes one message."""

import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import snakemake.api  # noqa: F401, before its parts, which import one another
from snakemake.cli import parse_config
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import ApiError, InputFunctionException, LockException, RuleException, WorkflowError

from irpretrain.foundation.errors import InputError
from snakemake_logger_plugin_irpretrain.refusals import TARGETS_FIRST, disk_message, refusal

RULE = SimpleNamespace(name="search", lineno=26, snakefile="/x/a.smk", workflow=SimpleNamespace(linemaps={}))


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """An error as it is where another one is handled."""
    error.__context__ = cause
    return error


def of_input_function(cause: Exception) -> BaseException:
    return raised(InputFunctionException(cause, {"dataset": "nope", "candidates": "bm25"}, rule=RULE), cause)


def of_call(function: Callable[..., object], *arguments: object) -> BaseException:
    with pytest.raises(Exception) as error:  # noqa: PT011, of several classes
        function(*arguments)
    return error.value


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (WorkflowError("sed: unknown key; did you mean seed?"), "sed: unknown key; did you mean seed?"),
        (
            of_input_function(KeyError("nope")),
            "the configuration does not name 'nope', which rule search needs.\n"
            "  Mend the name of the file, or add what it names to the configuration.",
        ),
        (
            of_input_function(InputError("data/mine", "there is no such file or folder")),
            "data/mine: there is no such file or folder",
        ),
        (OSError("disk gone"), "OSError: disk gone"),
        (ApiError("no such executor"), "Error: no such executor"),
        (
            raised(RuleException("OSError in file ..."), PermissionError(13, "Permission denied", "a")),
            "PermissionError: [Errno 13] Permission denied: 'a'",
        ),
    ],
    ids=[
        "configuration",
        "unknown name",
        "error of ours in an input function",
        "Python",
        "Snakemake",
        "code of a job",
    ],
)
def test_only_the_message_is_left(error, message):
    assert refusal(error) == message


def test_a_lock_of_a_dead_run_names_the_folder_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal(LockException()) == (
        f"{tmp_path}: a run was killed in this folder, or one of another machine works in it.\n"
        "  If none is alive, go on from there: `make resume` in place of `make run`; without make, call it once with "
        "--unlock."
    )


def test_a_target_after_the_configuration_is_told_where_it_belongs():
    assert refusal(of_call(parse_config, ["prop"])).endswith(f"\n{TARGETS_FIRST}")
    error, arguments = of_call(load_configfile, "deepct"), ["--configfile", "deepct", "--cores", "1"]
    assert refusal(error, arguments).startswith("--configfile takes every word up to the next option")


SNAKEFILE = """
def files(wildcards):
    raise KeyError("nope")
rule killed:
    output: "killed.txt"
    shell: "kill -9 $$"
rule absent:
    input: "a.txt", "b.txt"
    output: "absent.txt"
    shell: "touch {output}"
rule unknown:
    input: files
    output: "{name}.csv"
    shell: "touch {output}"
"""


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "killed.txt",
            "ERROR in killed: killed stopped without a message: Killed. The system ends jobs so",
        ),
        (
            "absent.txt",
            "Missing input files for rule absent:\n    output: absent.txt\n    affected files:",
        ),
        ("x.csv", "the configuration does not name 'nope', which rule unknown needs.\n  Mend the name"),
    ],
)  # fmt: skip
def test_snakemake_hands_on_what_a_message_is_made_of(tmp_path, target, message):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", target, "--cores", "1", "--logger", "irpretrain"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert message in done.stderr


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
    error = of_call(load_configfile, "own.yaml")
    displayed = refusal(error, ["--cores", "1", "--configfile", "sound.yaml", "own.yaml", "-n"])
    assert displayed.startswith(message)
    assert TARGETS_FIRST not in displayed


def test_a_fault_of_the_default_names_file_and_line(tmp_path):
    (tmp_path / "config.yaml").write_text("a: {b: 1\nc: 2\n")
    (tmp_path / "Snakefile").write_text("configfile: 'config.yaml'\n")
    command = [sys.executable, "-m", "snakemake", "--logger", "irpretrain", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "config.yaml:2: this is not valid YAML: " in done.stderr


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
        raised(
            WorkflowError("Error recording metadata for finished job ([Errno 28] No space left on device)."),
            OSError(28, "No space left on device"),
        ),
        "no space left on the disk",
    ),
    (WorkflowError("([Errno 28] No space left on device)"), "no space left on the disk"),
    (
        raised(
            RuleException("OSError in file ..."), OSError(28, "No space left on device", "/x/tmpx.write.py")
        ),
        "no space left on the disk",
    ),
    (OSError(27, "File too large"), "a file became larger than the disk or `ulimit -f` allows"),
    (OSError(122, "Disk quota exceeded", "a"), "no space left in your quota of the disk"),
]


@pytest.mark.parametrize(("error", "message"), FULL, ids=["record", "text", "script", "limit", "quota"])
def test_a_full_disk_where_snakemake_writes_is_one_message(error: Exception, message: str) -> None:
    made = refusal(error)
    assert made.startswith(f"{message} (")
    assert " MB are free in /" in made
    assert made.endswith("; make room, then run the same command again")
    assert "\n" not in made
    assert disk_message([Exception("other"), error], ["other"]) == made


def test_no_room_for_temporary_files_is_one_message():
    error = FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/var/tmp']")
    assert refusal(error).startswith("no folder for temporary files can be written to; make room in /tmp")


def test_a_job_without_a_message_is_explained_by_a_full_disk_alone(monkeypatch):
    silent = ["ERROR in x: x stopped without a message.\n  Its log: y"]
    assert disk_message([], silent) == ""
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((4096, 4096, 9, 1, 1, 9, 9, 9, 0, 255)))
    assert disk_message([], silent).startswith("no space left on the disk")
    assert disk_message([], ["ERROR in x: the loss is not a finite number"]) == ""
