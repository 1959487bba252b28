"""Count the words of a corpus shard together with text that is added to its documents."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.expansion import expand_documents

with stage(snakemake) as counts:
    counts |= expand_documents(
        snakemake.input.documents,
        snakemake.input.expansion,
        TextConfig(**snakemake.params.text),
        snakemake.output.vectors,
    )
