"""Which results were made by other code than the present: by the digests in their sidecars."""

import argparse
import json
import os
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.code_digest import (
    UNKNOWN_CODE,
    add_earlier_code,
    changed_files,
    code_record,
    library_digest,
    read_digests,
)  # fmt: skip
from irpretrain.foundation.errors import count_of, first_names
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import read_record

# Parameter of cheap rules, `library_code`: any change of the library runs them again.
CODE_PARAMETER = "code"

# Most changed files, or stages, that a message names.
MAX_DISPLAYED = 3

# Set by `irpretrain.foundation.other_code`: results of other code are about to be made again.
REDO = "IRPRETRAIN_REDO"


def is_of_other_code(record: Mapping[str, Any]) -> bool:
    """Whether a sidecar's result was made by other code, or by code that the sidecar does not record."""
    code = record.get("code")
    return not isinstance(code, dict) or not code or bool(changed_files(code))


def results_of_other_code(directory: str | Path = "") -> Iterator[dict[str, Any]]:
    """Yield the sidecars of a run's results that other code made, without those that a run remakes by itself."""
    for path in sorted(Path(directory, "results").rglob("*.meta.json")):
        try:
            record = read_record(path)
        except (OSError, ValueError):
            continue
        if not any(Path(directory, output).exists() for output in record.get("outputs", {})):
            continue
        is_redone_unasked = CODE_PARAMETER in record.get("parameters", {})
        if not is_redone_unasked and is_of_other_code(record):
            yield record


def write_code(code_file: Path) -> None:
    write_text(code_file, json.dumps(code_record()))


def resume_from(code_file: Path) -> None:
    """Add the code of unfinished work, beside `code_file`, which this job resumes, to the code of the job.

    Work of other code is used too: a line reports it, and the result counts as made by other code.
    """
    code = read_digests(code_file) or UNKNOWN_CODE
    add_earlier_code(code)
    if changed_names := changed_files(code):
        print_line(
            f"Other code began this work (changed since: {first_names(changed_names, MAX_DISPLAYED)}). It goes on, and "
            f"its result will be listed as made by other code. To begin anew, stop and remove {code_file.parent}."
        )


def other_code_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Return one line: the stages of results of other code, and what redoes them; empty for none."""
    records = list(records)
    pronoun = "it" if len(records) == 1 else "them"
    return f"{counted_text(records)} `make redo` makes {pronoun} again." if records else ""


def counted_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Return one sentence: how many results other code made, and the stages with most of them."""
    stages = Counter(str(record.get("stage")) for record in records)
    most_first = sorted(stages.items(), key=lambda stage: (-stage[1], stage[0]))
    names = ", ".join(f"{stage} ({count:,})" for stage, count in most_first[:MAX_DISPLAYED])
    if len(stages) > MAX_DISPLAYED:
        names += f" and {count_of(len(stages) - MAX_DISPLAYED, 'stage')} more"
    total = stages.total()
    results = "1 result was" if total == 1 else f"{total:,} results of {count_of(len(stages), 'stage')} were"
    return f"{results} made by other code: {names}."


def unrecorded_text() -> str:
    """Return a warning where there are results and Snakemake has no record of how any was made; else nothing."""
    # Without a record Snakemake does not see that options have changed, and takes results for up to date.
    if any(path.is_file() for path in Path(".snakemake/metadata").rglob("*")):
        return ""
    outputs = {path.as_posix().removesuffix(".meta.json") for path in Path("results").rglob("*.meta.json")}
    # Of a run that was killed early Snakemake knows which jobs were at work: it makes theirs again.
    if outputs <= {name.removesuffix(".meta.json") for name in _incomplete_outputs()}:
        return ""
    return (
        "results holds results, but Snakemake's record of how they were made (.snakemake/metadata) is not there: it "
        "was removed, or they were copied without it. They are used whatever options made them. If the configuration "
        "has changed since, run in an empty folder (--directory), or begin anew with `make clean`."
    )


def _incomplete_outputs() -> set[str]:
    """Return the outputs of the jobs that a killed run was at, by their marks: names of files in base 64."""
    marks_folder = Path(".snakemake/incomplete")
    names = set[str]()
    for mark in filter(Path.is_file, marks_folder.rglob("*")):
        # Long names are cut: all folders of a mark begin with @.
        encoded = "".join(path_part.removeprefix("@") for path_part in mark.relative_to(marks_folder).parts)
        with suppress(ValueError):
            names.add(urlsafe_b64decode(encoded).decode())
    return names


def library_code(wildcards: Any) -> str:
    """Return the parameter `CODE_PARAMETER` of a rule, for Snakemake."""
    return library_digest()


def planned_text(wildcards: Any) -> str:
    """Return the report's line on other code, for Snakemake: a change makes the report again."""
    return "" if REDO in os.environ else _text_of(os.getcwd())


@cache
def _text_of(directory: str) -> str:
    return other_code_text(results_of_other_code(directory))


# The files that a redo makes again. Snakemake removes a file before it makes it again, and where the redo is killed
# then, it would take what depends on the file for up to date.
REDO_FILE = Path(".snakemake/redo.json")


def main(arguments: Sequence[str]) -> int:
    """Make results of other code again: `make redo ARGS=prop`.

    Snakemake lists the files that the targets need (`--summary`), and remakes those of other code (`--forcerun`).
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    directory = parser.parse_known_args(arguments)[0].directory
    records, removed_files = list(results_of_other_code(directory)), _removed_files(directory)
    if not records and not removed_files:
        print_line("No result was made by other code.")
        return 0
    snakemake = [sys.executable, "-m", "snakemake", *arguments]
    summary = subprocess.run([*snakemake, "--summary"], stdout=subprocess.PIPE, text=True)
    if summary.returncode:
        return summary.returncode
    planned_files = {line.partition("\t")[0] for line in summary.stdout.splitlines() if "\t" in line}
    needed_records = [record for record in records if planned_files & record["outputs"].keys()]
    files = {next(path for path in record["outputs"] if path in planned_files) for record in needed_records}
    if needed_records:
        print_line(counted_text(needed_records))
    if files_to_resume := removed_files & planned_files:
        print_line(f"A redo was broken off: it goes on with {', '.join(sorted(files_to_resume))}.")
    if not files | files_to_resume:
        print_line("No result that these targets need was made by other code.")
        return 0
    write_text(directory / REDO_FILE, json.dumps(sorted(files | removed_files)))
    command = [*snakemake, "--forcerun", *sorted(files | files_to_resume)]
    status = subprocess.run(command, env={**os.environ, REDO: "1"}).returncode
    if not status:
        write_text(directory / REDO_FILE, json.dumps(sorted(removed_files - files_to_resume)))
    return status


def _removed_files(directory: Path) -> set[str]:
    try:
        files = json.loads((directory / REDO_FILE).read_text(encoding="utf-8"))
        return {file for file in files if not (directory / file).exists()}
    except (OSError, TypeError, ValueError):
        return set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
