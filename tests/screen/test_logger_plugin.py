"""What the display makes of the records that Snakemake logs; their attributes are recorded ones of Snakemake 9.27."""

from __future__ import annotations

import io
import logging
import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake.api  # noqa: F401, before its parts, which import one another
from snakemake.exceptions import RuleException, WorkflowError
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from irpretrain.workflow.costs import PlannedTime
from irpretrain.workflow.screen import display as display_module
from irpretrain.workflow.screen.display import Display
from irpretrain.workflow.screen.job_output import Job
from snakemake_logger_plugin_irpretrain import LogHandler
from snakemake_logger_plugin_irpretrain.internals import ATTRIBUTE, has_display, redirect_output

FINAL = WorkflowError("At least one job did not complete successfully.")


def job_error(status: int) -> RuleException:
    """What Snakemake raises where the script of a job ends with a status, or by a signal."""
    error = RuleException("CalledProcessError in file ...")
    error.__context__ = subprocess.CalledProcessError(status, "python tmpx.read_corpus.py")
    return error


def settings(**changes: Any) -> SimpleNamespace:
    usual = {
        "dryrun": False, "verbose": False, "debug_dag": False, "quiet": None, "nocolor": False, "stdout": False,
        "show_failed_logs": False,
    }  # fmt: skip
    return SimpleNamespace(**{**usual, "log_handler_settings": {"irpretrain": None}, **changes})


class Run:
    """A run of two jobs, told to a handler by log records."""

    def __init__(self, **changes: Any) -> None:
        self.handler = LogHandler(settings(**changes), None)

    def log(self, text: str | None, level: int = logging.INFO, at: float = 0.0, **facts: Any) -> None:
        record = logging.LogRecord("snakemake", level, "", 0, text, None, None)
        record.created = at
        record.__dict__.update(facts)
        self.handler.emit(record)

    def begin(self, total: int = 2) -> Run:
        self.log("Assuming unrestricted shared filesystem usage.")
        self.log("Workflow has started!", event=LogEvent.WORKFLOW_STARTED)
        self.log("Building DAG of jobs...")
        self.log(
            "Job stats",
            event=LogEvent.RUN_INFO,
            stats={"read_corpus": 1, "write_paper_report": 1, "total": total},
        )
        return self

    def start(self, number: int = 1, rule: str = "read_corpus", at: float = 0.0, **facts: Any) -> None:
        usual = {"wildcards": {"corpus": "tiny"}, "log": [f"{rule}.log"], "output": ["results/x"]}
        self.log("Rule", at=at, event=LogEvent.JOB_INFO, jobid=number, rule_name=rule, **{**usual, **facts})

    def finish(self, number: int = 1, at: float = 0.0) -> None:
        self.log("Finished", at=at, event=LogEvent.JOB_FINISHED, job_id=number)

    def raise_error(self, error: Exception) -> None:
        self.log("its text", logging.ERROR, event=LogEvent.ERROR, error=error)

    def fail(self, status: int, number: int = 1, rule: str = "read_corpus") -> None:
        self.raise_error(job_error(status))
        self.end_job(number, rule, error=job_error(status))

    def end_job(
        self, number: int = 1, rule: str = "read_corpus", rule_msg: str | None = None, **facts: Any
    ) -> None:
        self.log(
            "Error in rule", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=number, rule_name=rule,
            rule_msg=rule_msg, **{"log": [f"{rule}.log"], **facts},
        )  # fmt: skip

    def end_in_failure(self) -> None:
        self.log("Shutting down, this might take some time.")
        self.log("Exiting because a job execution failed. Look above for error messages", logging.ERROR)
        self.raise_error(FINAL)
        self.handler.close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    return tmp_path


