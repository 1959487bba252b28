"""First-stage retrieval of a data set's queries."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.lucene import search

with stage(snakemake) as counts:
    counts |= search(
        snakemake.input.index,
        snakemake.input.queries,
        snakemake.wildcards.candidates,
        RetrievalConfig(**snakemake.params.options),
        snakemake.output.run,
        queries_are_documents=snakemake.params.queries_are_documents,
    )
