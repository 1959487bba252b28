"""What the user and the log get to see of a stage, and when its sidecar is written."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, ResourceList

from irpretrain.foundation.errors import REASONS, InputError
from irpretrain.foundation.stage import by_corpus, stage


class Job:
    """What Snakemake hands to a script, of its own classes."""

    def __init__(
        self, outputs: dict[str, str], inputs: dict[str, str] | None = None, log: bool = True
    ) -> None:
        self.rule = "count_words"
        self.input = InputFiles(fromdict=inputs or {})
        self.output = OutputFiles(fromdict=outputs)
        self.params = Params(fromdict={"text": {"words": "alphabetic"}, "shard": 3})
        self.log = Log(toclone=["logs/words/1.log"] if log else [])


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Job({"meta": "counts.parquet.meta.json", "counts": "counts.parquet"})


def log() -> str:
    return Path("logs/words/1.log").read_text()


def test_a_finished_stage_has_a_sidecar_with_its_counts(job):
    Path("documents").write_text("red fox")
    job.input = InputFiles(fromdict={"documents": "documents"})
    job.threads, job.resources = 2, ResourceList(fromdict={"mem_mb": 300})
    with stage(job) as counts:
        Path(job.output.counts).write_text("fox 1")
        counts |= {"documents": 2}
        counts |= {"words": 5}
    found = json.loads(Path("counts.parquet.meta.json").read_text())
    assert found["stage"] == "count_words"
    assert found["counts"] == {"documents": 2, "words": 5}
    assert found["parameters"] == {"text": {"words": "alphabetic"}, "shard": 3}
    assert found["cost"]["asked"] == {"threads": 2, "memory_mb": 300}
    assert list(found["inputs"]) == ["documents"]
    assert list(found["outputs"]) == ["counts.parquet"], "the declared sidecar is not an output of the stage"


def test_what_is_printed_is_on_the_screen_and_in_the_log(job, capsys):
    Path("logs/words").mkdir(parents=True)
    with stage(job):
        Path("counts.parquet").write_text("fox 1")
        print("status", file=sys.stderr)
        print("result")
        sys.stderr.log.write("only after a fault\n")
    screen = capsys.readouterr()
    assert (screen.err, screen.out) == ("status\n", "result\n")
    assert log() == "status\nresult\nonly after a fault\n"


def test_a_progress_bar_is_on_the_screen_only(job, capsys):
    with stage(job):
        Path("counts.parquet").write_text("fox 1")
        sys.stderr.write("\rcount words: 10%")
    assert "10%" in capsys.readouterr().err
    assert log() == ""


def test_the_screen_is_as_before_after_the_stage(job, capsys):
    before = sys.stderr, sys.stdout
    with stage(job):
        retained = sys.stderr
        Path("counts.parquet").write_text("fox 1")
        assert retained.encoding == before[0].encoding
        assert retained.isatty() is before[0].isatty()
    assert (sys.stderr, sys.stdout) == before
    retained.write("a logger that kept the stage's screen\n")
    retained.flush()
    assert "kept" in capsys.readouterr().err


def run(job: Job, error: BaseException) -> None:
    with stage(job) as counts:
        Path("counts.parquet").write_text("half")
        counts |= {"documents": 2}
        raise error


def fail(job: Job, error: BaseException) -> int | str | None:
    """Run a stage that raises `error`; return the exit status."""
    with pytest.raises(SystemExit) as raised:
        run(job, error)
    assert not Path("counts.parquet.meta.json").exists()
    return raised.value.code


def test_an_error_of_the_user_is_one_message(job, capsys):
    assert fail(job, InputError("data/a.jsonl", "not JSON", line=3, remedy="Mend the line.")) == 1
    expected = "\nERROR in count_words: data/a.jsonl:3: not JSON\n  Mend the line.\n\n"
    assert capsys.readouterr().err == expected
    assert log() == expected


def test_what_was_removed_from_an_input_folder_is_named(job, capsys):
    snapshot = Path("results/model/snapshots/step-000100")
    snapshot.parent.mkdir(parents=True)
    job.input = InputFiles(fromdict={"model": "results/model"})
    with pytest.raises(SystemExit), stage(job):
        shutil.copytree(snapshot, "results/chosen")
    assert capsys.readouterr().err == (
        f"\nERROR in count_words: {snapshot} is gone, though an earlier job made it; delete results/model and run the "
        "workflow again\n\n"
    )


def test_a_fault_leaves_its_traceback_in_the_log_and_a_pointer_on_the_screen(job, capsys):
    assert fail(job, ZeroDivisionError("no documents")) == 1
    screen = capsys.readouterr().err
    assert screen == (
        "\nFAULT in count_words: ZeroDivisionError: no documents\n  Its traceback is in logs/words/1.log\n\n"
    )
    assert "Traceback (most recent call last)" in log()
    assert "raise error" in log()
    assert log().endswith(screen)


def test_a_fault_without_a_log_has_its_traceback_on_the_screen(job, capsys):
    job.log = Log()
    assert fail(job, ZeroDivisionError("no documents")) == 1
    screen = capsys.readouterr().err
    assert "Traceback (most recent call last)" in screen
    assert screen.endswith(
        "FAULT in count_words: ZeroDivisionError: no documents\n  Its traceback is above\n\n"
    )


def test_a_stage_whose_log_cannot_be_opened_goes_on_without(job, capsys):
    Path("logs").touch()
    with stage(job):
        Path("counts.parquet").write_text("fox 1")
    assert Path("counts.parquet.meta.json").exists()
    assert capsys.readouterr().err.startswith("There will be no log: ")


def test_memory_that_ran_out_is_one_message(job, capsys):
    assert fail(job, MemoryError("Unable to allocate 80 GiB")) == 1
    screen = capsys.readouterr().err
    assert screen == (
        "\nERROR in count_words: out of memory; give the rule more mem_mb or the corpus more shards\n\n"
    )


@pytest.mark.parametrize("number", REASONS)
def test_a_full_disk_is_one_message(job, capsys, number):
    assert fail(job, OSError(number, "write failed")) == 1
    displayed = capsys.readouterr().err
    assert re.fullmatch(
        rf"\nERROR in count_words: {REASONS[number]} \([\d,]+ MB are free in {Path.cwd()}\); make room, then run the "
        r"same command again\n\n",
        displayed,
    )
    assert "Traceback" not in log()


@pytest.mark.parametrize(
    "text", ["8192 requested and 40 written", "I/O error: No space left on device (os error 28)"]
)
def test_a_full_disk_of_a_library_without_numbers_is_one_message(job, capsys, text):
    error = ValueError("the weights cannot be written")
    error.__cause__ = RuntimeError(text)
    assert fail(job, error) == 1
    assert "ERROR in count_words: no space left on the disk" in capsys.readouterr().err


def test_an_interruption_is_silent(job, capsys):
    assert fail(job, KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == ""


def test_an_output_that_was_not_made_is_a_fault_of_the_stage(job, capsys):
    with pytest.raises(SystemExit), stage(job):
        pass
    assert "FAULT in count_words: FileNotFoundError" in capsys.readouterr().err
    assert not Path("counts.parquet.meta.json").exists()


def test_an_undecodable_file_name_reaches_the_log(job):
    with stage(job):
        Path("counts.parquet").write_text("fox 1")
        sys.stderr.log.write("reads \udcff.jsonl\n")
    assert log() == "reads \\udcff.jsonl\n"


def test_shards_by_corpus():
    assert by_corpus(["a0", "a1", "b0"], [("a", 2), ("b", 1)]) == [["a0", "a1"], ["b0"]]
