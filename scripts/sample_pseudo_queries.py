"""Draw the pseudo-queries of one corpus shard."""

from irpretrain.axioms.pseudo_queries import sample_pseudo_queries
from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= sample_pseudo_queries(
        snakemake.input.words,
        snakemake.input.statistics,
        PseudoQueriesConfig(**snakemake.params.options),
        snakemake.params.seed,
        snakemake.output.queries,
        snakemake.input.temperature or None,
    )
