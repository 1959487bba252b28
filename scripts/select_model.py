"""Keep the snapshot of a pre-training that ranks held-out queries best."""

from irpretrain.foundation.stage import stage
from irpretrain.training.selection import select_model

with stage(snakemake) as counts:
    counts |= select_model(
        snakemake.input.model,
        dict(zip(snakemake.params.steps, snakemake.input.runs, strict=True)),
        snakemake.input.qrels,
        snakemake.params.measure,
        snakemake.output.model,
        snakemake.output.scores,
    )
