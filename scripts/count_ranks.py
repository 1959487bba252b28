"""Count in which intervals the RANK of a collection's pseudo-queries lies."""

from irpretrain.axioms.rank_intervals import rank_intervals
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(rank_intervals(list(snakemake.input.values), snakemake.output.intervals))
