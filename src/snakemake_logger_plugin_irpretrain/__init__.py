"""The display of a run, as a logger plugin of Snakemake: `--logger irpretrain` (profiles/default sets it).

A dry run and `--verbose` show what Snakemake shows by itself. Snakemake imports this package in every process, so what
the display needs is imported when it starts.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

if TYPE_CHECKING:
    from irpretrain.screen.display import PlainDisplay

NAME = "irpretrain"
ATTRIBUTE = "irpretrain"
"""Attribute of log records by which the Snakefile talks to the display: a mapping with `closing` or `output`."""
JOB_ENDED = re.compile(r"\.(?P<script>\w+)\.py' (?P<how>returned non-zero exit status \d+|died with .*?)\.?$")


def has_display(settings: Any) -> bool:
    """Whether Snakemake's output settings ask for the display, rather than for all that Snakemake says itself."""
    asked = NAME in getattr(settings, "log_handler_settings", {NAME: None})
    return asked and not (settings.dryrun or settings.verbose or settings.debug_dag)


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
        self._ends: dict[str, str] = {}
        self._closing: Callable[[], str] | None = None
        self._output: Any = None
        self._log: list[str] = []
        self._run = self._ended_well = self._closed = False
        if self._on:
            self._begin(bool(quiet & {"all", "progress", "rules"}))

    def _begin(self, quiet: bool) -> None:
        from irpretrain.screen.display import PlainDisplay, Ticker

        # Copies: later stdout and stderr belong to the jobs.
        self._stdout, self._stderr = _copy(1), _copy(2)
        if quiet or not self._stderr.isatty() or os.environ.get("TERM") == "dumb":
            self._display = PlainDisplay(self._stderr, quiet)
        else:
            from irpretrain.screen.live import LiveDisplay

            self._display = LiveDisplay(self._stderr)
        self._ticker = Ticker(self._display.tick, 0.5)
        self._ticker.start()

    @property
    def has_filter(self) -> bool:
        """The display chooses itself what it shows."""
        return self._on

    @property
    def has_formatter(self) -> bool:
        """The display has words of its own."""
        return self._on

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, or remember it for the end."""
        try:
            if self._display is None:
                self._show_as_snakemake(record)
            else:
                self._take(record, self._display)
        except Exception:
            self.handleError(record)

    def _show_as_snakemake(self, record: logging.LogRecord) -> None:
        from snakemake.logging import ColorizingTextHandler

        from snakemake_logger_plugin_irpretrain.refusals import refusal

        if not hasattr(self, "_usual"):
            stream = sys.stdout if self.common_settings.stdout else sys.stderr
            self._usual = ColorizingTextHandler(nocolor=self.common_settings.nocolor, stream=stream)
            self._usual.setFormatter(self.formatter)
        if getattr(record, "event", None) == LogEvent.ERROR and not self.common_settings.verbose:
            record.msg = refusal(str(record.msg))
        self._usual.emit(record)

    def _take(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        event, facts = getattr(record, "event", None), record.__dict__
        if said := facts.get(ATTRIBUTE):
            self._closing = said.get("closing", self._closing)
            self._output = said.get("output", self._output)
            self._log = said.get("log", self._log)
        elif event is None:
            self._take_text(record, display)
        elif event == LogEvent.WORKFLOW_STARTED:
            self._run, display.phase = True, "Planning the jobs"
        elif event == LogEvent.RUN_INFO:
            display.planned({rule: n for rule, n in facts["stats"].items() if rule != "total"})
        elif event == LogEvent.JOB_INFO:
            display.started(_job(record))
        elif event == LogEvent.JOB_FINISHED:
            display.finished(facts["job_id"], record.created)
        elif event == LogEvent.JOB_ERROR:
            how = facts.get("rule_msg") or self._ending(facts["rule_name"])
            display.failed(facts["jobid"], how, [Path(log) for log in facts["log"]])
        elif event == LogEvent.ERROR:
            self._take_error(str(record.msg))

    def _take_text(self, record: logging.LogRecord, display: PlainDisplay) -> None:
        from snakemake.common import NOTHING_TO_BE_DONE_MSG

        text = str(record.msg)
        if record.levelno >= logging.ERROR:
            self._before.append(text)
        elif record.levelno == logging.WARNING:
            if not self._silent:
                display.say(text)
        elif text == NOTHING_TO_BE_DONE_MSG:
            self._ended_well = True
        elif not self._run:
            self._before.append(text)

    def _take_error(self, text: str) -> None:
        if match := JOB_ENDED.search(text):
            self._ends[match["script"]] = match["how"]
        else:
            self._errors.append(text)

    def _ending(self, rule: str) -> str:
        """How a job of a rule has ended; rules of papers share a script, whose name theirs begins with."""
        scripts = [script for script in self._ends if rule == script or rule.startswith(f"{script}_")]
        return self._ends.pop(max(scripts, key=len)) if scripts else ""

    def close(self) -> None:
        """Print what the run has come to: the result, or the message that says why there is none, alone and last."""
        if self._display is not None and not self._closed:
            self._closed = True
            self._ticker.stop()
            self._display.close()
            if self._output is not None:
                self._output.restore()
            self._print_end(self._display)
            self._stdout.close()
            self._stderr.close()
        super().close()

    def _print_end(self, display: PlainDisplay) -> None:
        from irpretrain.screen.display import as_user_stands
        from irpretrain.screen.lines import jobs_done
        from snakemake_logger_plugin_irpretrain.refusals import refusal

        state = display.state
        failed = bool(state.failures)
        messages = display.failure_texts(self._output.messages if self._output else {})
        final = "At least one job did not complete successfully."
        messages += [refusal(text) for text in self._errors if not text.endswith(final)]
        if failed or (self._errors and state.total):
            logs = sorted({str(log) for failure in state.failures.values() for log in failure.logs[:1]})
            mended = " after the fault below is mended" if messages else ""
            why = "Stopped" if messages else "Interrupted"
            print(
                f"\n{why}: {jobs_done(state)}. The same command goes on from there{mended}.\n"
                f"Logs: {', '.join(map(as_user_stands, [*logs[:3], *self._log]))}\n",
                file=self._stderr,
                flush=True,
            )
        if messages:
            print("\n\n".join(messages), file=self._stderr, flush=True)
        elif not failed and not self._errors:
            ended_well = self._ended_well or (self._run and state.total and state.done >= state.total)
            if not self._run or not ended_well:
                print("\n".join(self._before), file=self._stderr, flush=True)
            elif not self._silent:
                done = f"{jobs_done(state)}." if state.done else "Nothing to do: all files are there."
                print(done, file=self._stderr, flush=True)
                if self._closing is not None:
                    print(self._closing(), file=self._stdout, flush=True)


def _copy(number: int) -> TextIO:
    """A stream to where a file descriptor leads now."""
    return open(os.dup(number), "w", encoding="utf-8", errors="replace", buffering=1)


def _job(record: logging.LogRecord) -> Any:
    from irpretrain.screen.run_state import Job

    facts = record.__dict__
    wildcards = [str(value) for value in dict(facts["wildcards"]).values()]
    return Job(
        facts["jobid"],
        facts["rule_name"],
        " ".join([facts["rule_name"].replace("_", " "), *wildcards]),
        tuple(map(Path, facts["log"])),
        tuple(map(str, facts["output"])),
        record.created,
    )
