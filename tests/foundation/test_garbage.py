"""The search for garbage is held back in jobs, and nowhere else."""

import subprocess
import sys

LAST = """
import atexit, gc
atexit.register(lambda: print(gc.get_threshold()[0] > 10_000, gc.get_freeze_count() > 1_000))
"""


def at_its_end(what: str) -> str:
    command = [sys.executable, "-c", f"{LAST}\n{what}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_job_searches_rarely_and_not_at_its_end():
    assert at_its_end("import irpretrain.foundation.stage") == "True True"


def test_who_imports_the_library_is_not_touched():
    assert at_its_end("import irpretrain; irpretrain.Collection") == "False False"


def test_a_job_that_used_duckdb_ends_without_a_word():
    """DuckDB reports leaks, in 50 lines, where Python does not collect its objects at the end."""
    job = "import irpretrain.foundation.stage, duckdb; duckdb.connect().execute('select 1')"
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
