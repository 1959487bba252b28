"""Retrieval with weighted bags of words or sequential dependence queries."""

from irpretrain.config.retrieval import IndriOptions
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.indri import Positions, read_weighted_queries, search_weighted

with stage(snakemake) as counts:
    first_stage = snakemake.params.first_stage
    words, mu = first_stage["query_words"], first_stage["parameters"]["mu"]
    options = IndriOptions(dependence=first_stage["dependence"] is not None)
    options = options if mu is None else options._replace(mu=mu)
    counts |= search_weighted(
        Positions.open(snakemake.input.positions, options, words),
        read_weighted_queries(
            snakemake.input.queries, snakemake.input.weights or None, words, Analyser.of(options, words)
        ),
        options,
        snakemake.params.depth,
        snakemake.output.run,
        snakemake.wildcards.candidates,
        snakemake.params.queries_are_documents,
    )
