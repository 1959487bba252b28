"""Write a model for others to take, with its card."""

from irpretrain.foundation.stage import stage
from irpretrain.report.model_card import CardFacts, export_model

with stage(snakemake) as counts:
    counts |= export_model(
        snakemake.input.model,
        list(snakemake.input.trained),
        list(snakemake.params.scores),
        CardFacts.read(snakemake.params.facts),
        snakemake.output.model,
        list(snakemake.input.probes),
    )
