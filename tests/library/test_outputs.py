"""Outputs replace what the same function wrote, an empty folder, or nothing, wherever a call is killed."""

import errno
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from kills_at_renames import CALLS

from irpretrain import Collection, finetune, own_groups, pretrain
from irpretrain.command import main
from irpretrain.foundation.errors import ConfigError, InputError, SetupError, full_disk, reporting_disk_errors
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.job_lock import hold_output
from tiny_models import write_bert

BODIES = {"d0": "word01 word02 word03 ab cd", "d1": "word01 ef gh", "d2": "word05 word06 word07 word01"}
TRAINING = {"steps": 1, "batch_groups": 2, "max_length": 32, "query_length": 8}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    pretrain(groups, tmp_path_factory.mktemp("trained") / "prop", **TRAINING)
    return tmp_path_factory.getbasetemp() / "trained0/prop"


@pytest.fixture
def folder(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(trained.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_slash_at_the_end_of_a_name_changes_nothing(folder: Path, tiny_encoder: Path) -> None:
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    pretrain(groups, "other/", **TRAINING)
    beside = {path.name for path in folder.glob("other*")}
    assert beside == {"other", "other.meta.json", "other.metrics.jsonl", "other.probe.csv"}
    assert not [path.name for path in (folder / "other").iterdir() if path.name.startswith(".")]
    pretrain(groups, "other/", **TRAINING)


def test_pretraining_spares_the_folders_of_others(folder: Path, tiny_encoder: Path) -> None:
    shutil.copytree(tiny_encoder, folder / "encoder")
    groups = Collection(BODIES, encoder=folder / "encoder").groups("rop", minimum_count=1)
    (folder / "notes").mkdir()
    (folder / "notes/diary.txt").write_text("dear diary")
    before = content(folder)
    for output in ("encoder", "notes", "notes/diary.txt"):
        with pytest.raises((ConfigError, InputError)):
            pretrain(groups, output, **TRAINING)
    assert content(folder) == before
    pretrain(groups, "prop", **TRAINING)


def test_standard_output_is_utf_8_whatever_the_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fruit.jsonl").write_text('{"id": "é1", "text": "pear"}\n', encoding="utf-8")
    (tmp_path / "topics.tsv").write_text("q1\tpear\n")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii", newline="\r\n"))
    assert main(["search", str(tmp_path / "fruit.jsonl"), str(tmp_path / "topics.tsv")]) == 0
    line = sys.stdout.buffer.getvalue().decode("utf-8")
    assert line.startswith("q1 Q0 é1 1 ")
    assert line.count("\r") == 0


def test_two_trainings_never_write_one_output(folder: Path, tiny_encoder: Path) -> None:
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    tuned = own_groups([("word01", "word01 ab"), ("word05", "word05 cd")], folder / "prop")
    before = content(folder)
    with hold_output(folder / "prop.checkpoints/output.lock", folder / "prop"):
        for output in ("prop", folder / "prop"):
            with pytest.raises(InputError, match=f"process {os.getpid()} on .* is writing this output"):
                pretrain(groups, output, **TRAINING)
    assert content(folder) == before
    with hold_output(folder / "new.checkpoints/output.lock", folder / "new"):
        Path("link").symlink_to("new")
        for output in ("new", "link"):
            with pytest.raises(InputError, match="is writing this output"):
                finetune(tuned, output, epochs=1, max_length=32, query_length=8)


def test_a_training_removes_what_killed_ones_of_its_output_left(
    folder: Path, tiny_encoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Checkpoints("prop.checkpoints", {"seed": 2}, "t", 1.0) as checkpoints:
        checkpoints.save(3, {})
    (folder / "prop.checkpoints/0123456789abcdef.lock").touch()
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    pretrain(groups, "prop", **TRAINING)
    assert not Path("prop.checkpoints").exists()
    assert "removed the checkpoints of 1 earlier training of this output" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        "groups rop d.jsonl d.jsonl --set minimum_count=1",
        "groups rop d.jsonl ./d.jsonl --set minimum_count=1",
        "groups rop d.jsonl symbolic --set minimum_count=1",
        "groups rop d.jsonl hard --set minimum_count=1",
        "groups rop texts texts/a.jsonl --set minimum_count=1",
        "groups rop d.jsonl texts --set minimum_count=1",
        "score prop p.jsonl p.jsonl --set max_length=32 --set query_length=8",
        "score prop p.jsonl prop/config.json --set max_length=32 --set query_length=8",
        "search d.jsonl topics.tsv topics.tsv",
        "search d.jsonl topics.tsv d.jsonl",
        "rerank run.txt d.jsonl topics.tsv run.txt --model prop",
        "rerank run.txt d.jsonl topics.tsv prop/config.json --model prop",
        "evaluate qrels.txt run.txt -o qrels.txt",
        "evaluate qrels.txt run.txt --csv -o run.txt",
        "groups ict d.jsonl prop/config.json --encoder prop",
        "pretrain groups.jsonl groups.jsonl --encoder prop --set steps=1",
        "pretrain groups.jsonl prop/new --encoder prop --set steps=1",
        "finetune prop groups.jsonl groups.jsonl",
        "finetune prop groups.jsonl prop",
        "init . -o d.jsonl",
        "init . -o topics.tsv",
        "parse-dump dump.xml dump.xml --set wiki=enwiki",
    ],
)
def test_a_command_spares_its_input(arguments: str, folder: Path, capsys: pytest.CaptureFixture) -> None:
    lines = "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in BODIES.items())
    (folder / "d.jsonl").write_text(lines)
    (folder / "texts").mkdir()
    (folder / "texts/a.jsonl").write_text(lines)
    (folder / "symbolic").symlink_to("d.jsonl")
    os.link("d.jsonl", "hard")
    (folder / "p.jsonl").write_text('{"query": "word01", "document": "word02"}\n')
    (folder / "topics.tsv").write_text("q1\tword01\n")
    (folder / "run.txt").write_text("q1 Q0 d0 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    (folder / "qrels.txt").write_text("q1 0 d0 1\n")
    (folder / "groups.jsonl").write_text('{"query": "word01", "documents": ["word01 ab", "cd"]}\n')
    (folder / "dump.xml").write_text(
        '<mediawiki xml:lang="en"><page><title>Pear</title><ns>0</ns><id>1</id>'
        "<revision><text>A fruit.</text></revision></page></mediawiki>\n"
    )
    before = content(folder)
    assert main(arguments.split()) == 2
    assert content(folder) == before
    message = capsys.readouterr().err
    assert message.startswith("ERROR: ")
    assert ".partial" not in message
    assert "No such" not in message


@pytest.mark.parametrize(
    ("room", "message"),
    [
        ({}, "(9 MB are free in {folder}/out)"),
        ({"tmp": 0}, "(0 MB are free in {folder}/tmp)"),
        ({"out": 0, "tmp": 0}, "(0 MB are free in {folder}/out)"),
    ],
)
def test_the_disk_that_is_full_is_named_not_that_of_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: dict[str, int], message: str
) -> None:
    for name in ("out", "tmp/irpretrain-1/documents"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))

    def free(path: Path) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=room.get(path.relative_to(tmp_path).parts[0], 9), f_frsize=1 << 20)

    monkeypatch.setattr("irpretrain.foundation.errors.os.statvfs", free)
    full = OSError(errno.ENOSPC, "No space left on device")
    text = full_disk(full, [tmp_path / "out/model"]) or ""
    assert message.format(folder=tmp_path) in text
    named = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "tmp/irpretrain-1/documents/a"))
    assert f"are free in {tmp_path}/tmp)" in (full_disk(named, []) or ""), (
        "no folder that goes with the process"
    )
    assert (full_disk(full, []) or "").startswith("standard output") is (room.get("tmp") != 0)


def test_a_disk_without_room_for_temporary_files_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one disk holds all, tempfile finds no folder that it can write to, and says so by an error."""

    def none_usable() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none_usable)
    full = OSError(errno.ENOSPC, "No space left on device")
    assert (full_disk(full, [tmp_path / "out"]) or "").startswith("no space left on the disk (")
    with pytest.raises(SetupError, match=r"no folder for temporary files can be written to; .* set TMPDIR"):
        with reporting_disk_errors([tmp_path]), tempfile.TemporaryDirectory():
            pass


SCRIPT = Path(__file__).with_name("kills_at_renames.py")


@pytest.mark.deep
@pytest.mark.parametrize("name", CALLS)
def test_a_call_killed_after_any_rename_goes_on(name: str, tmp_path: Path, tiny_encoder: Path) -> None:
    encoder = write_bert(tmp_path / "bert", 1) if name == "finetune" else tiny_encoder
    (tmp_path / "calls").mkdir()
    command = [sys.executable, str(SCRIPT), name, str(encoder), str(tmp_path / "calls")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[-1]) >= 1
