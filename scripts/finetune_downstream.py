"""Fine-tune a model for a task beside retrieval, and predict the test examples."""

from irpretrain.config.downstream import DownstreamTaskConfig
from irpretrain.foundation.stage import stage
from irpretrain.training.downstream.finetune import finetune_downstream, options_of

with stage(snakemake) as done:
    cell = snakemake.wildcards
    task = DownstreamTaskConfig(**snakemake.params.task)
    options = options_of(task, snakemake.params.options)
    done(
        finetune_downstream(
            model=snakemake.input.model,
            examples=snakemake.input.examples,
            task=task,
            options=options,
            seed=int(cell.seed),
            predictions=snakemake.output.predictions,
            metrics=snakemake.output.metrics,
            checkpoints=snakemake.params.checkpoints,
            title=f"{cell.task} {cell.model} seed {cell.seed}",
        )
    )
