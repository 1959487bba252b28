"""Plan a configuration without its data: `python -m irpretrain.workflow.costs.plan --configfile mine.yaml`.

An ordinary dry run refuses files of one's own that are not there, as a run would, and looks at what is done already.
This one lays empty files where they are wanted, in a folder of its own, and plans there: how many jobs each rule has,
what they would cost and fill; `--directory` is ignored. `--card NAME` names the GPU that hours are estimated for; the
name of a data set or of a paper's table, among the targets, stands for its scores. All other arguments go to Snakemake.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from irpretrain.config import Config, load_config
from irpretrain.config.arguments import check_configuration_files
from irpretrain.config.papers import read_paper
from irpretrain.corpora.catalogue.absence import catalogue_paths, needed_files
from irpretrain.foundation.errors import IRPretrainError, did_you_mean
from irpretrain.foundation.other_code import other_code_text, results_of_other_code
from irpretrain.foundation.progress import print_line
from irpretrain.foundation.resources import project_directory
from irpretrain.workflow.costs import CARD_VARIABLE, REFUSED
from irpretrain.workflow.costs.estimate import DEFAULT_CARD, Card
from irpretrain.workflow.plan.paths import SCORES
from irpretrain.workflow.plan.preparation import STAND_IN_FOLD_COUNT, write_stand_in

STAND_IN_FOLDS = json.dumps([[str(query)] for query in range(1, STAND_IN_FOLD_COUNT + 1)])


def write_stand_ins(config: Config, folder: Path) -> None:
    """Put a stand-in into `folder` for every file that the configuration names by a relative path; those of the
    catalogue are a dry run's own affair (`skip_absent`)."""
    catalogue_files = catalogue_paths(config.data_folder)
    for needed_file in needed_files(config, config.all_entries()):
        location = folder / needed_file.path
        if Path(needed_file.path).is_absolute() or location.exists() or needed_file.path in catalogue_files:
            continue
        write_stand_in(needed_file, location)
        if needed_file.kind == "folds":
            location.write_text(STAND_IN_FOLDS)


def main(arguments: Sequence[str]) -> int:
    """Plan, and return Snakemake's exit code; 1 where the configuration is refused."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--card", default=DEFAULT_CARD)
    parser.add_argument("--directory", "-d")  # of a run: what lies there is not looked at
    options, snakemake_arguments = parser.parse_known_args(arguments)
    overlays = options.configfile
    with tempfile.TemporaryDirectory(prefix="irpretrain-plan-") as folder:
        try:
            project = project_directory()
            check_configuration_files(overlays)
            config = load_config(project / "config.yaml", *overlays)
            write_stand_ins(config, Path(folder))
            card = Card.find(options.card).name
            files_by_target = score_files(config)
            snakemake_arguments = [
                file for word in snakemake_arguments for file in files_by_target.get(word) or [word]
            ]
        except IRPretrainError as error:
            print_line(str(error))
            return 1
        if text := other_code_text(results_of_other_code()):
            print_line(text)
        print_line("Planned as if all data were there and nothing were done yet.")
        plan_overlay = Path(folder, "plan.yaml")
        plan_overlay.write_text("skip_absent: true\n")
        command = [sys.executable, "-m", "snakemake", "--workflow-profile", "none", "--logger", "irpretrain"]
        command += ["--dry-run", "--snakefile", str(project / "Snakefile"), "--directory", folder]
        command += [*snakemake_arguments, "--configfile", *overlays, str(plan_overlay)]
        environment = {**os.environ, CARD_VARIABLE: card, **({} if config.skip_absent else {REFUSED: "1"})}
        status = subprocess.run(command, env=environment, stderr=subprocess.STDOUT).returncode
        hints = [did_you_mean(word, files_by_target) for word in snakemake_arguments] if status else []
        if hint := next(filter(None, hints), ""):
            print(hint)  # where Snakemake's message went
        return status


def score_files(config: Config) -> dict[str, list[str]]:
    """Return a data set (its column), or a table of the report's papers → the files of its scores."""
    datasets_of_target = {name: {name} for name in config.datasets}
    for paper_name in config.report.papers:
        for name, printed_table in read_paper(paper_name).tables.items():
            datasets_of_target.setdefault(name, set()).update(
                column.dataset for column in printed_table.columns
            )
    experiments = config.active_experiments.items()
    return {
        target: [
            SCORES.format(experiment=name)
            for name, experiment in experiments
            if experiment.dataset in names and not experiment.depths
        ]
        for target, names in datasets_of_target.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
