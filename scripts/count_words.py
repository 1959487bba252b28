"""Count the words of one corpus shard."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.statistics import count_words

with stage(snakemake) as done:
    text = TextConfig(**snakemake.params.text)
    done(count_words(snakemake.input.documents, text, snakemake.output.counts))
