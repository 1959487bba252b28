"""Read a test collection's queries and judgements, and check them against its documents."""

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.testcollection import prepare
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= prepare(
        DatasetConfig(**snakemake.params.dataset),
        snakemake.input.queries,
        snakemake.input.qrels,
        list(snakemake.input.documents),
        snakemake.params.seed,
        snakemake.output.queries,
        getattr(snakemake.output, "qrels", None),  # none where answers judge
        snakemake.params.corpora,
    )
