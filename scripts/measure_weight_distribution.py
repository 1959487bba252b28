"""Average the share of a passage's weight that its heaviest terms have."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.weighted_index import measure_distribution

with stage(snakemake) as counts:
    counts |= measure_distribution(
        snakemake.params.weightings,
        RetrievalConfig(**snakemake.params.options),
        snakemake.params.words,
        snakemake.output.shares,
    )
