"""Count in which intervals the RANK of a collection's pseudo-queries lies."""

from irpretrain.axioms.rank_intervals import rank_intervals
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    values, output = list(snakemake.input.values), snakemake.output.intervals
    counts |= rank_intervals(values, output, snakemake.params.depth)
