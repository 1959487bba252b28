"""A disk that fills up in the middle of a stage: one message, nothing half-written; with room again, the same bytes.

Once by a limit on the size of a file, which needs no rights, once on a real file system that is full, where one can be
mounted.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from stages_to_fill import STAGES

from irpretrain.foundation.provenance import sha256
from patience import PATIENCE

pytestmark = pytest.mark.deep

SCRIPT = Path(__file__).with_name("stages_to_fill.py")
FILLED = ("read", "tokens", "postings", "groups", "graph", "pretraining", "run", "searches", "report")
PAGE = 4096
MESSAGE = (
    r"\nERROR in {stage}: {reason} \([\d,]+ MB are free in {position}\); make room, then run the same command"
)
NO_ROOM = "no space left on the disk"
TOO_LARGE = "a file became larger than the disk or `ulimit -f` allows"


def run(*arguments: object, expect: int = 0) -> str:
    """Run the script and return what it printed; fail with it where the status is another."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == expect, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr


def outputs(stage: str, folder: Path) -> dict[str, Path]:
    """The files of a stage's outputs, by their relative paths."""
    made = [folder / name for name in STAGES[stage][1]]
    files = [
        file for path in made for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()
    ]
    return {file.relative_to(folder).as_posix(): file for file in files}


def hashes(stage: str, folder: Path) -> dict[str, str]:
    """Hashes of the outputs, without the times of a training."""
    return {
        name: re.sub(r'"[a-z_]*second[a-z]*": [-\d.e]+', "", file.read_text())
        if name == "metrics.jsonl"
        else sha256(file)
        for name, file in outputs(stage, folder).items()
    }


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs") / "inputs"
    run("prepare", folder)
    return folder


@pytest.fixture(scope="session")
def whole(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that runs a stage with all the room it wants, once, and returns its folder."""
    made: dict[str, Path] = {}

    def make(stage: str) -> Path:
        if stage not in made:
            folder = tmp_path_factory.mktemp(stage)
            run(stage, inputs, folder, 0)
            made[stage] = folder
        return made[stage]

    return make


def assert_nothing_is_left(stage: str, folder: Path) -> None:
    """No output, no sidecar, no part of one; what a training goes on from may stay."""
    left = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    allowed = {"log", *(["checkpoints"] if stage == "pretraining" else [])}
    assert left <= allowed
    assert [path for path in folder.rglob("*") if path.name.endswith((".partial", ".meta.json"))] == []


@pytest.mark.parametrize("stage", FILLED)
def test_a_file_that_may_not_grow(
    inputs: Path, whole: Callable[[str], Path], tmp_path: Path, stage: str
) -> None:
    most = max(file.stat().st_size for file in outputs(stage, whole(stage)).values()) // 2
    displayed = run(stage, inputs, tmp_path, most, expect=1)
    assert re.search(
        MESSAGE.format(stage=stage, reason=f"(?:{TOO_LARGE}|{NO_ROOM})", position=r"[^)\n]+"), displayed
    )
    assert "Traceback" not in displayed
    assert_nothing_is_left(stage, tmp_path)
    run(stage, inputs, tmp_path, 0)
    assert hashes(stage, tmp_path) == hashes(stage, whole(stage))


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of so many bytes; skips where none may be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size // PAGE * PAGE}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def make_room(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=256m", str(folder)], check=True)


def room_taken(folder: Path) -> int:
    return sum(-(-path.stat().st_size // PAGE) * PAGE for path in folder.rglob("*") if path.is_file())


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
@pytest.mark.parametrize("stage", [*FILLED, "lucene"])
def test_a_full_disk(inputs: Path, whole: Callable[[str], Path], tmp_path: Path, stage: str) -> None:
    with disk(tmp_path / "disk", max(room_taken(whole(stage)) // 2, 2 * PAGE)) as folder:
        displayed = run(stage, inputs, folder, 0, expect=1)
        assert re.search(
            MESSAGE.format(stage=stage, reason=NO_ROOM, position=re.escape(str(folder))), displayed
        )
        assert "Traceback" not in displayed
        assert_nothing_is_left(stage, folder)
        make_room(folder)
        run(stage, inputs, folder, 0)
        if stage != "lucene":  # which names its segments at random
            assert hashes(stage, folder) == hashes(stage, whole(stage))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
def test_training_goes_on_from_the_checkpoint_before_the_disk_was_full(
    inputs: Path, whole: Callable[[str], Path], tmp_path: Path
) -> None:
    """A checkpoint is some three times the model, so there is room for one, not for two."""
    with disk(tmp_path / "disk", 5 * room_taken(whole("pretraining") / "a")) as folder:
        assert NO_ROOM in run("pretraining", inputs, folder, 0, expect=1)
        assert len(list(folder.rglob("step-*.pt"))) == 1
        make_room(folder)
        assert re.search(r"resumes from \S*step-00000001-", run("pretraining", inputs, folder, 0))
        assert hashes("pretraining", folder) == hashes("pretraining", whole("pretraining"))


OWN_FILES = """
rule all:
    input: expand("out/{number}.txt", number=range(12))
rule one:
    output: "out/{number}.txt"
    params: text="x" * 2000 # which Snakemake's record of a job has
    shell: "echo {wildcards.number} > {output}"
"""


def run_snakemake(folder: Path, limit: str = "") -> subprocess.CompletedProcess[str]:
    (folder.parent / "Snakefile").write_text(OWN_FILES)
    command = f"{sys.executable} -m snakemake --snakefile {folder.parent}/Snakefile --directory {folder}"
    return subprocess.run(
        ["bash", "-c", f"{limit} {command} --logger irpretrain --cores 1 --rerun-incomplete"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def assert_one_message(done: subprocess.CompletedProcess[str], folder: Path, reason: str) -> None:
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout
    assert "stopped without a message" not in done.stderr
    message = rf"{reason} \([\d,]+ MB are free in {folder}\S*\); make room, then run the same command again"
    assert len(re.findall(message, done.stderr)) == 1, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
@pytest.mark.parametrize("pages", [6, 14, 25])
def test_a_disk_that_is_full_where_snakemake_writes(tmp_path: Path, pages: int) -> None:
    with disk(tmp_path / "disk", pages * PAGE) as folder:
        assert_one_message(run_snakemake(folder), folder, NO_ROOM)
        make_room(folder)
        done = run_snakemake(folder)
        assert done.returncode == 0, done.stderr
        texts = [(folder / f"out/{number}.txt").read_text() for number in range(12)]
        assert texts == [f"{number}\n" for number in range(12)]


def test_files_of_snakemake_that_may_not_grow(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert_one_message(run_snakemake(folder, "ulimit -f 1;"), folder, TOO_LARGE)
    assert run_snakemake(folder).returncode == 0
