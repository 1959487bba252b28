"""The process that parses pages for `irpretrain.wikipedia.guarded_parser`, and that a page may cost its life.

`main` reads `Settings` from a connection, then lists of wikitexts, and answers each text by its parse or by a
`Failure`.
"""

import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

OUT_OF_MEMORY = 77
"""Exit status of a worker that reached its limit of memory."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker is told first.

    Attributes:
        parser: `module:function`; the function makes the parser, a function of one wikitext, from `argument`.
        seconds: of processor time that a page may take; the kernel kills the worker (SIGPROF) that takes more.
        memory_mb: that may come on top of what the worker has when it starts.
    """

    parser: str
    argument: Any
    seconds: float
    memory_mb: int


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
            parse = _load(settings)
            _limit_memory(settings.memory_mb)
            connection.send("ready")
            while True:
                for text in connection.recv():
                    connection.send(_parse(parse, text, settings.seconds))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return
        except MemoryError:  # while the parse was sent
            os._exit(OUT_OF_MEMORY)


def _load(settings: Settings) -> Callable[[str], Any]:
    module, _, function = settings.parser.partition(":")
    parse: Callable[[str], Any] = getattr(import_module(module), function)(settings.argument)
    return parse


def _parse(parse: Callable[[str], Any], text: str, seconds: float) -> Any:
    # Processor time, not time on the clock: a busy machine must not cost pages.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return parse(text)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what else has failed by now is not known
    except Exception as error:
        # Compiled code makes a SystemError of it.
        if isinstance(error.__cause__ or error.__context__, MemoryError):
            os._exit(OUT_OF_MEMORY)
        return Failure(" ".join(f"{type(error).__name__}: {error}".split())[:200])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(megabytes: int) -> None:
    """Limit the address space, on Linux; other systems do not tell its size, and macOS does not keep the limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return
    limit = pages * resource.getpagesize() + (megabytes << 20)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most)
    )
