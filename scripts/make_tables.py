"""The papers' tables, ours beside the published numbers."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.report.axiom_results import AxiomFiles
from irpretrain.report.tables import make_tables
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        make_tables(
            list(snakemake.input.published),
            Config(**snakemake.params.config),
            list(snakemake.input.scores),
            list(snakemake.input.per_query),
            Path(snakemake.output.tables[0]).parent,
            snakemake.output.verdicts,
            AxiomFiles(
                list(snakemake.input.predictors),
                list(snakemake.input.rank_intervals),
                list(snakemake.input.diagnoses),
                list(snakemake.input.temperatures),
            ),
            list(snakemake.input.depths),
            list(snakemake.input.answers),
        )
    )
