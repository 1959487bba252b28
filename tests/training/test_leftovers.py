"""Checkpoints that killed and then changed jobs leave."""

from pathlib import Path

import pytest

from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.leftovers import CHECKPOINT_ROOT, leftovers, main, remove_unfinished


def broken_off(folder: Path, output: str) -> Path:
    with Checkpoints(folder / CHECKPOINT_ROOT, {"output": output}, "t", 1.0) as checkpoints:
        checkpoints.save(3, {})
    return checkpoints.directory


def test_those_whose_output_is_there_are_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, waiting = broken_off(tmp_path, "results/a"), broken_off(tmp_path, "results/b")
    (tmp_path / "results/a").mkdir()
    (made / "snapshots/step-000002").mkdir(parents=True)
    (made / "snapshots/step-000002/model.safetensors").write_bytes(bytes(3_000_000))
    assert [round(one.megabytes) for one in leftovers(tmp_path)] == [3, 0]
    found = [(one.output, one.is_stale) for one in leftovers(tmp_path)]
    assert found == [("results/a", True), ("results/b", False)]
    assert main(["--directory", str(tmp_path)]) == 0
    assert made.exists()
    first, second = capsys.readouterr().out.splitlines()
    assert "results/a" in first
    assert second.endswith("if you changed or dropped that job, remove the folder)")
    assert main(["--directory", str(tmp_path), "--remove"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "       3.0 MB  removed"
    assert not made.exists()
    assert waiting.exists()


def test_folders_whose_job_is_not_known_are_listed(tmp_path: Path) -> None:
    """A job that was killed while it removed its folder, and one whose record is damaged."""
    removed = broken_off(tmp_path, "results/a")
    removed = removed.rename(removed.with_name(f".{removed.name}.removed"))
    (removed / "job.json").unlink()
    (broken_off(tmp_path, "results/b") / "job.json").write_text("[1]")
    (broken_off(tmp_path, "results/c") / "job.json").write_text('{"output": ""}')
    assert sorted(one.is_stale for one in leftovers(tmp_path)) == [False, False, True]
    assert {one.output for one in leftovers(tmp_path)} == {"an unknown output"}
    assert main(["--directory", str(tmp_path), "--remove"]) == 0
    assert not removed.exists()


def test_what_killed_jobs_left_goes_and_nothing_else(tmp_path: Path) -> None:
    root = broken_off(tmp_path, "results/a").parent
    (root / "0123456789abcdef.lock").touch()
    (root / ".0123456789abcdef.removed").mkdir()
    (root / "notes.txt").touch()
    remove_unfinished(root)
    assert [path.name for path in root.iterdir()] == ["notes.txt"]


def test_a_removal_that_was_killed_is_in_nobody_s_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, half_removed = tmp_path / "0123456789abcdef", tmp_path / ".0123456789abcdef.removed"
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([job, half_removed]))
    for files_left in ((), ("step.pt",)):
        job.mkdir()
        half_removed.mkdir()
        for name in files_left:
            (half_removed / name).touch()
        remove_unfinished(tmp_path)
        assert not job.exists()
        assert not half_removed.exists()
