"""Write the words of one corpus shard by their numbers in the collection's statistics."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.word_store import write_word_store

with stage(snakemake) as counts:
    counts |= write_word_store(
        snakemake.input.documents,
        snakemake.input.statistics,
        TextConfig(**snakemake.params.text),
        snakemake.output.words,
    )
