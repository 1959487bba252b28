"""Put the shards' ranking groups into one file, in the order of the corpora, whatever the number of shards."""

from irpretrain.foundation.stage import stage
from irpretrain.objectives.shard import merge_groups

with stage(snakemake) as counts:
    shards = iter(snakemake.input.groups)
    by_corpus = [[next(shards) for _ in range(count)] for _, count in snakemake.params.corpora]
    counts |= merge_groups(by_corpus, snakemake.output.groups)
