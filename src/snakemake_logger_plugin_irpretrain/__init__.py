"""The display of a run, as a logger plugin of Snakemake: `--logger irpretrain` (profiles/default sets it).

Snakemake imports this package in every process, so what shows something is imported when it is asked for.
"""

import logging
import os
import sys
import traceback
from contextlib import suppress

from snakemake_interface_logger_plugins.base import LogHandlerBase

from irpretrain.foundation.closed_streams import reserve_closed_streams

# Before Snakemake opens anything.
reserve_closed_streams()
sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, open to the end
sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class LogHandler(LogHandlerBase):
    """Shows what Snakemake logs: as the display of a run, or as Snakemake does."""

    writes_to_stream = True
    writes_to_file = False
    needs_rulegraph = False
    has_filter = False
    has_formatter = True

    def __post_init__(self) -> None:
        from snakemake_logger_plugin_irpretrain import internals, screens

        internals.keep_exceptions()
        self.has_filter = internals.has_display(self.common_settings)
        screen = screens.RunScreen if self.has_filter else screens.SnakemakeScreen
        self._screen = screen(self.common_settings)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._screen.take(record)
        except Exception:
            with suppress(OSError):
                traceback.print_exc()

    def close(self) -> None:
        self._screen.close()
        super().close()
