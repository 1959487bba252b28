"""Pre-train one model with one seed; goes on from its last checkpoint."""

from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.stage import stage
from irpretrain.training.pretrain import pretrain

with stage(snakemake) as counts:
    counts |= pretrain(
        encoder=snakemake.params.encoder_directory,
        start=str(snakemake.input.start) or None,
        groups=list(snakemake.input.groups),
        tokens=list(snakemake.input.tokens),
        tasks=[TaskConfig(**task) for task in snakemake.params.tasks],
        options=PretrainingConfig(**snakemake.params.options),
        encoder_options=EncoderConfig(**snakemake.params.encoder),
        seed=snakemake.params.seed,
        output=snakemake.output.model,
        metrics=snakemake.output.metrics,
        probe=snakemake.output.probe,
        checkpoints=snakemake.params.checkpoints,
        title=f"pretrain {snakemake.wildcards.model} seed {snakemake.params.seed}",
    )
