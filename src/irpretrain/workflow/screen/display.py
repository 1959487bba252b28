"""The display of a run, driven by its events: lines, and on a terminal below them what is running, drawn anew."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from irpretrain.foundation.progress import duration
from irpretrain.workflow.costs import PlannedTime
from irpretrain.workflow.plan.paths import PAPER_REPORT
from irpretrain.workflow.screen.closing import headline, result_lines
from irpretrain.workflow.screen.job_output import INTERRUPTED, Job, folder_note, newest_progress, notices
from irpretrain.workflow.screen.time_left import TimeLeft

# Seconds between two lines of progress, without a terminal.
SECONDS_BETWEEN_LINES = 20.0
# Running jobs that a line names; a cluster runs hundreds.
DISPLAYED_RUNNING = 4
BAR_WIDTH = 16


class Display:
    """On a terminal the running jobs; else a line for each finished job, and now and then what is running.

    If `quiet`, only what the user should know: warnings, notices of jobs, failures.
    """

    def __init__(self, screen: TextIO, quiet: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.total = self.done = 0
        self.running: dict[int, Job] = {}
        self.failures: dict[int, Job] = {}
        self._screen, self._quiet, self._clock = screen, quiet, clock
        self._phase = "Reading the configuration"
        self._stop_message = ""  # that the run is ended by the user
        self._began = self._jobs_began = self._last_line_time = clock()
        self._time_left = TimeLeft({})
        self._table_displayed = False
        self._console = Console(
            file=screen, force_terminal=screen.isatty(), highlight=False, markup=False, emoji=False
        )
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_renderable=self._picture,
        )
        self._draws = self._console.is_interactive and not quiet
        if self._draws:
            self._live.start()

    # What happens

    def planning(self) -> None:
        self._phase = "Planning the jobs"
        if (note := folder_note()) and not self._quiet:
            self.log(note)

    def planned(self, times: Mapping[int, PlannedTime]) -> None:
        self._time_left, self._jobs_began = TimeLeft(times), self._clock()

    def started(self, job: Job) -> None:
        """A job was started; perhaps once more, after it had failed."""
        self.failures.pop(job.number, None)
        self.running[job.number] = job

    def finished(self, number: int, now: float) -> None:
        """A job has ended well: say so, with what its user should know."""
        self.done += 1
        job = self.running.pop(number, None)
        if job is None:
            return
        self._time_left.end_job(number, job.seconds(now))
        if not self._quiet and not self._draws:
            done = f"{self.done:>{len(str(self.total))}}"
            self.log(f"[{done}/{self.total}] {job.title}, {duration(job.seconds(now))}")
        for text in [text for log in job.logs for text in notices(log)]:
            self.log(text)
        # The last report's table is in what a run ends with: after it comes the target alone.
        is_last_report = self.total - self.done <= 1
        for output in map(Path, job.outputs):
            if output.match(PAPER_REPORT.format(paper="*")) and not (self._quiet or is_last_report):
                self._paper_reported(output.stem)

    def _paper_reported(self, paper: str) -> None:
        """Show the headline table; in a file only the first, and of other papers the result in words."""
        text = headline if self._draws or not self._table_displayed else result_lines
        self.log("\n" + text("results", paper).rstrip())
        self._table_displayed = True

    def failed(self, number: int, failure_text: str, logs: list[Path]) -> None:
        """A job has failed; its message is for the end of the run."""
        if job := self.running.pop(number, None):
            job.failure_text, job.logs = failure_text, logs or job.logs
            self.failures[number] = job
            if failure_text not in INTERRUPTED:
                self.log(f"FAILED {job.title}")

    def stop(self) -> None:
        """The user ends the run: say so, as running jobs take a while."""
        self._stop_message = "Stopping: running jobs end"
        self.log(f"{self._stop_message}.")

    # What is shown

    def log(self, text: str) -> None:
        # A terminal that is gone must not keep the run from its end.
        with suppress(OSError):
            if self._draws:
                self._console.print(text, soft_wrap=True)
            else:
                print(text, file=self._screen, flush=True)

    def tick(self) -> None:
        """Say how far the run is: on a terminal at once, else if the last time was long enough ago."""
        now = self._clock()
        if self._draws:
            with suppress(OSError):
                self._live.refresh()
        elif now - self._last_line_time >= SECONDS_BETWEEN_LINES and not self._quiet:
            self._last_line_time = now
            self.log(self._progress_line(now))

    def jobs_done(self) -> str:
        return f"{self.done} of {self.total} jobs done"

    def time_left(self, now: float) -> str:
        running = {job.number: job.seconds(now) for job in self.running.values()}
        seconds = self._time_left.seconds(running, now - self._jobs_began, self.failures)
        return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"

    def _progress_line(self, now: float) -> str:
        if not self.total:
            return f"{self._phase}: {now - self._began:.0f} s"
        rows = self._running_jobs(now, DISPLAYED_RUNNING)
        jobs = [f"{title} ({status})" if status else title for title, status in rows]
        running_note = f" Running: {'; '.join(jobs)}." if jobs else ""
        return f"{self.jobs_done()}, {self.time_left(now)}.{running_note}"

    def _picture(self) -> RenderableType:
        now = self._clock()
        elapsed = duration(now - self._began)
        if not self.total:
            return Text(f"{self._phase}: {elapsed}")
        bar = "━" * (BAR_WIDTH * self.done // self.total)
        head = (
            f"{self.jobs_done()}  {bar:╌<{BAR_WIDTH}}  {elapsed}\n{self._stop_message or self.time_left(now)}"
        )
        jobs = Table.grid(padding=(0, 2))
        for width in (self._console.width // 2, None):
            jobs.add_column(no_wrap=True, overflow="ellipsis", max_width=width)
        for title, status in self._running_jobs(now, max(1, self._console.height - 5)):
            jobs.add_row(f"  {title}", status)
        # The last line is empty: the ^C of an interruption goes there.
        return Group(Text(head, no_wrap=True, overflow="ellipsis"), jobs, "")

    def _running_jobs(self, now: float, most: int) -> list[tuple[str, str]]:
        """Titles of running jobs, with how long they run, their count and their time left; and how many more run."""
        jobs = list(self.running.values())
        rows = [
            (job.title, ": ".join(filter(None, [duration(job.seconds(now)), newest_progress(job)])))
            for job in jobs[:most]
        ]
        return [*rows, (f"and {len(jobs) - most} more", "")] if len(jobs) > most else rows

    def close(self) -> None:
        """Take away what moves."""
        with suppress(OSError):
            self._live.stop()
