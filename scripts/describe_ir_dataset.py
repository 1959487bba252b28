"""Look whether a part of a data set of ir_datasets is on the disk, and write the small file that stands for it."""

from irpretrain.corpora.formats.ir_datasets import describe_part
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= describe_part(
        snakemake.wildcards.identifier,
        snakemake.wildcards.part,
        snakemake.params.several_shards,
        snakemake.output.description,
    )
