"""Retrieval with a first stage of the configuration."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.retrieval.tuning import search_tuned
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        search_tuned(
            snakemake.input.index,
            snakemake.input.queries,
            snakemake.wildcards.candidates,
            snakemake.params.first_stage["model"],
            snakemake.params.first_stage["parameters"],
            snakemake.input.tuning or None,
            RetrievalConfig(**snakemake.params.options),
            snakemake.output.run,
        )
    )
