"""Make a ranker over words with fresh weights and the word vectors of its collection."""

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.models.neural.registry import make_neural_ranker

with stage(snakemake) as counts:
    counts |= make_neural_ranker(
        NeuralConfig(**snakemake.params.options),
        snakemake.input.statistics,
        snakemake.input.vectors or None,
        TextConfig(**snakemake.params.text),
        snakemake.params.seed,
        snakemake.output.model,
    )
