"""The display of a run, as a logger plugin of Snakemake: `--logger irpretrain` (profiles/default sets it).

A dry run shows what Snakemake shows by itself, without the list of jobs, and `--verbose` all of it. Snakemake imports
this package in every process, so what the display needs is imported when it starts.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from irpretrain.foundation.closed_streams import reserve_closed_streams

if TYPE_CHECKING:
    from irpretrain.workflow.screen.display import PlainDisplay
    from irpretrain.workflow.screen.job_output import JobOutput
    from irpretrain.workflow.screen.run_state import Job, RunState

FINAL_ERROR = "At least one job did not complete successfully."
LOOK_ABOVE = "Exiting because a job execution failed."
# Of a record that a full disk or a kill cut off: the job is made again.
HALF_WRITTEN = "Ignore corrupted or currently written metadata record"
# Wildcards that are numbers, which say nothing without their names.
NUMBERS = ("seed", "fold", "step", "shard")


# Before Snakemake opens anything.
reserve_closed_streams()
sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, open to the end
sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class LogHandler(LogHandlerBase):
    """Turns what Snakemake logs into the display of a run, and prints the result or the refusal at the end."""

    writes_to_stream = True
    writes_to_file = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        from snakemake_logger_plugin_irpretrain import internals

        internals.keep_exceptions()
        self._on = internals.has_display(self.common_settings)
        quiet = {str(kind).rpartition(".")[2].lower() for kind in self.common_settings.quiet or ()}
        self._is_silent, self._is_quiet = "all" in quiet, bool(quiet & {"all", "progress", "rules"})
        self._display: PlainDisplay | None = None
        self._lock = threading.Lock()  # of the display
        self._errors: list[BaseException] = []
        self._complaints: list[BaseException] = []
        self._before: list[str] = []  # what Snakemake says before the run
        self._closing: Callable[[], str] | None = None
        self._output: JobOutput | None = None
        self._log: list[str] = []
        self._run = self._nothing_to_do = self._closed = self._counted = False
        if self._on:
            self._begin()
        else:
            self._usual = internals.usual_display(self.common_settings)

    def _begin(self) -> None:
        from irpretrain.workflow.screen.display import LiveDisplay, PlainDisplay

        # Where a disk is full Snakemake's own log cannot be written, which Python would report for each record.
        logging.raiseExceptions = False
        # Copies: later stdout and stderr belong to the jobs.
        self._stdout, self._stderr = _copy(1), _copy(2)
        if self._is_silent:
            self._display = PlainDisplay(io.StringIO())  # which nobody reads
        elif self._is_quiet or not self._stderr.isatty() or os.environ.get("TERM") == "dumb":
            self._display = PlainDisplay(self._stderr, self._is_quiet)
        else:
            self._display = LiveDisplay(self._stderr)
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, args=(self._display,), daemon=True)
        self._ticker.start()

    def _tick(self, display: PlainDisplay) -> None:
        while not self._ended.wait(0.5):
            with self._lock:
                display.tick()

    @property
    def has_filter(self) -> bool:
        return self._on

    @property
    def has_formatter(self) -> bool:
        return self._on

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, or remember it for the end."""
        try:
            if self._display is None:
                self._show_as_snakemake(record)
            else:
                with self._lock:
                    self._take(record, self._display)
        except Exception:
            with suppress(OSError):
                traceback.print_exc()

    def _show_as_snakemake(self, record: logging.LogRecord) -> None:
        from irpretrain.workflow.costs import CARD_VARIABLE
        from irpretrain.workflow.screen.job_output import with_user_paths
        from snakemake_logger_plugin_irpretrain.refusals import refusal

        settings = self.common_settings
        if CARD_VARIABLE in os.environ and record.levelno < logging.WARNING:  # `make plan` prints costs alone
            return
        if settings.dryrun and not (settings.verbose or settings.debug_dag) and not self._summarises(record):
            return
        if getattr(record, "event", None) == LogEvent.ERROR and not settings.verbose:
            record.msg = with_user_paths(refusal(_error(record), sys.argv[1:]))
        self._usual.setFormatter(self.formatter)
        self._usual.emit(record)

    def _summarises(self, record: logging.LogRecord) -> bool:
        """Whether a record of a dry run belongs to its summary: neither a job nor the number of jobs once more."""
        from snakemake_logger_plugin_irpretrain.internals import without_jobs

        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            was_counted, self._counted = self._counted, True
            return not was_counted
        if event is None:
            record.msg = without_jobs(str(record.msg))
        return event not in (LogEvent.JOB_INFO, LogEvent.SHELLCMD)

    def _take(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        from snakemake_logger_plugin_irpretrain.internals import ATTRIBUTE
        from snakemake_logger_plugin_irpretrain.refusals import job_ending

        facts = record.__dict__
        if reported := facts.get(ATTRIBUTE):
            self._closing = reported.get("closing", self._closing)
            self._output = reported.get("output", self._output)
            self._log = reported.get("log", self._log)
            if "times" in reported:
                display.state.plan(reported["times"]())
            return
        match facts.get("event"):
            case None:
                self._take_text(record, display)
            case LogEvent.WORKFLOW_STARTED:
                self._run, display.phase = True, "Planning the jobs"
            case LogEvent.RUN_INFO:
                display.state.total = facts["stats"]["total"]
            case LogEvent.JOB_INFO:
                display.state.start(_job(record))
            case LogEvent.JOB_FINISHED:
                display.finished(facts["job_id"], record.created)
            case LogEvent.JOB_ERROR:
                # A cluster says how a job ended; on one machine the job's process does.
                failure_text = facts["rule_msg"] or job_ending(_error(record))
                display.failed(facts["jobid"], failure_text, [Path(log) for log in facts["log"]])
            case LogEvent.ERROR if not job_ending(_error(record)):
                self._errors.append(_error(record))

    def _take_text(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        from snakemake_logger_plugin_irpretrain.internals import NOTHING_TO_DO

        text = str(record.msg)
        if record.levelno >= logging.ERROR:
            if not text.startswith(LOOK_ABOVE):
                self._complaints.append(Exception(text))
        elif record.levelno == logging.WARNING:
            if not text.startswith(HALF_WRITTEN):
                display.log(text)
        elif text == NOTHING_TO_DO:
            self._nothing_to_do = True
        elif not self._run:
            self._before.append(text)

    def close(self) -> None:
        """Print what the run has come to: the result, or the message that says why there is none, alone and last."""
        if self._display is not None and not self._closed:
            self._closed = True
            self._ended.set()
            self._ticker.join()
            self._display.close()
            if self._output is not None:
                self._output.restore()
            with suppress(OSError):  # the terminal is gone
                self._print_end(self._display)
            for stream in (self._stdout, self._stderr):
                with suppress(OSError):
                    stream.close()
        super().close()

    def _print_end(self, display: PlainDisplay) -> None:
        from irpretrain.workflow.screen.job_output import with_user_paths
        from snakemake_logger_plugin_irpretrain.refusals import disk_message, refusal

        errors = [error for error in self._errors if str(error) != FINAL_ERROR]
        messages = display.failure_texts(list(self._output.newest) if self._output else [])
        messages += [refusal(error, sys.argv[1:]) for error in errors]
        messages = list(dict.fromkeys(messages or map(str, self._complaints)))
        if messages and (full := disk_message([*errors, *self._complaints], messages)):
            messages = [full]  # whatever else failed, failed for that
        if display.state.failures or (self._errors and display.state.total):
            print(self._stopped_text(display.state, bool(messages)), file=self._stderr, flush=True)
        if messages:
            print(with_user_paths("\n\n".join(messages)), file=self._stderr, flush=True)
        elif not (display.state.failures or self._errors or self._is_silent):
            self._print_result(display)

    def _stopped_text(self, state: RunState, by_fault: bool) -> str:
        from irpretrain.workflow.screen.job_output import as_user_path

        logs = sorted({str(log) for job in state.failures.values() for log in job.logs[:1]})
        how = "Stopped" if by_fault else "Interrupted"
        when = " after the fault below is mended" if by_fault else ""
        return (
            f"\n{how}: {state.jobs_done()}. The same command goes on from there{when}.\n"
            f"Logs: {', '.join(map(as_user_path, [*logs[:3], *self._log]))}\n"
        )

    def _print_result(self, display: PlainDisplay) -> None:
        if not self._run:
            print("\n".join(self._before), file=self._stderr, flush=True)
            return
        if self._nothing_to_do:
            print("Nothing to make: what was asked for is there.", file=self._stderr, flush=True)
        elif not self._is_quiet:
            print(f"{display.state.jobs_done()}.", file=self._stderr, flush=True)
        if self._closing is not None and (result := self._closing()):
            print(result, file=self._stdout, flush=True)


def _copy(number: int) -> TextIO:
    return open(os.dup(number), "w", encoding="utf-8", errors="replace", buffering=1)


def _error(record: logging.LogRecord) -> BaseException:
    """Return the exception of a record; where Snakemake logs none in hand, one with the record's text."""
    return getattr(record, "error", None) or Exception(str(record.msg).partition(":\n")[2] or record.msg)


def _job(record: logging.LogRecord) -> Job:
    from irpretrain.workflow.screen.run_state import Job

    facts = record.__dict__
    wildcards = {name: str(value) for name, value in dict(facts["wildcards"]).items() if str(value)}
    numbers = [f"{name} {wildcards.pop(name)}" for name in NUMBERS if name in wildcards]
    title = " ".join([facts["rule_name"].replace("_", " "), *wildcards.values()])
    return Job(
        facts["jobid"],
        facts["rule_name"],
        ", ".join([title, *numbers]),
        list(map(Path, facts["log"])),
        list(map(str, facts["output"])),
        record.created,
    )
