"""A call that was killed anywhere among its renames goes on when it is made again, and makes the same."""

import subprocess
import sys
from pathlib import Path

import pytest
from kills_at_renames import CALLS

from tiny_models import write_bert

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