def test_a_run_is_a_line_a_job_and_its_result_comes_last(capfd, folder):
    run = Run()
    run.log(None, **{ATTRIBUTE: {"closing": lambda: "\nthe headline table\nReport:  results/report.html"}})
    run.begin()
    run.start(at=100)
    (folder / "read_corpus.log").write_text(
        "[tiny] 1/2 records (50%), 1 records/s, 1 s left\n[tiny] NOTE: 1 left out\n"
    )
    run.finish(at=103)
    run.start(2, "write_paper_report", at=103)
    run.finish(2, at=105)
    run.log("Complete log(s): /x/log")
    run.handler.close()
    run.handler.close()  # `logging` closes handlers once more at the end of the process
    screen = capfd.readouterr()
    assert screen.err == (
        "[1/2] read corpus tiny, 3 s\n[tiny] 1 left out\n[2/2] write paper report tiny, 2 s\n2 of 2 jobs done.\n"
    )
    assert screen.out == "\nthe headline table\nReport:  results/report.html\n"


def test_numbers_in_the_name_of_a_job_have_names(capfd):
    run = Run().begin()
    wildcards = {
        "dataset": "squad",
        "tokenizer": "",
        "model": "prop",
        "regime": "full",
        "seed": "1",
        "fold": "2",
    }
    run.start(1, "finetune", wildcards=wildcards)
    run.finish(1)
    run.start(2, "read_corpus", wildcards={"corpus": "squad-dev", "shard": "0"})
    run.finish(2)
    run.handler.close()
    assert capfd.readouterr().err.startswith(
        "[1/2] finetune squad prop full, seed 1, fold 2, 0 s\n[2/2] read corpus squad-dev, shard 0, 0 s\n"
    )


def write_headline(paper: str) -> None:
    columns = "panel,dataset,row,label,regime,measure,ours,low,high,marks,queries"
    table = Path(f"results/tables/{paper}_headline.csv")
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(f"{columns}\nSQuAD,squad,bm25,BM25 of {paper},zero-shot,RR@10,0.836,0.783,0.883,,150\n")


def test_the_first_table_is_displayed_later_ones_are_named_and_the_last_is_left_to_the_end(capfd):
    run = Run().begin(total=4)
    for number, paper in enumerate(("prop", "php", "ares")):
        write_headline(paper)
        run.start(number, "write_paper_report", output=[f"results/reports/{paper}.html"])
        run.finish(number)
    displayed = capfd.readouterr().err
    run.handler.close()
    assert "BM25 of prop" in displayed
    assert "Report:  results/reports/prop.html" in displayed
    assert "BM25 of php" not in displayed
    assert "Report:  results/reports/php.html" in displayed
    assert "reports/ares.html" not in displayed


def test_nothing_to_do_ends_with_the_result(capfd):
    run = Run()
    run.log(None, **{ATTRIBUTE: {"closing": lambda: "the headline"}})
    run.log("Workflow has started!", event=LogEvent.WORKFLOW_STARTED)
    run.log("Nothing to be done (all requested files are present and up to date).")
    run.handler.close()
    assert capfd.readouterr() == ("the headline\n", "Nothing to make: what was asked for is there.\n")


def test_a_refusal_before_the_run_is_all_that_is_displayed(capfd):
    run = Run()
    run.log("Config file config.yaml is extended by additional config specified via the command line.")
    run.raise_error(WorkflowError("sed: unknown key"))
    run.handler.close()
    assert capfd.readouterr() == ("", "sed: unknown key\n")


def test_messages_of_failed_jobs_come_last(capfd, folder):
    run = Run().begin()
    for number, rule in enumerate(("read_corpus", "prepare_dataset", "search", "write_tables")):
        run.start(number, rule)
        message = (
            f"FAULT in {rule}: KeyError: 1"
            if number
            else f"ERROR in {rule}: data/a.jsonl:3: not JSON\n  Mend it."
        )
        (folder / f"{rule}.log").write_text(f"[x] begins\n\n{message}\n\n")
        run.fail(1, number, rule)
    run.end_in_failure()
    screen = capfd.readouterr()
    assert screen.out == ""
    assert screen.err == (
        "FAILED read corpus tiny\nFAILED prepare dataset tiny\nFAILED search tiny\nFAILED write tables tiny\n"
        "\nStopped: 0 of 2 jobs done. The same command goes on from there after the fault below is mended.\n"
        "Logs: prepare_dataset.log, read_corpus.log, search.log\n\n"
        "ERROR in read_corpus: data/a.jsonl:3: not JSON\n  Mend it.\n\n"
        "FAULT in prepare_dataset: KeyError: 1\n\nFAULT in search: KeyError: 1\n\nFAULT in write_tables: KeyError: 1\n"
    )


