"""The papers' figures from our runs."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.report.axiom_results import AxiomFiles
from irpretrain.report.figures import make_figures
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        make_figures(
            list(snakemake.input.published),
            Config(**snakemake.params.config),
            list(snakemake.input.scores),
            list(snakemake.input.per_query),
            list(snakemake.input.metrics),
            list(snakemake.input.groups),
            Path(snakemake.output.figures[0]).parent,
            AxiomFiles(
                list(snakemake.input.predictors),
                list(snakemake.input.rank_intervals),
                list(snakemake.input.diagnoses),
            ),
            snakemake.params.distributions,
        )
    )
