"""Size, postings and query time of the indexes of a data set."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.retrieval.index_costs import SearchedIndex, measure_indexes
from irpretrain.stage import stage

with stage(snakemake) as done:
    indexes = zip(snakemake.params.names, snakemake.input.indexes, snakemake.params.searches, strict=True)
    done(
        measure_indexes(
            [
                SearchedIndex(name, path, RetrievalConfig(**how["options"]), how["parameters"], how["tuning"])
                for name, path, how in indexes
            ],
            snakemake.input.queries,
            snakemake.output.costs,
            snakemake.output.table,
        )
    )
