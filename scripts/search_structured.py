"""Retrieval with weighted bags of words or sequential dependence queries."""

from irpretrain.config.retrieval import DependenceConfig, RetrievalConfig
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.indri import read_weighted_queries, search_weighted
from irpretrain.retrieval.positions import Positions
from irpretrain.stage import stage

with stage(snakemake) as done:
    first_stage = snakemake.params.first_stage
    given = {name: value for name, value in first_stage["parameters"].items() if value is not None}
    options = RetrievalConfig(**snakemake.params.options).with_parameters(given)
    words, dependence = first_stage["query_words"], first_stage["dependence"]
    done(
        search_weighted(
            Positions.open(snakemake.input.positions, options.indri, words),
            read_weighted_queries(
                snakemake.input.queries,
                snakemake.input.weights or None,
                words,
                Analyser.of(options.indri, words),
            ),
            DependenceConfig(**dependence) if dependence else None,
            options,
            snakemake.output.run,
            snakemake.wildcards.candidates,
            snakemake.params.drop_own,
        )
    )
