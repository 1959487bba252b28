"""Fine-tune a model for a task beside retrieval, and predict the test examples."""

from irpretrain.config.experiments import QuestionAnsweringConfig
from irpretrain.foundation.stage import stage
from irpretrain.training.downstream import finetune_downstream

with stage(snakemake) as counts:
    cell = snakemake.wildcards
    counts |= finetune_downstream(
        model=snakemake.input.model,
        examples=snakemake.input.examples,
        options=QuestionAnsweringConfig(**snakemake.params.options),
        seed=int(cell.seed),
        predictions=snakemake.output.predictions,
        metrics=snakemake.output.metrics,
        checkpoints=snakemake.params.checkpoints,
        title=f"{cell.task} {cell.model} seed {cell.seed}",
    )