STOPPED = "ERROR in read_corpus: read corpus tiny stopped without a message"
ITS_LOG = "\n  Its log: read_corpus.log"
ENDINGS = {
    "killed": (
        {"error": job_error(-9)},
        "",
        f"{STOPPED}: Killed. The system ends jobs so when memory runs out.{ITS_LOG}",
    ),
    "before it has a log": (
        {"error": job_error(1)},
        "Traceback\nModuleNotFoundError: No module named 'x'\n\n",
        f"{STOPPED}: exit status 1.{ITS_LOG}\n"
        "  The last line that jobs printed: ModuleNotFoundError: No module named 'x'",
    ),
    "a full disk has no room for its log": (
        {"error": job_error(1)},
        "\nERROR in read_corpus: no room\n  Make room.\n\nof another job\n",
        "ERROR in read_corpus: no room\n  Make room.",
    ),
    "by a cluster": (
        {"rule_msg": "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'"},
        "",
        f"{STOPPED}: SLURM-job '7' failed, SLURM status is: 'TIMEOUT'.{ITS_LOG}",
    ),
    "with a log of the cluster": (
        {"log": ["read_corpus.log", "slurm.log"]},
        "",
        "ERROR in read_corpus: out of memory",
    ),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_how_a_job_failed_is_told_by_its_logs_or_what_jobs_printed_or_its_process(capfd, folder, case):
    facts, printed, message = ENDINGS[case]
    (folder / "slurm.log").write_text("ERROR in read_corpus: out of memory\n")
    run = Run()
    redirect_output(Path("run.jobs.log"))
    run.log(None, **{ATTRIBUTE: {"logs": ["run.jobs.log"]}})
    run.begin()
    subprocess.run(["cat"], input=printed, text=True)
    run.start()
    run.end_job(**facts)
    run.end_in_failure()
    displayed = capfd.readouterr().err
    assert displayed.endswith(f"\nLogs: read_corpus.log, run.jobs.log\n\n{message}\n")
    subprocess.run(["sh", "-c", "echo after the run; echo a warning >&2"])
    assert capfd.readouterr() == ("after the run\n", "a warning\n")


def test_a_job_that_succeeds_at_its_second_attempt_has_not_failed(capfd):
    run = Run().begin()
    run.start()
    run.fail(1)
    run.log("Trying to restart job 1.")
    run.start()
    run.finish()
    run.start(2)
    run.finish(2)
    run.handler.close()
    assert capfd.readouterr().err.endswith("[2/2] read corpus tiny, 0 s\n2 of 2 jobs done.\n")


@pytest.mark.parametrize("job_fails", [True, False])
def test_an_interruption_is_acknowledged_at_once_and_is_no_fault(capfd, job_fails):
    run = Run()
    run.log(None, **{ATTRIBUTE: {"closing": lambda: "the headline"}})
    run.begin()
    run.start()
    run.log("Terminating processes on user request, this might take some time.")
    assert capfd.readouterr().err == "Stopping: running jobs end.\n"
    if job_fails:
        run.fail(130)
    run.end_in_failure()
    displayed = capfd.readouterr()
    assert "\nInterrupted: 0 of 2 jobs done. The same command goes on from there.\n" in displayed.err
    assert displayed.out == ""


def test_an_error_of_snakemake_itself_is_not_lost(capfd):
    run = Run().begin()
    run.raise_error(OSError("the disk is gone"))
    run.handler.close()
    assert capfd.readouterr().err.endswith("\nOSError: the disk is gone\n")


def test_the_first_line_of_a_run_has_the_time_that_the_plan_says(capfd, monkeypatch):
    monkeypatch.setattr(display_module, "SECONDS_BETWEEN_LINES", 0.0)
    run = Run().begin()
    times = {1: PlannedTime("read_corpus", 0.5), 2: PlannedTime("pretrain", 1800.0)}
    run.log(None, **{ATTRIBUTE: {"times": lambda: times}})
    run.start(at=time.time())
    displayed, end = "", time.time() + 60
    while "left. Running" not in displayed and time.time() < end:
        time.sleep(0.1)
        displayed += capfd.readouterr().err
    run.handler.close()
    assert "0 of 2 jobs done, about 30 min left. Running: read corpus tiny" in displayed


def test_the_time_left_follows_from_the_plan_and_the_ended_jobs():
    display = Display(io.StringIO(), clock=lambda: 0.0)
    display.planned({number: PlannedTime("pretrain", 1798.0) for number in (1, 2)})
    display.started(Job(1, "pretrain", "pretrain prop 1", started=0.0))
    assert display.time_left(0.0) == "about 60 min left"
    display.finished(1, 1800.0)
    assert display.time_left(1800.0) == "about 30 min left"


def test_a_run_begins_with_where_relative_paths_begin(capfd, folder, monkeypatch):
    monkeypatch.setenv("PWD", str(folder.parent))
    Run().begin().handler.close()
    assert capfd.readouterr().err.startswith(f"Relative paths begin in {folder.name}.\n")


def test_other_commands_show_what_snakemake_says(capfd):
    run = Run()
    run.log("Unlocked working directory.")
    run.handler.close()
    assert capfd.readouterr() == ("", "Unlocked working directory.\n")


QUIET_RULES, SILENT = {Quietness.PROGRESS, Quietness.RULES}, {Quietness.ALL}


@pytest.mark.parametrize("quiet", [QUIET_RULES, SILENT], ids=["rules", "all"])
def test_quiet_runs_show_the_refusal_and_no_progress(capfd, folder, quiet):
    run = Run(quiet=quiet).begin()
    run.start()
    (folder / "read_corpus.log").write_text("ERROR in read_corpus: not JSON\n")
    run.fail(1)
    run.start(2)
    run.finish(2)
    run.end_in_failure()
    displayed = capfd.readouterr().err
    assert "[1/2]" not in displayed
    assert displayed.endswith("\n\nERROR in read_corpus: not JSON\n")


@pytest.mark.parametrize(
    ("quiet", "shown"),
    [(QUIET_RULES, ("the headline\n", "a warning\n[tiny] 1 left out\n")), (SILENT, ("", ""))],
    ids=["rules", "all"],
)
def test_a_quiet_run_says_what_the_user_should_know_and_its_result_and_a_silent_one_nothing(
    capfd, folder, quiet, shown
):
    run = Run(quiet=quiet)
    run.log(None, **{ATTRIBUTE: {"closing": lambda: "the headline"}})
    run.log("a warning", logging.WARNING)
    run.begin()
    run.start(at=100)
    (folder / "read_corpus.log").write_text("[tiny] NOTE: 1 left out\n")
    run.finish(at=103)
    run.handler.close()
    assert capfd.readouterr() == shown


def test_a_complaint_of_snakemake_without_an_exception_is_not_lost(capfd):
    run = Run().begin()
    run.log("Remaining jobs:\n - search", logging.ERROR)
    run.end_in_failure()
    assert capfd.readouterr().err.endswith("\n\nRemaining jobs:\n - search\n")


@pytest.mark.parametrize("option", ["dryrun", "verbose", "debug_dag"])
def test_a_dry_run_and_verbose_output_are_snakemake_s_own(option):
    changed = settings(**{option: True})
    handler = LogHandler(changed, None)
    assert not has_display(changed)
    assert not handler.has_filter
    assert has_display(settings())
    assert not has_display(settings(log_handler_settings={"other": None}))


@pytest.mark.parametrize("verbose", [False, True])
def test_a_dry_run_counts_jobs_and_lists_them_only_if_verbose(capfd, verbose):
    run = Run(dryrun=True, verbose=verbose)
    stats = {"event": LogEvent.RUN_INFO, "stats": {"read_corpus": 1, "total": 1}}
    run.log("Job stats", **stats)
    run.start(
        reason="", local=True, is_checkpoint=False, rule_msg=None, input=[], benchmark=None, priority=0, threads=1,
        resources={},
    )  # fmt: skip
    run.log("Job stats", **stats)
    run.log("Reasons: new files")
    displayed = capfd.readouterr().err
    assert displayed.count("Job stats") == 1 + verbose
    assert ("localrule read_corpus" in displayed) is verbose
    assert displayed.endswith("Reasons: new files\n")
    assert ("--verbose lists each job" in displayed) is not verbose


@pytest.mark.parametrize(("searches", "more"), [(3, ""), (5, "; and 2 more")])
def test_a_line_says_how_far_the_run_and_its_jobs_are(folder, searches, more):
    """A line names few of many running jobs, without rates and losses."""
    now, screen = [0.0], io.StringIO()
    display = Display(screen, clock=lambda: now[0])
    display.total = 9
    log = folder / "job.log"
    log.write_text("[prop] step 5/10, loss 0.5, 20 s left\n")
    os.utime(log, (30, 30))
    display.started(Job(0, "train", "train squad", [log], started=20.0))
    for number in range(1, searches + 1):
        display.started(Job(number, "search", f"search {number}", started=35.0))
    now[0] = 40.0
    display.tick()
    assert screen.getvalue() == (
        "0 of 9 jobs done, time left not known yet. Running: train squad (20 s: step 5/10, 20 s left); "
        f"search 1 (5 s); search 2 (5 s); search 3 (5 s){more}.\n"
    )


@pytest.mark.parametrize("quiet", [False, True])
def test_it_is_silent_for_no_longer_than_half_a_minute_unless_it_is_quiet(quiet):
    now, screen = [0.0], io.StringIO()
    display = Display(screen, quiet, clock=lambda: now[0])

    def wait(seconds: int) -> list[str]:
        before = screen.tell()
        for _ in range(seconds):
            now[0] += 1
            display.tick()
        return screen.getvalue()[before:].splitlines()

    if quiet:
        assert wait(60) == []
        return
    assert wait(30) == ["Reading the configuration: 20 s"]
    display.total = 1
    display.started(Job(1, "pretrain", "pretrain prop 1", started=30.0))
    assert wait(31) == [
        "0 of 1 jobs done, time left not known yet. Running: pretrain prop 1 (10 s).",
        "0 of 1 jobs done, time left not known yet. Running: pretrain prop 1 (30 s).",
    ]
    assert display_module.SECONDS_BETWEEN_LINES < 30


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def drawn(monkeypatch):
    """Return a function that shows jobs on a terminal of some columns and 20 lines, and returns its lines."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("LINES", "20")

    def draw(jobs: list[Job], width: int = 80) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        screen = Terminal()
        display = Display(screen, clock=lambda: 130.0)
        display.total = len(jobs)
        for job in jobs:
            display.started(job)
            if job.rule == "write_paper_report":
                display.finished(job.number, now=130.0)
        display.tick()
        display.close()
        text = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", screen.getvalue()).replace("\r", "\n")
        return [line.rstrip() for line in text.splitlines()]

    return draw


def test_a_terminal_shows_jobs_their_progress_and_the_newest_table(drawn, folder):
    log = folder / "job.log"
    log.write_text("[prop] step 40/100, loss 0.6931\n")
    os.utime(log, (120, 120))
    write_headline("prop")
    lines = drawn(
        [
            Job(1, "pretrain", "pretrain prop 1", [log], started=100.0),
            Job(2, "write_paper_report", "", outputs=["results/reports/prop.html"]),
            Job(3, "read_corpus", "", started=100.0),
        ]
    )
    assert "  pretrain prop 1  30 s: step 40/100" in lines
    assert any(line.startswith("1 of 3 jobs done  ━━━━━╌╌╌╌╌╌╌╌╌╌╌  ") for line in lines)
    assert "Report:  results/reports/prop.html" in lines
    assert any(line.startswith("BM25 of prop ") and "0.836" in line for line in lines)


@pytest.mark.parametrize("width", [40, 80])
def test_a_job_is_a_line_however_narrow_the_terminal(drawn, width):
    title = "index corpus squad-train-passages-{}"
    lines = drawn([Job(n, "index_corpus", title.format(n), started=100.0) for n in range(17)], width)
    jobs = [line for line in lines if "index corp" in line]
    assert len(jobs) == 15 * 2, "drawn once, and once more before it is taken away"
    assert all(job.endswith("  30 s") for job in jobs)
    assert "  and 2 more" in lines
    assert any("0 of 17 jobs done" in line and "30 s" not in line for line in lines)
    assert max(map(len, lines)) <= width
