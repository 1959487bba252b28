"""What every script of the workflow does around its one library call.

    with stage(snakemake) as done:
        done(count_words(snakemake.input.documents, snakemake.output.counts, ...))

Everything printed goes to the rule's log and to the screen; an error meant for the user is printed as its
message alone; the sidecar of the first output is written at the end with the counts handed to `done`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from irpretrain.errors import IRPretrainError
from irpretrain.provenance import Recorder


class _Tee:
    """Writes to the screen and to the rule's log; `log` alone is for what only a fault makes worth reading."""

    def __init__(self, screen: TextIO, log: TextIO) -> None:
        self._screen, self.log = screen, log

    def write(self, text: str) -> int:
        self.log.write(text)
        return self._screen.write(text)

    def flush(self) -> None:
        self.log.flush()
        self._screen.flush()

    def isatty(self) -> bool:
        return self._screen.isatty()

    def fileno(self) -> int:
        return self._screen.fileno()


@contextmanager
def stage(snakemake: Any) -> Iterator[Callable[[dict[str, Any] | None], None]]:
    """Run one script's library call; see the module's text."""
    # A sidecar among the outputs is declared to Snakemake but written here.
    outputs = [str(path) for path in snakemake.output if not str(path).endswith(".meta.json")]
    recorder = Recorder(snakemake.rule, [str(p) for p in snakemake.input], outputs, dict(snakemake.params))
    counts: dict[str, Any] = {}

    def done(result: dict[str, Any] | None) -> None:
        counts.update(result or {})

    screen = sys.stderr
    with _open_log(snakemake) as log:
        sys.stderr = _Tee(screen, log)
        try:
            yield done
            recorder.write(counts)
        except IRPretrainError as error:
            print(f"\nERROR in {snakemake.rule}: {error}\n", file=sys.stderr)
            sys.stderr.flush()
            sys.exit(1)
        except MemoryError:
            print(
                f"\nERROR in {snakemake.rule}: out of memory; give the rule more mem_mb or more shards",
                file=sys.stderr,
            )
            sys.exit(1)
        except Exception:
            traceback.print_exc(file=log)
            print(f"\nFAULT in {snakemake.rule}: see {getattr(log, 'name', 'the log')}", file=screen)
            raise
        finally:
            sys.stderr = screen


def _open_log(snakemake: Any) -> TextIO:
    path = Path(str(snakemake.log[0])) if snakemake.log else Path("/dev/null")
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "w", encoding="utf-8", buffering=1)
