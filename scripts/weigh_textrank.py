"""Weigh the words of a corpus shard by TextRank."""

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.textrank import weigh_by_textrank

with stage(snakemake) as counts:
    counts |= weigh_by_textrank(
        snakemake.input.documents,
        RetrievalConfig(**snakemake.params.retrieval),
        TextConfig(**snakemake.params.text),
        snakemake.output.vectors,
    )
