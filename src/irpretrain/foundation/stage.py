"""The frame of every script of the workflow around its one library call.

    with stage(snakemake) as counts:
        counts |= count_words(snakemake.input.documents, snakemake.output.counts, ...)

Output goes to the rule's log and to stderr or stdout; an error meant for the user is printed as its message alone, any
other as a pointer to the traceback in the log; the sidecar of the first output has the counts.
"""

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import FileIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

from irpretrain.foundation.errors import IRPretrainError, full_disk
from irpretrain.foundation.garbage import raise_gc_threshold
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import Recorder

raise_gc_threshold()

Shard = TypeVar("Shard")


class _Log(TextIOWrapper):
    """The rule's log. Where the disk has no room for it the stage goes on: what matters is on stderr too."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(FileIO(str(path), "w"), "utf-8", "backslashreplace", write_through=True)

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)


class _Tee:
    """Writes to the screen and to the rule's log; `log` alone is for what only a fault makes worth reading."""

    def __init__(self, screen: TextIO, log: _Log) -> None:
        self._screen, self.log = screen, log

    def write(self, text: str) -> int:
        # A progress bar redraws itself after a carriage return. A logger may keep this object after the stage.
        if "\r" not in text and not self.log.closed:
            self.log.write(text)
        return self._screen.write(text)

    def flush(self) -> None:
        self._screen.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._screen, name)


@contextmanager
def stage(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Run one script's library call; SystemExit with 1 after any error, 130 after an interrupt."""
    # A sidecar among the outputs is declared to Snakemake but written here.
    outputs = [str(path) for path in snakemake.output if not str(path).endswith(".meta.json")]
    inputs = [str(path) for path in snakemake.input]
    requested_resources = _requested_resources(snakemake)
    recorder = Recorder(snakemake.rule, inputs, outputs, dict(snakemake.params), requested_resources)
    counts: dict[str, Any] = {}
    with (
        _open_log(snakemake) as log,
        redirect_stderr(_Tee(sys.stderr, log)),
        redirect_stdout(_Tee(sys.stdout, log)),
    ):
        try:
            yield counts
            recorder.write(counts)
        except KeyboardInterrupt:
            sys.exit(130)
        except Exception as error:
            print_line(f"\n{_message(error, snakemake.rule, inputs, outputs, log)}\n")
            sys.exit(1)


def _requested_resources(snakemake: Any) -> dict[str, int]:
    memory = getattr(getattr(snakemake, "resources", None), "mem_mb", None)
    return {
        "threads": getattr(snakemake, "threads", 1),
        **({"memory_mb": memory} if isinstance(memory, int) else {}),
    }


def _message(error: Exception, rule: str, inputs: Sequence[str], outputs: Sequence[str], log: _Log) -> str:
    """What the user reads about `error`; the traceback of a fault of the software goes to the log."""
    if disk_fault := full_disk(error, outputs):
        return f"ERROR in {rule}: {disk_fault}"
    if isinstance(error, IRPretrainError):
        return f"ERROR in {rule}: {error}"
    if isinstance(error, MemoryError):
        return f"ERROR in {rule}: out of memory; give the rule more mem_mb or the corpus more shards"
    if isinstance(error, FileNotFoundError) and (folder := _folder_of(error.filename, inputs)):
        return (
            f"ERROR in {rule}: {error.filename} is gone, though an earlier job made it; delete {folder} and run the "
            "workflow again"
        )
    has_log = log.name != os.devnull
    traceback.print_exception(error, file=log if has_log else sys.stderr)
    location = f"in {log.name}" if has_log else "above"
    return f"FAULT in {rule}: {type(error).__name__}: {error}\n  Its traceback is {location}"


def _folder_of(missing_file: Any, inputs: Sequence[str]) -> str | None:
    """Return the input folder that lacks a file. Snakemake looks only whether the folder itself is there."""
    if not missing_file:
        return None
    path = Path(os.path.abspath(os.fsdecode(missing_file)))
    return next((name for name in inputs if Path(os.path.abspath(name)) in path.parents), None)


def _open_log(snakemake: Any) -> _Log:
    path = Path(str(snakemake.log[0]) if snakemake.log else os.devnull)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _Log(path)
    except OSError as error:
        print_line(f"There will be no log: {error}")
        return _Log(Path(os.devnull))


def by_corpus(shards: Iterable[Shard], corpora: Iterable[tuple[str, int]]) -> list[list[Shard]]:
    """Cut the shards of a collection into those of each corpus; `corpora` are names and numbers of shards."""
    shard_iterator = iter(shards)
    return [list(islice(shard_iterator, count)) for _, count in corpora]
