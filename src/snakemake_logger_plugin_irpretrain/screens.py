"""What the user sees of a run, and of what is no run."""

import io
import logging
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from irpretrain.workflow.costs import CARD_VARIABLE
from irpretrain.workflow.screen.display import Display
from irpretrain.workflow.screen.job_output import Job, as_user_path, failure_message, folder_note, lines_of
from snakemake_logger_plugin_irpretrain import internals
from snakemake_logger_plugin_irpretrain.refusals import disk_message, job_ending, refusal

JOBS_ARE_LISTED = "--verbose lists each job with its files and its reason."
# Wildcards that are numbers, which say nothing without their names.
NUMBERS = ("seed", "fold", "step", "shard")


class SnakemakeScreen:
    """What Snakemake shows by itself; of a dry run without the list of jobs, which `--verbose` shows."""

    def __init__(self, settings: Any) -> None:
        self._settings, self._usual = settings, internals.usual_display(settings)
        self._lists_jobs = settings.verbose or settings.debug_dag or not settings.dryrun
        self._counted = False

    def take(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if CARD_VARIABLE in os.environ and record.levelno < logging.WARNING:  # `make plan` prints costs alone
            return
        if not self._lists_jobs and event in (LogEvent.JOB_INFO, LogEvent.SHELLCMD):
            return
        if not self._lists_jobs and event == LogEvent.RUN_INFO:  # once before the jobs, once after them
            record.msg = JOBS_ARE_LISTED if self._counted else record.msg
            self._counted = True
        if event == LogEvent.ERROR and not self._settings.verbose:
            record.msg = refusal(_error(record), sys.argv[1:])
        self._usual.emit(record)

    def close(self) -> None:
        """Nothing is open."""


class RunScreen:
    """Turns what Snakemake logs into the display of a run, and prints the result or the refusal at the end."""

    def __init__(self, settings: Any) -> None:
        quiet_kinds = set(map(str, settings.quiet or ()))
        self._is_silent = "all" in quiet_kinds
        self._is_quiet = bool(quiet_kinds & {"all", "progress", "rules"})
        self._errors: list[BaseException] = []
        self._complaints: list[str] = []
        self._texts_before_run: list[str] = []  # what Snakemake says before the run
        # By the Snakefile: the text that a run ends with; Snakemake's log, and where jobs print.
        self._reported: dict[str, Any] = {"closing": str, "logs": []}
        self._has_begun = self._nothing_to_do = False
        # Where a disk is full Snakemake's own log cannot be written, which Python would report for each record.
        logging.raiseExceptions = False
        # Copies: later stdout and stderr belong to the jobs.
        self._stdout, self._stderr = _copy(1), _copy(2)
        self._display = Display(io.StringIO() if self._is_silent else self._stderr, self._is_quiet)
        self._lock = threading.Lock()  # of the display
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def _tick(self) -> None:
        while not self._ended.wait(0.5):
            with self._lock:
                self._display.tick()

    def take(self, record: logging.LogRecord) -> None:
        """Show a record, or remember it for the end."""
        with self._lock:
            if reported := getattr(record, internals.ATTRIBUTE, None):
                self._reported |= reported
                if "times" in reported:
                    self._display.planned(reported["times"]())
            elif getattr(record, "event", None) is None:
                self._take_text(record.levelno, str(record.msg))
            else:
                self._take_event(record, record.__dict__)

    def _take_event(self, record: logging.LogRecord, facts: dict[str, Any]) -> None:
        display = self._display
        match facts["event"]:
            case LogEvent.WORKFLOW_STARTED:
                self._has_begun = True
                display.planning()
            case LogEvent.RUN_INFO:
                display.total = facts["stats"]["total"]
            case LogEvent.JOB_INFO:
                display.started(_job(record.created, facts))
            case LogEvent.JOB_FINISHED:
                display.finished(facts["job_id"], record.created)
            case LogEvent.JOB_ERROR:
                # A cluster says how a job ended; on one machine the job's process does.
                failure_text = facts["rule_msg"] or job_ending(_error(record))
                display.failed(facts["jobid"], failure_text, list(map(Path, facts["log"])))
            case LogEvent.ERROR if not job_ending(_error(record)):
                self._errors.append(_error(record))

    def _take_text(self, level: int, text: str) -> None:
        if level >= logging.ERROR:
            if not text.startswith(internals.LOOK_ABOVE):
                self._complaints.append(text)
        elif level == logging.WARNING:
            if not text.startswith(internals.HALF_WRITTEN):
                self._display.log(text)
        elif text.startswith(internals.TERMINATING):
            self._display.stop()
        elif text == internals.NOTHING_TO_DO:
            self._nothing_to_do = True
        elif not self._has_begun:
            self._texts_before_run.append(text)

    def close(self) -> None:
        """Print what the run has come to: the result, or the message that says why there is none, alone and last."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._ticker.join()
        self._display.close()
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        for stream, screen in enumerate((self._stdout, self._stderr), 1):
            os.dup2(screen.fileno(), stream)
        with suppress(OSError), self._stdout, self._stderr:  # the terminal is gone
            self._print_end()

    def _print_end(self) -> None:
        display, messages = self._display, self._messages()
        if display.failures or (self._errors and display.total):
            self._say(self._stopped_text(bool(messages)))
        if messages:
            self._say("\n\n".join(messages))
        elif not (display.failures or self._errors or self._is_silent):
            self._print_result()

    def _messages(self) -> list[str]:
        """Why jobs failed, and Snakemake's own errors, each once; or a full disk, for which all else failed."""
        errors = [error for error in self._errors if str(error) != internals.FINAL_ERROR]
        printed = [line for log in self._reported["logs"][-1:] for line in lines_of(Path(log))]
        texts = [failure_message(job, printed) for job in self._display.failures.values()]
        texts += [refusal(error, sys.argv[1:]) for error in errors]
        messages = list(dict.fromkeys([*filter(None, texts)] or self._complaints))
        if messages and (full := disk_message([*errors, *map(Exception, self._complaints)], messages)):
            return [full]
        return messages

    def _say(self, text: str) -> None:
        print(text, file=self._stderr, flush=True)

    def _stopped_text(self, by_fault: bool) -> str:
        logs = sorted({str(log) for job in self._display.failures.values() for log in job.logs[:1]})
        how = "Stopped" if by_fault else "Interrupted"
        when = " after the fault below is mended" if by_fault else ""
        lines = [
            f"\n{how}: {self._display.jobs_done()}. The same command goes on from there{when}.",
            f"Logs: {', '.join(map(as_user_path, [*logs[:3], *self._reported['logs']]))}",
            folder_note(),
        ]
        return "".join(f"{line}\n" for line in lines if line)

    def _print_result(self) -> None:
        if not self._has_begun:
            self._say("\n".join(self._texts_before_run))
            return
        if self._nothing_to_do:
            self._say("Nothing to make: what was asked for is there.")
        elif not self._is_quiet:
            self._say(f"{self._display.jobs_done()}.")
        if result := self._reported["closing"]():
            print(result, file=self._stdout, flush=True)


def _copy(number: int) -> TextIO:
    return open(os.dup(number), "w", encoding="utf-8", errors="replace", buffering=1)


def _error(record: logging.LogRecord) -> BaseException:
    """Return the exception of a record; where Snakemake logs none in hand, one with the record's text."""
    return getattr(record, "error", None) or Exception(record.msg)


def _job(started: float, facts: dict[str, Any]) -> Job:
    wildcards = {name: str(value) for name, value in dict(facts["wildcards"]).items() if str(value)}
    numbers = [f"{name} {wildcards.pop(name)}" for name in NUMBERS if name in wildcards]
    title = ", ".join([" ".join([facts["rule_name"].replace("_", " "), *wildcards.values()]), *numbers])
    logs, outputs = list(map(Path, facts["log"])), list(map(str, facts["output"]))
    return Job(facts["jobid"], facts["rule_name"], title, logs, outputs, started)
