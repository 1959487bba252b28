"""Train word vectors on a collection, or take them from a file."""

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.word_vectors import make_word_vectors

with stage(snakemake) as counts:
    shards = iter(snakemake.input.words)
    counts |= make_word_vectors(
        WordVectorsConfig(**snakemake.params.options),
        [[next(shards) for _ in range(count)] for _, count in snakemake.params.corpora],
        snakemake.input.statistics,
        snakemake.params.seed,
        snakemake.output.vectors,
        vector_file=snakemake.input.given or None,
    )
