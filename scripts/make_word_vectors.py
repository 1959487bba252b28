"""Train word vectors on a collection, or take them from a file."""

from irpretrain.config.axioms import WordVectorsConfig
from irpretrain.foundation.stage import by_corpus, stage
from irpretrain.text.word_vectors import make_word_vectors

with stage(snakemake) as counts:
    counts |= make_word_vectors(
        WordVectorsConfig(**snakemake.params.options),
        by_corpus(snakemake.input.words, snakemake.params.corpora),
        snakemake.input.statistics,
        snakemake.params.seed,
        snakemake.output.vectors,
        vector_file=snakemake.input.given or None,
    )
