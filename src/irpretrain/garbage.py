"""Python's search for garbage, held back where it finds none.

torch and transformers bring half a million objects, Snakemake with a plan as many, none of them garbage. Looking for
some while they are made, and once more at the end, takes a third of a short job's time.
"""

import atexit
import gc
import sys


def search_rarely() -> None:
    """Let this process search less often, and not at its end."""
    gc.set_threshold(50_000, 20, 100)
    atexit.register(_end_without_search)


def _end_without_search() -> None:
    # DuckDB reports whatever is not collected at the end as leaks, in 50 lines.
    if "duckdb" not in sys.modules:
        gc.freeze()
