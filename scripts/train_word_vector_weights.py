"""Solve the linear regression of words' targets on their vectors."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.word_vector_regression import WordFeatures, train_word_vectors

with stage(snakemake) as counts:
    counts |= train_word_vectors(
        snakemake.input.targets,
        WordFeatures.open(snakemake.input.vectors, snakemake.input.statistics),
        TextConfig(**snakemake.params.text),
        snakemake.output.model,
        str(snakemake.input.folds) or None,
        int(snakemake.wildcards.fold),
    )
