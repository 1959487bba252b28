"""Train a token regression on the targets of words; goes on from its last checkpoint."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig, TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.train import train_regressor

with stage(snakemake) as counts:
    options = TermWeightsConfig(**snakemake.params.options)
    counts |= train_regressor(
        encoder=snakemake.params.encoder_directory,
        targets=snakemake.input.targets,
        options=options,
        encoder_options=EncoderConfig(**snakemake.params.encoder),
        text=TextConfig(**snakemake.params.text),
        seed=options.seed,
        output=snakemake.output.model,
        metrics=snakemake.output.metrics,
        checkpoints=snakemake.params.checkpoints,
        folds=str(snakemake.input.folds) or None,
        fold=int(snakemake.wildcards.fold),
        title=f"term weights {snakemake.wildcards.weighting}",
    )
