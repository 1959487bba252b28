"""Choose the parameters of a first stage on training queries."""

from irpretrain.config.retrieval import RetrievalConfig, SweepConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.lucene import tune

with stage(snakemake) as counts:
    tuning = snakemake.params.tuning
    counts |= tune(
        snakemake.input.index,
        snakemake.input.queries,
        snakemake.input.qrels,
        tuning["model"],
        SweepConfig(**tuning["sweep"]),
        RetrievalConfig(**snakemake.params.options),
        snakemake.output.tuning,
        snakemake.output.grid,
        tuning["queries_are_documents"],
    )
