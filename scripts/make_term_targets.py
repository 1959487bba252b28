"""Compute how many relevant queries (or documents) hold each word of a passage (or query)."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.weighing import make_targets

with stage(snakemake) as counts:
    counts |= make_targets(
        list(snakemake.input.documents),
        snakemake.input.queries,
        snakemake.input.qrels,
        TermWeightsConfig(**snakemake.params.options),
        TextConfig(**snakemake.params.text),
        snakemake.output.targets,
    )
