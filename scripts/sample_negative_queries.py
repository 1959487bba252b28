"""Draw pseudo-queries with as many terms as judged queries have."""

from irpretrain.axioms.predictor_queries import sample_negative_queries
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= sample_negative_queries(
        snakemake.input.judged,
        list(snakemake.input.words),
        snakemake.input.statistics,
        PseudoQueriesConfig(**snakemake.params.options),
        AxiomsConfig(**snakemake.params.axioms),
        snakemake.params.seed,
        snakemake.output.queries,
        snakemake.input.temperature or None,
    )
