"""The display of a run, driven by its events. `PlainDisplay` writes lines; `LiveDisplay` draws on a terminal."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from irpretrain.foundation.progress import duration
from irpretrain.workflow.plan.paths import PAPER_REPORT
from irpretrain.workflow.screen.closing import headline, result_lines
from irpretrain.workflow.screen.job_output import (
    as_user_path,
    failure_message,
    folder_note,
    lines_of,
    newest_progress,
    notices,
)
from irpretrain.workflow.screen.run_state import Job, RunState

# Seconds between two lines of progress, without a terminal.
SECONDS_BETWEEN_LINES = 20.0
# Running jobs that a line names; a cluster runs hundreds.
DISPLAYED_RUNNING = 4
PAPER_REPORTS = PAPER_REPORT.partition("{")[0]
# How jobs end that the user ends.
INTERRUPTED = ("exit status 130", "Interrupt", "Terminated", "Hangup")
KILLED = "Killed"
# Seconds of the units that `duration` writes.
UNITS = {"s": 1, "min": 60, "h": 3600}


class PlainDisplay:
    """Lines for a file or a pipe: one per finished job, and the progress every so many seconds, unless `quiet`."""

    def __init__(self, screen: TextIO, quiet: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.state = RunState()
        self.phase = "Reading the configuration"
        self._screen, self._quiet, self._clock = screen, quiet, clock
        self._began = self._last_line_time = clock()
        self._table_displayed = False
        self.stopping = ""  # that the run is ended by the user

    def planning(self) -> None:
        self.phase = "Planning the jobs"
        if (note := folder_note()) and not self._quiet:
            self.log(note)

    def finished(self, number: int, now: float) -> None:
        """A job has ended well: say so, with what its user should know."""
        job = self.state.finish(number, now)
        if job is None:
            return
        self.job_ended(job, now)
        for log in job.logs:
            for text in notices(log):
                self.log(text)
        for report in job.outputs:
            if report.startswith(PAPER_REPORTS) and report.endswith(".html"):
                self.report_made(Path(report).stem)

    def stop(self) -> None:
        """The user ends the run: say so, as running jobs take a while."""
        self.stopping = "Stopping: running jobs end"
        self.log(f"{self.stopping}.")

    def failed(self, number: int, failure_text: str, logs: list[Path]) -> None:
        """A job has failed; its message is for the end of the run."""
        job = self.state.fail(number, failure_text, logs)
        if job and job.failure_text not in INTERRUPTED:
            self.log(f"FAILED {job.title}")

    def job_ended(self, job: Job, now: float) -> None:
        if not self._quiet:
            done = f"{self.state.done:>{len(str(self.state.total))}}"
            self.log(f"[{done}/{self.state.total}] {job.title}, {duration(job.seconds(now))}")

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
        if not self.state.total:
            self.log(f"{self.phase}: {now - self._began:.0f} s")
            return
        jobs = list(self.state.running.values())
        texts = progress_texts(jobs)
        running = "; ".join(
            f"{job.title} ({running_text(job, now, texts[job.number])})" for job in jobs[:DISPLAYED_RUNNING]
        )
        more = f"; and {len(jobs) - DISPLAYED_RUNNING} more" if len(jobs) > DISPLAYED_RUNNING else ""
        running_note = f" Running: {running}{more}." if jobs else ""
        time_left = self.state.time_left(now, seconds_by_jobs(texts))
        self.log(f"{self.state.jobs_done()}, {time_left}.{running_note}")

    def failure_texts(self, output: Sequence[str]) -> list[str]:
        """Return the messages of failed jobs, each once, from their logs or else from what all jobs printed."""
        texts = [_failure_text(job, output) for job in self.state.failures.values()]
        return list(dict.fromkeys(filter(None, texts)))

    def close(self) -> None:
        """Take away what moves."""


def progress_texts(jobs: Iterable[Job]) -> dict[int, str]:
    """Return the newest line of progress of jobs, by number."""
    return {
        job.number: next(filter(None, (newest_progress(log, job.started) for log in job.logs)), "")
        for job in jobs
    }


def seconds_by_jobs(texts: Mapping[int, str]) -> dict[int, float]:
    """Return the seconds that jobs say they take still ("step 30/200, 78 s left"), of those that say it."""
    seconds = {}
    for number, text in texts.items():
        match text.rpartition(", ")[2].split():
            case [amount, unit, "left"] if unit in UNITS:
                seconds[number] = float(amount) * UNITS[unit]
    return seconds


def running_text(job: Job, now: float, progress: str) -> str:
    """Return how long a job has been running, its count and its time left, without rates and losses."""
    count, *details = progress.split(", ")
    remaining = [detail for detail in details if detail.endswith(" left")]
    return ": ".join(filter(None, [duration(job.seconds(now)), ", ".join([count, *remaining])]))


def _failure_text(job: Job, output: Sequence[str]) -> str:
    for lines in [*map(lines_of, job.logs), output]:
        if text := failure_message(lines, job.rule):
            return text
    if job.failure_text in INTERRUPTED:
        return ""
    ending = f": {job.failure_text}" if job.failure_text else ""
    memory = " The system ends jobs so when memory runs out." if job.failure_text == KILLED else ""
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
            self._live.refresh()

    def close(self) -> None:
        with suppress(OSError):
            self._live.stop()

    def picture(self) -> RenderableType:
        now, state = self._clock(), self.state
        elapsed = duration(now - self._began)
        if not state.total:
            return Text(f"{self.phase}: {elapsed}")
        bar = "━" * (BAR_WIDTH * state.done // state.total)
        texts = progress_texts(state.running.values())
        time_left = self.stopping or state.time_left(now, seconds_by_jobs(texts))
        head = f"{state.jobs_done()}  {bar:╌<{BAR_WIDTH}}  {elapsed}\n{time_left}"
        jobs = Table.grid(padding=(0, 2))
        for width in (self._console.width // 2, None):
            jobs.add_column(no_wrap=True, overflow="ellipsis", max_width=width)
        displayed_jobs = list(state.running.values())[: max(1, self._console.height - 5)]
        for job in displayed_jobs:
            jobs.add_row(f"  {job.title}", running_text(job, now, texts[job.number]))
        if len(state.running) > len(displayed_jobs):
            jobs.add_row(f"  and {len(state.running) - len(displayed_jobs)} more")
        table = self._table.rstrip().splitlines()
        if len(table) > self._console.height - len(displayed_jobs) - 6:
            table = table[-2:]  # where the report and the tables lie
        # The last line is empty: the ^C of an interruption goes there.
        foot = "\n".join(["", *table, ""]) if table else ""
        head_text, foot_text = (Text(text, no_wrap=True, overflow="ellipsis") for text in (head, foot))
        return Group(head_text, jobs, foot_text)
