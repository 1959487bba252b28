"""The papers' figures from our runs."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.foundation.stage import stage
from irpretrain.report.figures import make_figures
from irpretrain.report.result_files import ResultFiles

with stage(snakemake) as counts:
    counts |= make_figures(
        snakemake.input.published[0],
        Config(**snakemake.params.config).of_papers(snakemake.params.papers),
        ResultFiles.named(snakemake.input),
        list(snakemake.input.metrics),
        Path(snakemake.output.figures[0]).parent,
    )
