"""Machine code that is kept between processes: a damaged or unwritable cache costs time, never a run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
COMPILES = "[compile] compiling once, about 15 s of one core\n"
USE = """
import numpy as np
from irpretrain.foundation.compiled import compiled

def double(x):
    return 2 * x

def cache_hits():
    function = compiled(double)
    assert function(21) == 42
    return sum(function.stats.cache_hits.values())

print(cache_hits())
"""


def run(folder: Path, cache: Path, program: str = USE) -> tuple[int, str]:
    """Call a compiled function in a process of its own; return hits of the cache, and what was said."""
    (folder / "use.py").write_text(program)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "use.py"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


DAMAGE = """
import os
from pathlib import Path

for suffix in ("nbi", "nbc"):
    files = Path(os.environ["NUMBA_CACHE_DIR"]).rglob(f"*.{suffix}")
    path = max(files, key=lambda file: file.stat().st_mtime_ns)  # a damaged index may leave machine code behind
    sound = path.read_bytes()
    half = len(sound) // 2
    hole = sound[:half] + bytes(64) + sound[half + 64 :]  # in machine code, so it can be unpickled
    for damaged in (b"", sound[:half], sound[:half] + bytes(len(sound) - half), hole, b"\\x80\\x05junk."):
        path.write_bytes(damaged)
        assert cache_hits() == 0, damaged
        assert cache_hits() == 1, "the damage is mended"
"""


def test_a_damaged_file_is_compiled_and_written_anew(tmp_path):
    assert run(tmp_path, tmp_path / "cache") == (0, COMPILES)
    assert run(tmp_path, tmp_path / "cache") == (1, "")
    assert run(tmp_path, tmp_path / "cache", USE + DAMAGE) == (0, COMPILES)


NOWHERE = """
from numba.core import caching

caching.CacheImpl._locator_classes = []  # as where neither folder can be written
"""


def test_a_cache_that_cannot_be_written_is_a_note(tmp_path):
    hits, reported = run(tmp_path, tmp_path / "cache", NOWHERE + USE)
    assert hits == 0
    assert reported.count("set NUMBA_CACHE_DIR to a folder of your own that you may write to") == 1
    assert "Traceback" not in reported


@pytest.mark.parametrize(
    ("mode", "owner", "reason"),
    [
        (0o777, None, "all users may write there"),
        (0o1777, None, "all users may write there"),
        pytest.param(0o755, 12345, "the folder is of user 12345", marks=NEEDS_ROOT),
    ],
)
def test_machine_code_that_others_may_have_put_there_is_not_read(tmp_path, mode, owner, reason):
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == (0, COMPILES)
    cache.chmod(mode)
    if owner is not None:
        os.chown(cache, owner, owner)
    hits, reported = run(tmp_path, cache)
    assert hits == 0
    assert reported.count(f"machine code cannot be kept in {cache}") == reported.count(f"({reason})") == 1


FULL = """
import errno
from irpretrain.foundation import compiled

def fail(self, filepath):
    raise OSError(errno.ENOSPC, "No space left on device", filepath)

compiled._CacheFile._open_for_write = fail
"""


def test_a_full_disk_of_the_cache_is_a_note(tmp_path):
    hits, reported = run(tmp_path, tmp_path / "cache", FULL + USE)
    assert hits == 0
    assert f"kept in {tmp_path / 'cache'}/compiled-" in reported
    assert "No space left on device" in reported


HOMELESS = """
import os, pwd

for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
    os.environ.pop(name, None)

def unknown(number):
    raise KeyError(number)

pwd.getpwuid = unknown

from irpretrain.foundation.code_digest import digests

assert digests(["foundation/errors.py"])
"""


def test_a_user_without_a_home_only_compiles_anew(tmp_path):
    """As in a container that runs under a number of its own."""
    assert run(tmp_path, tmp_path / "cache", HOMELESS + USE)[0] == 0
