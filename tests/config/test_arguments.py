"""Overlays that Snakemake would die of are one message, and no example of ours gives it a target for an overlay."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from irpretrain.config.arguments import configuration_files, main

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "configs/*.yaml",
        "profiles/**/*.yaml",
        "results/*.md",
        "Makefile",
        "config.yaml",
    )
    for path in ROOT.glob(pattern)
]
COMMAND = re.compile(r"(?:snakemake |make \w+ ).*--config.*")


def commands(text: str) -> list[str]:
    """The commands of a text that name overlays or keys, without what stands around them."""
    right = re.sub(r"^- wrong: .*$", "", text, flags=re.MULTILINE)
    return [re.split(r"`|\s#|[(),;]\s|\.$", found[0])[0] for found in COMMAND.finditer(right)]


def swallowed(command: str) -> list[str]:
    """What `--configfile` or `--config` would take that is neither an overlay nor a key with a value."""
    taken = re.findall(r"--(configfiles?|config)((?: +[^-\s][^\s\"]*)+)", command)
    return [
        word
        for option, words in taken
        for word in words.split()
        if not (re.search(r"\.(ya?ml|json)$", word) if option.startswith("configfile") else "=" in word)
    ]


def test_no_example_gives_a_target_after_the_overlays():
    found = {path: commands(path.read_text(encoding="utf-8")) for path in WRITTEN}
    assert sum(map(len, found.values())) > 20
    assert {path.name: bad for path in found for one in found[path] if (bad := swallowed(one))} == {}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("prop", []),
        ("prop --configfile a.yaml b.yaml --directory x", ["a.yaml", "b.yaml"]),
        ("--configfile=a.yaml -n", ["a.yaml"]),
        ("--configfiles a.yaml results/x --config seed=1", ["a.yaml", "results/x"]),
    ],
)
def test_what_is_named(given, named):
    assert configuration_files(given.split()) == named


def test_overlays_and_folders_that_can_be_used_pass(tmp_path):
    (tmp_path / "o.yaml").write_text("seed: 3\n")
    assert (
        main(["prop", "--configfile", str(tmp_path / "o.yaml"), "--directory", str(tmp_path / "a/runs")]) == 0
    )
    assert (tmp_path / "a/runs").is_dir()
    assert main(["prop"]) == 0


@pytest.mark.parametrize("option", ["--directory {}", "-d {}", "--directory={}"])
def test_a_folder_that_cannot_be_made_is_one_message(tmp_path, option, capsys):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file/runs"):
        assert main(option.format(folder).split()) == 1
        assert f"--directory: {folder} cannot be made: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "reported"),
    [
        ("results/report.html", b"<html>", "put it before --configfile"),
        ("results/tables", None, "put it before --configfile"),
        ("prop", None, "put it before --configfile"),
        ("missing.yaml", None, "there is no file"),
        ("mien.yaml", None, "did you mean {folder}/mine.yaml?"),
        (f"{'a' * 300}.yaml", None, "there is no file"),
        ("scores.json", b"\x1f\x8b\x08", "scores.json"),
        ("list.yaml", b"- 1\n", "list.yaml"),
    ],
)
def test_what_snakemake_would_die_of_is_one_message(tmp_path, name, content, reported, capsys):
    path = tmp_path / name
    (tmp_path / "mine.yaml").touch()
    if content is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert main(["--configfile", str(path), "--directory", str(tmp_path / "runs")]) == 1
    displayed = capsys.readouterr().err
    assert displayed.startswith("ERROR: ")
    assert reported.format(folder=tmp_path) in displayed
    assert str(path) in displayed


@pytest.mark.parametrize("goal", ["run", "resume"])
def test_make_looks_first(goal, tmp_path):
    """Nothing is started, and nothing is unlocked."""
    log = tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    programs = {"python": f'exec {sys.executable} "$@"', "snakemake": f"echo called >> {log}"}
    for name, line in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    command = ["make", "-o", "environment", goal, f"VENV={tmp_path}"]
    arguments = f"--configfile {tmp_path / 'o.yaml'}"
    done = subprocess.run([*command, f"ARGS={arguments}"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode != 0
    assert f"there is no file {tmp_path / 'o.yaml'}" in done.stderr
    assert not log.exists()
    (tmp_path / "o.yaml").write_text("seed: 3\n")
    done = subprocess.run([*command, f"ARGS={arguments}"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert log.exists()
