"""Index a corpus by integer term weights."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.weighted_index import index_weights

with stage(snakemake) as counts:
    counts |= index_weights(
        list(snakemake.input.vectors),
        snakemake.params.query_words,
        RetrievalConfig(**snakemake.params.options),
        snakemake.output.index,
    )
