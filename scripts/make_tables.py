"""The papers' tables, ours beside the published numbers, and what the run says of their claims."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.foundation.stage import stage
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.tables import make_tables

with stage(snakemake) as counts:
    counts |= make_tables(
        snakemake.input.published[0],
        Config(**snakemake.params.config).of_papers(snakemake.params.papers),
        ResultFiles.named(snakemake.input),
        Path(snakemake.output.tables[0]).parent,
        snakemake.output.claims,
    )
