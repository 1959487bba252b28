"""List what the words of anchors lead to in a collection."""

from irpretrain.foundation.stage import stage
from irpretrain.wikipedia.links import write_anchor_texts

with stage(snakemake) as counts:
    counts |= write_anchor_texts(
        snakemake.input.documents,
        snakemake.input.graph,
        snakemake.params.memory["memory_mb"],
        snakemake.threads,
        snakemake.output.anchors,
    )
