"""Python's garbage collection, paused where it finds nothing.

torch, transformers and a plan of Snakemake each make half a million objects, none of them garbage. Collecting in the
meantime and at the end takes a third of a short job's time.
"""

import atexit
import gc
import sys


def raise_gc_threshold() -> None:
    gc.set_threshold(50_000, 20, 100)
    atexit.register(_end_without_search)


def _end_without_search() -> None:
    # DuckDB reports whatever is not collected at the end as leaks, in 50 lines.
    if "duckdb" not in sys.modules:
        gc.freeze()
