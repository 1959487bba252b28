"""Notes which heavy packages each script of a run imported: Python reads this file as it starts, by PYTHONPATH.

A file for each script and package, in the folder that SEEN_IMPORTS names.
"""

import atexit
import os
import sys

HEAVY = ("torch", "transformers")


@atexit.register
def _note() -> None:
    folder, script = os.environ.get("SEEN_IMPORTS"), sys.argv[0] if sys.argv else ""
    if folder and f"{os.sep}scripts{os.sep}" in script:
        # Snakemake runs a copy, with a random name before the script's own.
        name = os.path.basename(script).partition(".")[2].removesuffix(".py")
        for package in ("none", *(package for package in HEAVY if package in sys.modules)):
            open(os.path.join(folder, f"{name}.{package}"), "w").close()
