"""Cut one corpus shard into word pieces, once for every stage that trains or ranks."""

from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.token_store import write_token_store

with stage(snakemake) as counts:
    counts |= write_token_store(
        snakemake.input.documents,
        snakemake.params.encoder_directory,
        TextConfig(**snakemake.params.text),
        snakemake.output.tokens,
        EncoderConfig(**snakemake.params.encoder).vocabulary_size,
        snakemake.params.positions,
    )
