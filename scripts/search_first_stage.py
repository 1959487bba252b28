"""Retrieval with a first stage of the configuration."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.lucene import search_tuned, stage_parameters

with stage(snakemake) as counts:
    parameters = stage_parameters(snakemake.params.first_stage["parameters"], snakemake.input.tuning or None)
    counts |= search_tuned(
        snakemake.input.index,
        snakemake.input.queries,
        snakemake.wildcards.candidates,
        snakemake.params.first_stage["model"],
        RetrievalConfig(**snakemake.params.options).with_parameters(parameters),
        snakemake.output.run,
        snakemake.input.ranked or None,
        snakemake.params.queries_are_documents,
    )
