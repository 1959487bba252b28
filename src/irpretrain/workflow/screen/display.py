"""The display of a run, driven by its events. `PlainDisplay` writes lines; `LiveDisplay` draws on a terminal."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.live import Live
from rich.text import Text

from irpretrain.foundation.progress import duration
from irpretrain.workflow.plan.paths import PAPER_REPORT
from irpretrain.workflow.screen.closing import headline, result_lines
from irpretrain.workflow.screen.job_output import (
    as_user_path,
    failure_message,
    lines_of,
    newest_progress,
    notices,
    with_user_paths,
)
from irpretrain.workflow.screen.run_state import Job, RunState, running_text, time_left

# Seconds between two lines of progress, without a terminal.
SECONDS_BETWEEN_LINES = 20.0
PAPER_REPORTS = PAPER_REPORT.partition("{")[0]
# How jobs end that the user ends.
INTERRUPTED = ("exit status 130", "SIGINT", "SIGTERM", "SIGHUP")


class PlainDisplay:
    """Lines for a file or a pipe: one per finished job, and the progress every so many seconds, unless `quiet`."""

    def __init__(self, screen: TextIO, quiet: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.state = RunState()
        self.phase = "Reading the configuration"
        self._screen, self._quiet, self._clock = screen, quiet, clock
        self._began = self._last_line_time = clock()
        self._table_displayed = False

    def finished(self, number: int, now: float) -> None:
        """A job has ended well: say so, with what its user should know."""
        job = self.state.finish(number, now)
        if job is None:
            return
        self.job_ended(job, now)
        for text in (text for log in job.logs for text in notices(log)):
            self.log(with_user_paths(text))
        for report in job.outputs:
            if report.startswith(PAPER_REPORTS) and report.endswith(".html"):
                self.report_made(Path(report).stem)

    def failed(self, number: int, failure_text: str, logs: list[Path]) -> None:
        """A job has failed; its message is for the end of the run."""
        job = self.state.fail(number, failure_text, logs)
        if job and not _is_interrupted(job):
            self.log(f"FAILED {job.title}")

    def job_ended(self, job: Job, now: float) -> None:
        if not self._quiet:
            self.log(self.state.finished_line(job, now))

    def report_made(self, paper: str) -> None:
        """Show what a paper's report says: the first with its headline table, of others the result in words."""
        if not self._quiet:
            text = result_lines if self._table_displayed else headline
            self.log("\n" + text("results", paper).rstrip())
            self._table_displayed = True

    def log(self, text: str) -> None:
        # A terminal that is gone must not keep the run from its end.
        with suppress(OSError):
            print(text, file=self._screen, flush=True)

    def tick(self) -> None:
        """Say how far the run is, if the last time was long enough ago; called twice a second."""
        now = self._clock()
        if now - self._last_line_time < SECONDS_BETWEEN_LINES or self._quiet:
            return
        self._last_line_time = now
        if self.state.total:
            self.log(self.state.progress_line(now, self.progress_texts()))
        else:
            self.log(f"{self.phase}: {now - self._began:.0f} s")

    def progress_texts(self) -> dict[int, str]:
        """Return the newest line of progress of each running job."""
        return {
            job.number: next(filter(None, (newest_progress(log, job.started) for log in job.logs)), "")
            for job in self.state.running.values()
        }

    def failure_texts(self, output: Sequence[str]) -> list[str]:
        """Return the messages of failed jobs, each once, from their logs or else from what all jobs printed last."""
        texts = [_failure_text(job, output) for job in self.state.failures.values()]
        return list(dict.fromkeys(filter(None, texts)))

    def close(self) -> None:
        """Take away what moves."""


def _is_interrupted(job: Job) -> bool:
    return any(word in job.failure_text for word in INTERRUPTED)


def _failure_text(job: Job, output: Sequence[str]) -> str:
    for log in job.logs:
        if text := failure_message(lines_of(log)):
            return text
    if text := failure_message(output, f"{job.rule}: "):
        return text.partition("\n\n")[0]
    if _is_interrupted(job):
        return ""
    ending = f": {job.failure_text}" if job.failure_text else ""
    memory = " The system ends jobs so when memory runs out." if "SIGKILL" in job.failure_text else ""
    last_lines = [f"\n  The last line that jobs printed: {line}" for line in output if line][-1:]
    return (
        f"ERROR in {job.rule}: {job.title} stopped without a message{ending}.{memory}\n"
        f"  Its log: {', '.join(map(as_user_path, job.logs))}{''.join(last_lines)}"
    )


BAR_WIDTH = 16


class LiveDisplay(PlainDisplay):
    """Jobs done, running jobs with their status, the time left, and the newest table below; redrawn at each tick."""

    def __init__(self, screen: TextIO, clock: Callable[[], float] = time.time) -> None:
        super().__init__(screen, clock=clock)
        self._table = ""
        self._console = Console(file=screen, highlight=False, markup=False)
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_renderable=self.picture,
        )
        self._live.start()

    def job_ended(self, job: Job, now: float) -> None:
        """What is running is drawn; what has ended is counted."""

    def report_made(self, paper: str) -> None:
        """Show the paper's headline table until the next."""
        self._table = headline("results", paper)

    def log(self, text: str) -> None:
        with suppress(OSError):
            self._console.print(text, soft_wrap=True)

    def tick(self) -> None:
        with suppress(OSError):
            self._console.size = _size_of(self._screen)
            self._live.refresh()

    def close(self) -> None:
        with suppress(OSError):
            self._live.stop()

    def picture(self) -> RenderableType:
        now, state = self._clock(), self.state
        elapsed = duration(now - self._began)
        if not state.total:
            return Text(f"{self.phase}: {elapsed}")
        progress_texts = self.progress_texts()
        width, height = self._console.size
        shown_jobs = list(state.running.values())[: max(1, height - 5)]
        title_width = min(max((len(job.title) for job in shown_jobs), default=0), width // 2 - 4)
        bar = "━" * (BAR_WIDTH * state.done // state.total)
        lines = [
            f"{state.jobs_done()}  {bar:╌<{BAR_WIDTH}}  {elapsed}",
            time_left(state.seconds_left(now, progress_texts)),
        ]
        for job in shown_jobs:
            title = job.title if len(job.title) <= title_width else job.title[: title_width - 1] + "…"
            lines.append(f"  {title:<{title_width}}  {running_text(job, now, progress_texts[job.number])}")
        if len(state.running) > len(shown_jobs):
            lines.append(f"  and {len(state.running) - len(shown_jobs)} more")
        table = self._table.rstrip().splitlines()
        if len(table) > height - len(shown_jobs) - 6:
            table = table[-2:]  # where the report and the tables lie
        lines += ["", *table] if table else []
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


def _size_of(screen: TextIO) -> ConsoleDimensions:
    """The terminal's size, less the ^C of an interruption, which must not begin a line of its own."""
    # The console would ask for the size of stdout, which belongs to jobs meanwhile.
    try:
        columns, lines = os.get_terminal_size(screen.fileno())
    except (OSError, ValueError):
        columns, lines = 80, 24
    return ConsoleDimensions(max(columns - 2, 20) if columns else 80, lines or 24)
