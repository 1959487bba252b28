"""Parses pages in a process of its own, so that a page which costs too much is lost alone.

A page of a few kilobytes can make a parser of wikitext take minutes or tens of gigabytes, in compiled code that no
exception interrupts. The worker is started once and lives as long as no page kills it; while it works on a page the
reader reads the next one and uses the parse of the last one.

In the worker, `main` reads `Settings` from a connection, then wikitexts, and answers each by its parse or by a
`Failure`.
"""

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self, TypeVar

from irpretrain.foundation.errors import SetupError

# Exit status of a worker that reached its limit of memory.
OUT_OF_MEMORY = 77


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker is told first."""

    parser: str  # `module:function`; the function parses one wikitext, and takes the `arguments` behind it
    arguments: tuple[Any, ...]
    seconds: float  # processor time of a page; the kernel kills the worker (SIGPROF) that takes more
    memory_mb: int  # may come on top of what the worker has when it starts


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a page has no parse."""

    reason: str


def main(descriptor: int) -> None:
    """Serve until the other side closes the connection."""
    # The user interrupts the stage, which then closes the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(descriptor) as connection:
        try:
            settings: Settings = connection.recv()
            module, _, function = settings.parser.partition(":")
            parse: Callable[..., Any] = getattr(import_module(module), function)
            _limit_memory(settings.memory_mb)
            connection.send("ready")
            while True:
                connection.send(_parse(parse, connection.recv(), settings))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return
        except MemoryError:  # while the parse was sent
            os._exit(OUT_OF_MEMORY)


def _parse(parse: Callable[..., Any], text: str, settings: Settings) -> Any:
    # Processor time, not time on the clock: a busy machine must not cost pages.
    signal.setitimer(signal.ITIMER_PROF, settings.seconds)
    try:
        return parse(text, *settings.arguments)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what else has failed by now is not known
    except Exception as error:
        # Compiled code makes a SystemError of it.
        if isinstance(error.__cause__ or error.__context__, MemoryError):
            os._exit(OUT_OF_MEMORY)
        return Failure(" ".join(f"{type(error).__name__}: {error}".split())[:200])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def processor_time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in a block that takes more processor time; regular expressions are interrupted too.

    Without effect in other threads than the main one, and where the program uses the signal SIGPROF itself.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGPROF) is not signal.SIG_DFL
        or any(signal.getitimer(signal.ITIMER_PROF))
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


def _limit_memory(megabytes: int) -> None:
    """Limit the address space, on Linux; other systems do not tell its size, and macOS does not keep the limit."""
    try:
        memory_pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return
    limit = memory_pages * resource.getpagesize() + (megabytes << 20)
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    limit = limit if hard_limit == resource.RLIM_INFINITY else min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))


# The reader's side.


Item = TypeVar("Item")
# That a worker gets to end by itself.
SHUTDOWN_SECONDS = 2
# A worker that has not answered for so many times its limit of processor time is killed too: it hangs or starves.
WAIT_FACTOR = 10


@dataclass(eq=False)
class _WorkerDied(Exception):
    reason: str
    retry: bool


class GuardedParser:
    """A parser in another process. Use as a context manager."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is started before the first page."""
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._is_answer_due = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()

    def parse(self, items: Iterable[tuple[Item, str | None]]) -> Iterator[tuple[Item, Any]]:
        """Yield each item with the parse of its text, a `Failure`, or None for an item without a text; in order."""
        if self._is_answer_due:  # to a text of an earlier call that was broken off
            self._stop(kill=True)
        iterator = iter(items)
        current: tuple[Item, str | None] | None = None
        while True:
            read_error, following = None, None
            try:
                following = next(iterator, None)
            except Exception as error:  # belongs behind the item before it
                read_error = error
            answer = None if current is None or current[1] is None else self._receive(current[1])
            # After the answer, never before: two that both send more than a pipe holds would wait for ever.
            if following is not None and following[1] is not None:
                self._send(following[1])
            if current is not None:
                yield current[0], pickle.loads(answer) if isinstance(answer, bytes) else answer
            if read_error is not None:
                raise read_error
            if following is None:
                return
            current = following

    def _send(self, text: str) -> None:
        connection = self._connection or self._start()
        self._is_answer_due = True
        with suppress(OSError):  # a worker that has died is noticed where its answer is read
            connection.send(text)

    def _receive(self, text: str) -> bytes | Failure:
        try:
            return self._answer()
        except _WorkerDied as death:
            if not death.retry:
                return Failure(death.reason)
        try:  # in a new worker, so that what pages before it left behind does not count against it
            self._send(text)
            return self._answer()
        except _WorkerDied as death:
            return Failure(death.reason)

    def _answer(self) -> bytes:
        assert self._connection is not None  # what was sent is answered
        connection, max_wait = self._connection, WAIT_FACTOR * self._settings.seconds
        try:
            if connection.poll(max_wait):
                answer = connection.recv_bytes()
                self._is_answer_due = False
                return answer
        except (EOFError, OSError):
            raise self._death(self._stop()) from None
        self._stop(kill=True)
        raise _WorkerDied(f"gave no answer within {max_wait:g} s", retry=False)

    def _death(self, status: int) -> _WorkerDied:
        if status == -signal.SIGPROF:
            return _WorkerDied(f"took more than {self._settings.seconds:g} s", retry=False)
        if status == OUT_OF_MEMORY:
            return _WorkerDied(f"needed more than {self._settings.memory_mb:,} MB", retry=True)
        status_text = f"signal {-status}" if status < 0 else f"status {status}"
        return _WorkerDied(f"made the parser crash ({status_text})", retry=True)

    def _start(self) -> Connection:
        reader_end, worker_end = Pipe()
        # Not a fork: this process may have threads. Not multiprocessing: it would run the rule's script again.
        code = f"from irpretrain.wikipedia.guarded_parser import main; main({worker_end.fileno()})"
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            pass_fds=[worker_end.fileno()],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
        )
        worker_end.close()
        self._connection = reader_end
        try:
            reader_end.send(self._settings)
            reader_end.recv()  # that it is ready
        except (EOFError, OSError):
            status = self._stop()
            raise SetupError(
                f"The process that parses wikitext does not start (status {status}); its error is printed above."
            ) from None
        return reader_end

    def _stop(self, kill: bool = False) -> int:
        if self._process is None or self._connection is None:
            return 0
        self._connection.close()
        if kill:
            self._process.kill()
        try:
            status = self._process.wait(SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._process = self._connection = None
        self._is_answer_due = False
        return status
