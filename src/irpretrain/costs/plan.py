"""Plan a configuration without its data: `python -m irpretrain.costs.plan --configfile mine.yaml`.

An ordinary dry run refuses files of one's own that are not there, as a run would, and looks at what is done already.
This one lays empty files where they are wanted, in a folder of its own, and plans there: how many jobs each rule has,
and what they would cost. All arguments go to Snakemake.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from irpretrain.catalogue.needed import catalogue_paths, needed_files
from irpretrain.config import Config, load_config
from irpretrain.config.arguments import check_configuration_files
from irpretrain.costs.dry_run import REFUSED
from irpretrain.costs.stand_ins import lay
from irpretrain.errors import IRPretrainError
from irpretrain.progress import say
from irpretrain.resources import project_directory

GIVEN_FOLDS = '[["1"], ["2"], ["3"], ["4"], ["5"]]'


def lay_out(config: Config, folder: Path) -> None:
    """Put a stand-in into `folder` for every file that the configuration names by a relative path; those of the
    catalogue are a dry run's own affair (`skip_absent`)."""
    catalogued = catalogue_paths(config.data_folder)
    for needed in needed_files(config):
        place = folder / needed.path
        if Path(needed.path).is_absolute() or place.exists() or needed.path in catalogued:
            continue
        lay(needed, place)
        if needed.kind == "folds":
            place.write_text(GIVEN_FOLDS)


def main(arguments: Sequence[str]) -> int:
    """Plan, and return Snakemake's exit code; 1 where the configuration is refused."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    options, others = parser.parse_known_args(arguments)
    overlays = options.configfile
    with tempfile.TemporaryDirectory(prefix="irpretrain-plan-") as folder:
        try:
            project = project_directory()
            check_configuration_files(overlays)
            config = load_config(project / "config.yaml", *overlays)
            lay_out(config, Path(folder))
        except IRPretrainError as error:
            say(str(error))
            return 1
        say("Planned as if all data were there and nothing were done yet.")
        command = [sys.executable, "-m", "snakemake", "--workflow-profile", "none"]
        command += ["--dry-run", "--quiet", "rules", "reason", "host"]
        where = ["--snakefile", str(project / "Snakefile"), "--directory", folder]
        last = Path(folder, "plan.yaml")
        last.write_text("skip_absent: true\n")
        return _counted_once([*command, *where, *others, "--configfile", *overlays, str(last)], config)


def _counted_once(command: list[str], config: Config) -> int:
    """Run Snakemake, and return its exit code; it counts the jobs before and after it plans them: once is enough."""
    told = os.environ if config.skip_absent else {**os.environ, REFUSED: "1"}
    with subprocess.Popen(command, env=told, stdout=subprocess.PIPE, text=True) as planning:
        counts = 0
        try:
            for line in planning.stdout or ():
                counts += line.startswith("Job stats:")
                if counts < 2:
                    print(line, end="", flush=True)
        except BrokenPipeError:  # `head` has seen enough
            planning.kill()
            # Python still writes what is left in its buffer at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return planning.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
