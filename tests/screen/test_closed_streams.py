"""A run whose standard streams are closed works, and no file gets what its jobs print."""

import subprocess
import sys
from pathlib import Path

import pytest

SNAKEFILE = """
rule only:
    output: "made.txt"
    shell: "echo printed by the job; ls -l /proc/self/fd/1 > {output}"
"""


@pytest.mark.parametrize("closed", [pytest.param(">&-", marks=pytest.mark.deep), "<&- >&- 2>&-"])
def test_a_run_with_closed_streams(tmp_path: Path, closed: str) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = f"{sys.executable} -m snakemake --logger irpretrain --cores 1 {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "made.txt").exists()
    texts = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert not any("printed by the job" in text.replace("echo printed by the job", "") for text in texts)


@pytest.mark.parametrize("closed", [pytest.param("2>&-", marks=pytest.mark.deep), "<&- 2>&-"])
def test_notes_of_a_command_whose_stderr_is_closed_are_not_among_its_results(
    tmp_path: Path, closed: str
) -> None:
    (tmp_path / "fruit.jsonl").write_text('{"id": "d1", "text": "apple pie", "colour": "red"}\n')
    (tmp_path / "topics.tsv").write_text("q1\tapple\nq2\tpear\n")
    command = f"{sys.executable} -m irpretrain search fruit.jsonl topics.tsv {closed} > run"
    assert subprocess.run(["bash", "-c", command], cwd=tmp_path).returncode == 0
    (line,) = (tmp_path / "run").read_text().splitlines()
    assert line.startswith("q1 Q0 d1 1 ")
    command = f"{sys.executable} -m irpretrain init nowhere {closed} > text"
    assert subprocess.run(["bash", "-c", command], cwd=tmp_path).returncode == 2
    assert (tmp_path / "text").read_text() == ""
