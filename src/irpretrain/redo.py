"""Make the results of other code again: `python -m irpretrain.redo --cores 4 prop`, or `make redo ARGS=prop`.

Snakemake lists the files that the targets need (`--summary`), and remakes those of other code (`--forcerun`).
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from irpretrain.atomic import write_text
from irpretrain.other_code import REDO, counted_text, results_of_other_code
from irpretrain.progress import print_line

# The files that a redo makes again. Snakemake removes a file before it makes it again, and where the redo is killed
# then, it would take what depends on the file for up to date.
BROKEN_OFF = Path(".snakemake/redo.json")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    directory = parser.parse_known_args(arguments)[0].directory
    records, removed = list(results_of_other_code(directory)), _removed_files(directory)
    if not records and not removed:
        print_line("No result was made by other code.")
        return 0
    snakemake = [sys.executable, "-m", "snakemake", *arguments]
    summary = subprocess.run([*snakemake, "--summary"], stdout=subprocess.PIPE, text=True)
    if summary.returncode:
        return summary.returncode
    planned = {line.partition("\t")[0] for line in summary.stdout.splitlines() if "\t" in line}
    chosen = [record for record in records if planned & record["outputs"].keys()]
    files = {next(path for path in record["outputs"] if path in planned) for record in chosen}
    if chosen:
        print_line(counted_text(chosen))
    if again := removed & planned:
        print_line(f"A redo was broken off: it goes on with {', '.join(sorted(again))}.")
    if not files | again:
        print_line("No result that these targets need was made by other code.")
        return 0
    write_text(directory / BROKEN_OFF, json.dumps(sorted(files | removed)))
    command = [*snakemake, "--forcerun", *sorted(files | again)]
    status = subprocess.run(command, env={**os.environ, REDO: "1"}).returncode
    if not status:
        write_text(directory / BROKEN_OFF, json.dumps(sorted(removed - again)))
    return status


def _removed_files(directory: Path) -> set[str]:
    """Return the files that a redo began to make again and did not."""
    try:
        files = json.loads((directory / BROKEN_OFF).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {file for file in files if not (directory / file).exists()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
