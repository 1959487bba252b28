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
from typing import TYPE_CHECKING, Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_irpretrain.display_settings import ATTRIBUTE, has_display

if TYPE_CHECKING:
    from irpretrain.workflow.screen.display import PlainDisplay

FINAL_ERROR = "At least one job did not complete successfully."
LOOK_ABOVE = "Exiting because a job execution failed."
OF_A_JOB = "RuleException:\nCalledProcessError in file "
# Of a record that a full disk or a kill cut off: the job is made again.
HALF_WRITTEN = "Ignore corrupted or currently written metadata record"
# Wildcards that are numbers, which say nothing without their names.
NUMBERS = ("seed", "fold", "step", "shard")


def _open_closed_streams() -> None:
    """Give a standard stream that is closed (`>&-`) a place where nothing is kept.

    Otherwise the next file that is opened would take its number, and what jobs print would go into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


# Before Snakemake opens anything.
_open_closed_streams()


class LogHandler(LogHandlerBase):
    """Turns what Snakemake logs into the display of a run, and prints the result or the refusal at the end."""

    writes_to_stream = True
    writes_to_file = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self._on = has_display(self.common_settings)
        quiet = {str(kind).rpartition(".")[2].lower() for kind in self.common_settings.quiet or ()}
        self._silent = "all" in quiet
        self._display: PlainDisplay | None = None
        self._errors: list[str] = []
        self._before: list[str] = []
        self._complaints: list[str] = []
        # Thread that ends a job → how the job ended. The job's own record comes later from the same thread; records of
        # jobs that end at once, as after ^C, are mixed.
        self._job_endings: dict[int | None, str] = {}
        self._closing: Callable[[], str] | None = None
        self._output: Any = None
        self._log: list[str] = []
        self._run = self._nothing_to_do = self._closed = self._counted = False
        self._quiet = bool(quiet & {"all", "progress", "rules"})
        if self._on:
            self._begin()

    def _begin(self) -> None:
        from irpretrain.workflow.screen.display import PlainDisplay

        # Where a disk is full Snakemake's own log cannot be written, which Python would report for each record.
        logging.raiseExceptions = False
        # Copies: later stdout and stderr belong to the jobs.
        self._stdout, self._stderr = _copy(1), _copy(2)
        if self._silent:
            self._display = PlainDisplay(io.StringIO())  # which nobody reads
        elif self._quiet or not self._stderr.isatty() or os.environ.get("TERM") == "dumb":
            self._display = PlainDisplay(self._stderr, self._quiet)
        else:
            from irpretrain.workflow.screen.display import LiveDisplay

            self._display = LiveDisplay(self._stderr)
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, args=(self._display,), daemon=True)
        self._ticker.start()

    def _tick(self, display: PlainDisplay) -> None:
        while not self._ended.wait(0.5):
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
                self._take(record, self._display)
        except Exception:
            with suppress(OSError):
                traceback.print_exc()

    def _show_as_snakemake(self, record: logging.LogRecord) -> None:
        from irpretrain.workflow.costs import CARD_VARIABLE
        from irpretrain.workflow.screen.job_output import with_user_paths
        from snakemake_logger_plugin_irpretrain.internals import usual_display
        from snakemake_logger_plugin_irpretrain.refusals import refusal

        if CARD_VARIABLE in os.environ and record.levelno < logging.WARNING:  # `make plan` prints costs alone
            return
        settings = self.common_settings
        if settings.dryrun and not (settings.verbose or settings.debug_dag) and not self._summarises(record):
            return
        if not hasattr(self, "_usual"):
            self._usual = usual_display(self.common_settings)
            self._usual.setFormatter(self.formatter)
        if getattr(record, "event", None) == LogEvent.ERROR and not self.common_settings.verbose:
            record.msg = with_user_paths(refusal(str(record.msg), sys.argv[1:]))
        self._usual.emit(record)

    def _summarises(self, record: logging.LogRecord) -> bool:
        """Whether a record of a dry run belongs to its summary: neither a job nor the number of jobs once more."""
        from snakemake_logger_plugin_irpretrain.internals import without_jobs

        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            counted, self._counted = self._counted, True
            return not counted
        if event is None:
            record.msg = without_jobs(str(record.msg))
        return event not in (LogEvent.JOB_INFO, LogEvent.SHELLCMD)

    def _take(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        event, facts = getattr(record, "event", None), record.__dict__
        if reported := facts.get(ATTRIBUTE):
            self._closing = reported.get("closing", self._closing)
            self._output = reported.get("output", self._output)
            self._log = reported.get("log", self._log)
            if "times" in reported:
                display.timed(reported["times"]())
        elif event is None:
            self._take_text(record, display)
        elif event == LogEvent.WORKFLOW_STARTED:
            self._run, display.phase = True, "Planning the jobs"
        elif event == LogEvent.RUN_INFO:
            display.planned(facts["stats"]["total"])
        elif event == LogEvent.JOB_INFO:
            display.started(_job(record))
        elif event == LogEvent.JOB_FINISHED:
            display.finished(facts["job_id"], record.created)
        elif event == LogEvent.JOB_ERROR:
            ending = self._job_endings.pop(record.thread, "")
            how = facts.get("rule_msg") or ending
            display.failed(facts["jobid"], how, [Path(log) for log in facts["log"]])
        elif event == LogEvent.ERROR:
            self._take_error(str(record.msg), record.thread)

    def _take_text(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        from snakemake_logger_plugin_irpretrain.internals import reports_nothing_to_do

        text = str(record.msg)
        if record.levelno >= logging.ERROR:
            if not text.startswith(LOOK_ABOVE):
                self._complaints.append(text)
        elif record.levelno == logging.WARNING:
            if not text.startswith(HALF_WRITTEN):
                display.log(text)
        elif reports_nothing_to_do(text):
            self._nothing_to_do = True
        elif not self._run:
            self._before.append(text)

    def _take_error(self, text: str, thread: int | None) -> None:
        if text.startswith(OF_A_JOB):
            self._job_endings[thread] = text.rpartition("' ")[2].removesuffix(".")
        else:
            self._errors.append(text)

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
        from snakemake_logger_plugin_irpretrain.refusals import full_disk_message, refusal

        messages = display.failure_texts(list(self._output.newest) if self._output else [])
        messages += [refusal(text, sys.argv[1:]) for text in self._errors if not text.endswith(FINAL_ERROR)]
        messages = list(dict.fromkeys(messages or self._complaints))
        if messages and (full := full_disk_message([*self._errors, *self._complaints], messages)):
            messages = [full]  # whatever else failed, failed for that
        if display.state.failures or (self._errors and display.state.total):
            self._print_where_it_stopped(display, bool(messages))
        if messages:
            print(with_user_paths("\n\n".join(messages)), file=self._stderr, flush=True)
        elif not (display.state.failures or self._errors or self._silent):
            self._print_result(display)

    def _print_where_it_stopped(self, display: PlainDisplay, by_fault: bool) -> None:
        from irpretrain.workflow.screen.job_output import as_user_path
        from irpretrain.workflow.screen.run_state import jobs_done

        logs = sorted({str(log) for job in display.state.failures.values() for log in job.logs[:1]})
        how = "Stopped" if by_fault else "Interrupted"
        when = " after the fault below is mended" if by_fault else ""
        print(
            f"\n{how}: {jobs_done(display.state)}. The same command goes on from there{when}.\n"
            f"Logs: {', '.join(map(as_user_path, [*logs[:3], *self._log]))}\n",
            file=self._stderr,
            flush=True,
        )

    def _print_result(self, display: PlainDisplay) -> None:
        from irpretrain.workflow.screen.run_state import jobs_done

        if not self._run:
            print("\n".join(self._before), file=self._stderr, flush=True)
            return
        if self._nothing_to_do:
            print("Nothing to make: what was asked for is there.", file=self._stderr, flush=True)
        elif not self._quiet:
            print(f"{jobs_done(display.state)}.", file=self._stderr, flush=True)
        if self._closing is not None and (result := self._closing()):
            print(result, file=self._stdout, flush=True)


def _copy(number: int) -> TextIO:
    return open(os.dup(number), "w", encoding="utf-8", errors="replace", buffering=1)


def _job(record: logging.LogRecord) -> Any:
    from irpretrain.workflow.screen.run_state import Job

    facts = record.__dict__
    given = {name: str(value) for name, value in dict(facts["wildcards"]).items()}
    wildcards = {name: value for name, value in given.items() if value}  # one may be empty
    numbers = [f"{name} {wildcards.pop(name)}" for name in NUMBERS if name in wildcards]
    title = " ".join([facts["rule_name"].replace("_", " "), *wildcards.values()])
    return Job(
        facts["jobid"],
        facts["rule_name"],
        ", ".join([title, *numbers]),
        tuple(map(Path, facts["log"])),
        tuple(map(str, facts["output"])),
        record.created,
    )
