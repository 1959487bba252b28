"""Where the output of jobs goes while a display has the screen: into a file, by a pipe.

The pipe is drained even where the file cannot be written: the message of a job that found the disk full must not be
lost, so the newest messages are kept in memory, too.
"""

import os
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from irpretrain.screen.job_log import FAILURE
from irpretrain.screen.user_paths import as_user_stands

IN_SCRIPT = re.compile(r'  File ".*/scripts/tmp\w+\.(?P<script>\w+)\.py", line \d+')
"""A line of a traceback: the copy of a script that Snakemake runs."""
MARK = b"\0end of the jobs' output\n"
LONGEST_WAIT = 5.0
"""Seconds that the end of a run waits for the last of its output."""


class JobOutput(threading.Thread):
    """Takes what this process and its children write to stdout and stderr, until `restore`."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.messages: dict[str, str] = {}
        """Rule, or script → the newest message of one of its jobs that failed."""
        self._path, self._ended, self._message, self._script = path, threading.Event(), "", ""
        sys.stdout.flush()
        sys.stderr.flush()
        self._screen = os.dup(1), os.dup(2)
        self._reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.close(writing)
        self.start()

    def run(self) -> None:
        """Copy lines to the file until the mark."""
        with _opened(self._path) as file, open(self._reading, "rb") as lines:
            for line in lines:
                if line.endswith(MARK):
                    break
                with suppress(OSError):
                    file.write(line)
                self._note(line.decode("utf-8", "replace").rstrip("\n"))
        self._ended.set()

    def _note(self, line: str) -> None:
        """Put lines together to messages: from "ERROR in" to an empty line, and the last line of a traceback.

        A script that fails before it has a log, at an import, leaves a traceback here alone.
        """
        if match := IN_SCRIPT.match(line):
            self._script = match["script"]
        elif self._script and line and not line[0].isspace():
            where = as_user_stands(self._path)
            self.messages[self._script] = f"FAULT in {self._script}: {line}\n  Its traceback is in {where}"
            self._script = ""
        if FAILURE.match(line):
            self._message = line.split(" ")[2].rstrip(":")
            self.messages[self._message] = line
        elif not line:
            self._message = ""
        elif self._message:
            self.messages[self._message] += f"\n{line}"

    def restore(self) -> None:
        """Give the screen back, after all that was written until now has been read."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(2, MARK)
        for number, screen in enumerate(self._screen, 1):
            os.dup2(screen, number)
            os.close(screen)
        self._ended.wait(LONGEST_WAIT)


def _opened(path: Path) -> IO[bytes]:
    try:
        return open(path, "wb", buffering=0)
    except OSError:
        return open(os.devnull, "wb")
