"""Draw the share of a passage's weight that its heaviest terms have."""

from irpretrain.report.weight_curves import draw_distribution
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        draw_distribution(
            snakemake.input.shares,
            snakemake.params.label,
            snakemake.params.labels,
            snakemake.output.svg,
        )
    )
