"""Check Snakemake's arguments before Snakemake: `python -m irpretrain.config.arguments ARGUMENTS`.

Snakemake opens the files of `--configfile` and `--directory` before it reads our code, and ends with a traceback on a
fault. Its `--configfile` takes every word up to the next option, targets too.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from irpretrain.config.yaml_files import read_yaml
from irpretrain.foundation.errors import ConfigError, IRPretrainError, did_you_mean
from irpretrain.foundation.progress import print_line

SUFFIXES = {".yaml", ".yml", ".json"}


def configuration_files(arguments: Sequence[str]) -> list[str]:
    """Return the value of the last `--configfile` in Snakemake's arguments."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    paths: list[str] = parser.parse_known_args(arguments)[0].configfile
    return paths


def check_configuration_files(paths: Sequence[str]) -> None:
    """Read all overlays; ConfigError if one is a target, missing or unreadable."""
    for path in map(Path, paths):
        if path.suffix not in SUFFIXES:
            raise ConfigError(
                f"--configfile takes every word up to the next option, so it takes {str(path)!r} for an overlay. If "
                f"this is a target, put it before --configfile; an overlay ends in {', '.join(sorted(SUFFIXES))}."
            )
        if not os.path.isfile(path):  # Path's own raises where the name is too long
            sibling_files = (sibling for sibling in path.parent.glob("*") if sibling.suffix in SUFFIXES)
            suggestion = did_you_mean(str(path), map(str, sibling_files)) or "check the path."
            raise ConfigError(
                f"--configfile: there is no file {path}; {suggestion} Paths start in {Path.cwd()}."
            )
        read_yaml(path)


def directory_of_run(arguments: Sequence[str]) -> Path:
    """Return the folder that `--directory` names in Snakemake's arguments, or the current one."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    directory: Path = parser.parse_known_args(arguments)[0].directory
    return directory


def make_directory(arguments: Sequence[str]) -> None:
    """Make the folder of a run, as Snakemake would; ConfigError if impossible."""
    directory = directory_of_run(arguments)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        advice = "Name a folder, or a new one where you may write."
        raise ConfigError(f"--directory: {directory} cannot be made: {error.strerror}. {advice}") from error


def main(arguments: Sequence[str]) -> int:
    """Check, and return an exit code: 1 if an overlay or the folder cannot be used."""
    try:
        check_configuration_files(configuration_files(arguments))
        make_directory(arguments)
    except IRPretrainError as error:
        print_line(f"ERROR: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
