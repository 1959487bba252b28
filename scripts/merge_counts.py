"""Add up the word counts of a collection's shards, exactly."""

from irpretrain.foundation.stage import stage
from irpretrain.text.statistics import merge_counts

with stage(snakemake) as counts:
    counts |= merge_counts(list(snakemake.input.counts), snakemake.output.statistics)
