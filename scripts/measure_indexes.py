"""Size, postings and query time of the indexes of a data set."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.retrieval.index_costs import measure_indexes
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        measure_indexes(
            dict(zip(snakemake.params.names, snakemake.input.indexes, strict=True)),
            snakemake.input.queries,
            RetrievalConfig(**snakemake.params.options),
            snakemake.output.costs,
            snakemake.output.table,
        )
    )
