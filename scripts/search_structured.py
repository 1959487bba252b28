"""Retrieval with weighted bags of words or sequential dependence queries."""

from irpretrain.config.retrieval import DependenceConfig, RetrievalConfig
from irpretrain.retrieval.indri import search_weighted
from irpretrain.stage import stage

with stage(snakemake) as done:
    first_stage = snakemake.params.first_stage
    given = {name: value for name, value in first_stage["parameters"].items() if value is not None}
    dependence = first_stage["dependence"]
    done(
        search_weighted(
            snakemake.input.positions,
            snakemake.input.queries,
            snakemake.input.weights or None,
            first_stage["query_words"],
            DependenceConfig(**dependence) if dependence else None,
            RetrievalConfig(**snakemake.params.options).with_parameters(given),
            snakemake.output.run,
            snakemake.wildcards.candidates,
        )
    )
