"""Count the words of one corpus shard."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.statistics import count_words

with stage(snakemake) as counts:
    text = TextConfig(**snakemake.params.text)
    counts |= count_words(snakemake.input.documents, text, snakemake.output.counts)
