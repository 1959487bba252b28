"""The display of a run on a terminal: redrawn twice a second, with the newest table below."""

import os
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from irpretrain.foundation.progress import duration
from irpretrain.workflow.screen.closing import headline
from irpretrain.workflow.screen.display import PlainDisplay
from irpretrain.workflow.screen.run_state import Job, jobs_done, running_text, time_left
from irpretrain.workflow.screen.user_paths import as_user_path

BAR_WIDTH = 16

# Columns of a terminal that show all of the first line beside the bar.
NARROW = 80


class LiveDisplay(PlainDisplay):
    """Jobs done, running jobs with their status, the time left, and the newest table."""

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

    def job_ended(self, job: Job, seconds: float) -> None:
        """What is running is drawn; what has ended is counted."""

    def report_made(self, paper: str) -> None:
        """Show the paper's headline table until the next."""
        self._table = headline("results", as_user_path("results"), paper)

    def log(self, text: str) -> None:
        with self._lock:
            self._console.print(text, soft_wrap=True)

    def tick(self) -> None:
        with self._lock:
            self._console.size = _size_of(self._screen)
            self._live.refresh()

    def close(self) -> None:
        with self._lock:
            self._live.stop()

    def picture(self) -> RenderableType:
        now, state = self._clock(), self.state
        if not state.total:
            return Text(f"{self.phase}: {now - self._began:.0f} s")
        statuses = self.statuses()
        width, height = self._console.size
        elapsed, left = duration(now - self._began), time_left(state.left(now, statuses))
        if width >= NARROW:
            bar = ProgressBar(total=state.total, completed=state.done, width=BAR_WIDTH)
            head = Table.grid(padding=(0, 2))
            head.add_row(jobs_done(state), bar, _cut(f"{elapsed}, {left}"))
            parts: list[RenderableType] = [head]
        else:
            parts = [_cut(f"{jobs_done(state)}, {elapsed}"), _cut(left)]
        displayed = list(state.running.values())[: max(1, height - 4)]
        titles = min(max((len(job.title) for job in displayed), default=0), width // 2 - 4)
        for job in displayed:
            title = job.title if len(job.title) <= titles else job.title[: titles - 1] + "…"
            line = f"  {title:<{titles}}  {running_text(job, now, statuses.get(job.number))}"
            # Narrower than the terminal: the ^C of an interruption must not begin a line of its own.
            parts.append(Constrain(_cut(line), width - 8))
        if len(state.running) > len(displayed):
            parts.append(_cut(f"  and {len(state.running) - len(displayed)} more"))
        table = self._table.rstrip().splitlines()
        if len(table) > height - len(displayed) - 5:
            table = table[-2:]  # where the report and the tables lie
        if table:
            parts += [_cut(""), *map(_cut, table)]
        return Group(*parts)


def _cut(line: str) -> Text:
    """A line of which the terminal shows what it has room for."""
    return Text(line, no_wrap=True, overflow="ellipsis")


def _size_of(screen: TextIO) -> ConsoleDimensions:
    """The terminal's size; the console would ask for that of stdout, which belongs to jobs meanwhile."""
    try:
        columns, lines = os.get_terminal_size(screen.fileno())
    except (OSError, ValueError):
        columns, lines = 80, 24
    return ConsoleDimensions(columns or 80, lines or 24)
