"""Sidecars: hashes of content, reused only while they hold; counts, versions, cost."""

import ast
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from irpretrain import __version__
from irpretrain.foundation import provenance
from irpretrain.foundation.provenance import Recorder, content_hash, read_sidecar, sha256, sidecar_path

SECOND = 1_000_000_000


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def age(path: Path, seconds: float) -> None:
    """Make `path` look last written so many seconds ago."""
    now = path.stat().st_mtime_ns
    os.utime(path, ns=(now, now - int(seconds * SECOND)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(outputs, inputs=(), counts=None, **params):
    return json.loads(Recorder("count_words", list(inputs), list(outputs), params).write(counts).read_text())


def test_a_directory_is_hashed_by_names_and_content(tmp_path):
    """Without what Snakemake leaves in it."""
    (tmp_path / "m" / "inner").mkdir(parents=True)
    (tmp_path / "m" / "b").write_text("two")
    (tmp_path / "m" / "inner" / "a").write_text("one")
    (tmp_path / "m" / ".snakemake_timestamp").touch()
    lines = f"b\0{digest('two')}\ninner/a\0{digest('one')}\n"
    assert sha256(tmp_path / "m") == digest(lines)


def test_a_content_hash_knows_values_not_their_order():
    assert content_hash({"a": 1, "b": [2, 3]}) == content_hash({"b": [2, 3], "a": 1})
    assert (
        len({content_hash(v) for v in ({"a": 1}, {"a": 1.5}, {"a": "1"}, {"a": None}, {}, [1, 2], [2, 1])})
        == 7
    )
    assert re.fullmatch("[0-9a-f]{16}", content_hash({"path": Path("a")}))


def test_a_sidecar_says_what_was_made_of_what_how_and_by_what(folder):
    Path("in").write_text("red fox")
    Path("out").write_text("fox 1")
    Path("second").write_text("red 1")
    found = record(["out", "second"], ["in"], {"documents": 2, "skipped": {"empty": 1}}, words="alphabetic")
    assert found["stage"] == "count_words"
    assert found["inputs"] == {"in": digest("red fox")}
    assert found["outputs"] == {"out": digest("fox 1"), "second": digest("red 1")}
    assert found["parameters"] == {"words": "alphabetic"}
    assert found["parameters_hash"] == content_hash({"words": "alphabetic"})
    assert found["counts"] == {"documents": 2, "skipped": {"empty": 1}}
    assert found["versions"]["irpretrain"] == __version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["versions"]["numpy"] == np.__version__
    assert found["hardware"]["cores"] == os.cpu_count()
    assert found["hardware"]["machine"] == platform.machine()
    assert sidecar_path("out") == sidecar_path("out/") == Path("out.meta.json")
    assert not Path("second.meta.json").exists()
    assert read_sidecar("out") == found


def test_a_sidecar_is_as_old_as_the_newest_output(folder):
    """Otherwise the hash of what was written last would never be taken from it."""
    Path("first").write_text("x")
    time.sleep(0.05)  # a file system's clock has steps of 4 ms
    Path("last").write_text("y")
    record(["first", "last"])
    assert Path("first.meta.json").stat().st_mtime_ns == Path("last").stat().st_ctime_ns


def test_a_missing_output_has_no_sidecar(folder):
    with pytest.raises(FileNotFoundError):
        record(["out"])
    assert read_sidecar("out") == {}


def test_several_versions_and_processors_are_named():
    first = {"versions": {"numpy": "2.4", "torch": "2.13"}, "hardware": {"cpu": "EPYC", "cores": 2}}
    second = {"versions": {"numpy": "2.4", "torch": "2.11", "scipy": "1"}, "hardware": {"cpu": "Xeon"}}
    assert provenance.mixed_versions_text([first, first, {}]) == ""
    assert provenance.mixed_versions_text([first, second]) == (
        "Made with different torch 2.11, 2.13; processor EPYC, Xeon: numbers can differ for that alone."
    )


def test_cost_counts_this_process_and_its_children(folder):
    Path("out").write_text("x")
    cpu_seconds, wall_seconds = sum(os.times()[:4]), time.monotonic()
    recorder = Recorder("search", [], ["out"], {})
    burn = "import time\nblock = bytearray(300 * 2**20)\nwhile time.process_time() < 0.4: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    cost = json.loads(recorder.write().read_text())["cost"]
    assert 0.4 <= cost["cpu_seconds"] <= sum(os.times()[:4]) - cpu_seconds + 0.1
    assert 0.4 <= cost["wall_seconds"] <= time.monotonic() - wall_seconds + 0.1
    assert cost["peak_memory_mb"] >= 300


def test_memory_is_this_programs_own_not_that_of_what_started_it(folder):
    """The kernel lets a process's counter begin with its parent's memory: Snakemake's, in the workflow."""
    Path("out").write_text("x")
    code = (
        "import json; from irpretrain.foundation.provenance import Recorder\n"
        "r = Recorder('s', [], ['out'], {}, {'threads': 2})\n"
        "print(json.loads(r.write().read_text())['cost'])"
    )
    block = bytearray(b"x") * (600 * 2**20)
    displayed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    cost = ast.literal_eval(displayed)
    assert len(block) // 2**20 == 600
    assert 5 < cost["peak_memory_mb"] < 300
    assert cost["asked"] == {"threads": 2}


@pytest.mark.parametrize("name", ["GIT_CEILING_DIRECTORIES", "PATH"], ids=["no repository", "no git"])
def test_the_commit_is_then_unknown(folder, monkeypatch, name):
    monkeypatch.setattr(provenance, "__file__", str(folder / "provenance.py"))
    monkeypatch.setenv(name, str(folder.parent))
    Path("out").write_text("x")
    assert record(["out"])["commit"] == "unknown"


@pytest.mark.parametrize("sidecar", ["", "{", "[]", "{}", '{"outputs": {"other": "0"}}'])
def test_a_sidecar_that_does_not_tell_is_no_obstacle(folder, sidecar):
    Path("made").write_text("fox 1")
    Path("made.meta.json").write_text(sidecar)
    Path("out").write_text("x")
    assert record(["out"], ["made"])["inputs"] == {"made": digest("fox 1")}


def test_the_hash_of_an_input_comes_from_its_makers_sidecar_unless_it_changed_since(folder):
    """As `cp -p` and `rsync -a` leave it: with an older time of writing than the file had."""
    Path("made").write_text("fox 1")
    Path("model").mkdir()
    Path("model/weights").write_text("one")
    Path("out").write_text("x")
    for path in ("made", "model"):
        found = record([path])
        Path(f"{path}.meta.json").write_text(json.dumps(found | {"outputs": {path: "of the sidecar"}}))
    assert record(["out"], ["made", "model"])["inputs"] == dict.fromkeys(["made", "model"], "of the sidecar")
    for path in ("made", "model/weights"):
        Path(path).write_text("fox")
        age(Path(path), 1000)
    found = record(["out"], ["made", "model"])["inputs"]
    assert found == {"made": digest("fox"), "model": digest(f"weights\0{digest('fox')}\n")}
