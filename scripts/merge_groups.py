"""Put the shards' ranking groups into one file, in the order of the corpora, whatever the number of shards."""

from irpretrain.foundation.stage import by_corpus, stage
from irpretrain.objectives.shard import merge_groups

with stage(snakemake) as counts:
    shards = by_corpus(snakemake.input.groups, snakemake.params.corpora)
    counts |= merge_groups(shards, snakemake.output.groups)
