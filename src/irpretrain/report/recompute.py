"""Recompute the claims of a finished run: `make claims ARGS="--configfile mine.yaml --directory runs/mine"`.

Claims are answered again from the files that the run answered them from, and compared with `results/claims.csv`.
`--save FOLDER` writes the recomputed claims, and copies these files, into a folder that needs nothing else:
`--directory FOLDER` recomputes from it. Copies are small: a table is one row group, and a sidecar has only counts and
hashes of inputs.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from irpretrain.config import Config, load_config
from irpretrain.config.arguments import check_configuration_files
from irpretrain.corpora.embedded import read_manifest
from irpretrain.foundation.atomic import atomic_file, write_text
from irpretrain.foundation.contracts import PER_QUERY
from irpretrain.foundation.errors import InputError, IRPretrainError, count_of, need_folder
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.provenance import read_sidecar, sidecar_path
from irpretrain.foundation.resources import project_directory
from irpretrain.report.claim_answers import answer_claims, count_answers, read_answers
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.tables import join_claims
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.whole import Plan

# Of a sidecar, what answers read.
SIDECAR_KEYS = ("counts", "inputs")


def recompute(config: Config, plan: Plan, claims: str | Path) -> list[str]:
    """Write all claims of the run in the current folder as one CSV; return the files that they were answered from."""
    files_read: dict[str, None] = {}
    with TemporaryDirectory(prefix="irpretrain-claims-") as folder:
        answers = [Path(folder, f"{paper}.csv") for paper in config.report.papers]
        for paper, path in zip(config.report.papers, answers, strict=True):
            shown_results = plan.shown_by(paper)
            # A run of an earlier configuration lacks the files of later experiments.
            listed_files = {**shown_results.measured, "distributions": shown_results.distributions}
            files = ResultFiles(
                **{
                    file_kind: list(filter(os.path.exists, files_of_kind))
                    for file_kind, files_of_kind in listed_files.items()
                }
            )
            answer_claims(paper, config.of_papers([paper]), files, path)
            files_read |= dict.fromkeys([*map(str, files.scores), *files.paths()])
        join_claims(answers, claims)
    return list(files_read)


def save(files: Sequence[str], folder: Path) -> None:
    """Copy result files of the current folder, and what their sidecars say, into another folder."""
    for file in files:
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.samefile(file):
            continue
        if file.endswith(".meta.json"):
            _save_sidecar(file.removesuffix(".meta.json"), folder)
        elif file.endswith(".parquet"):
            table = PER_QUERY.read(file)
            with atomic_file(target) as temporary:
                row_count = max(table.num_rows, 1)
                pq.write_table(
                    table, temporary, compression="zstd", compression_level=19, row_group_size=row_count
                )
            _save_sidecar(file, folder)
        else:
            target.write_bytes(Path(file).read_bytes())


def _save_sidecar(output: str, folder: Path) -> None:
    record = read_sidecar(output)
    text = json.dumps({key: record[key] for key in SIDECAR_KEYS if key in record}, indent=1, sort_keys=True)
    write_text(sidecar_path(folder / output), f"{text}\n")


def main(arguments: Sequence[str]) -> int:
    """Recompute, and return an exit code: 1 where a claim differs or the files cannot be read."""
    parser = argparse.ArgumentParser(prog="make claims", allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    parser.add_argument(
        "--save", type=Path, help="Folder for the claims, and the files that they are answered from."
    )
    options = parser.parse_args(arguments)
    save_folder = options.save and options.save.absolute()
    try:
        project = project_directory()
        check_configuration_files(options.configfile)
        config = load_config(project / "config.yaml", *options.configfile)
        plan = Plan(config, read_manifest(project / "resources/embedded.yaml"))
        need_folder(options.directory, "Name the folder of a finished run.")
        with chdir(options.directory), TemporaryDirectory(prefix="irpretrain-claims-") as folder:
            recomputed_path = Path(folder, "claims.csv")
            files = recompute(config, plan, recomputed_path)
            if not Path(paths.ALL_CLAIMS).is_file():
                raise InputError(
                    paths.ALL_CLAIMS, "there is no such file", remedy="Name the folder of a finished run."
                )
            counts = count_answers([recomputed_path]).items()
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
            sources = f"{count_of(len(files), 'file')} of {options.directory}"
            print_line(f"Claims recomputed from {sources}: {verdicts}.")
            stored_rows = set(map(repr, read_answers([paths.ALL_CLAIMS])))  # NaN differs from itself
            differing = [row for row in read_answers([recomputed_path]) if repr(row) not in stored_rows]
            if recomputed_path.read_bytes() != Path(paths.ALL_CLAIMS).read_bytes():
                names = ", ".join(f"{row.paper} {row.claim}" for row in differing)
                print_line(
                    f"{paths.ALL_CLAIMS} differs from what this configuration gives: {names or 'other lines'}."
                )
                if save_folder is None:
                    return 1
            else:
                print_line(f"{paths.ALL_CLAIMS} says the same, byte by byte.")
            if save_folder is not None:
                save(files, save_folder)
                write_text(save_folder / paths.ALL_CLAIMS, recomputed_path.read_text(encoding="utf-8"))
    except (IRPretrainError, OSError) as error:
        print_line(f"ERROR: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
