"""The sweep of a first stage's parameters as a figure."""

from irpretrain.report.other_figures import draw_sweep
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        draw_sweep(
            snakemake.input.tuning,
            snakemake.input.grid,
            snakemake.params.label,
            snakemake.params.dataset,
            snakemake.output.svg,
        )
    )
