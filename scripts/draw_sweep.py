"""The sweep of a first stage's parameters as a figure."""

from irpretrain.report.sweep_figure import draw_sweep
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
