"""Index a corpus with Lucene."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.lucene import index

with stage(snakemake) as counts:
    counts |= index(
        list(snakemake.input.documents),
        RetrievalConfig(**snakemake.params.options),
        TextConfig(**snakemake.params.text),
        snakemake.output.index,
    )
