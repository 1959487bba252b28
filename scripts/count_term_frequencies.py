"""Count how often each word occurs in each document, as the integers of an index."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.targets import write_frequencies

with stage(snakemake) as counts:
    counts |= write_frequencies(
        snakemake.input.documents, TextConfig(**snakemake.params.text), snakemake.output.vectors
    )
