"""Fine-tune a model for a task beside retrieval, and predict what is tested."""

from pathlib import Path

from irpretrain.config.downstream import DownstreamTaskConfig
from irpretrain.downstream.finetune import finetune_downstream, options_of
from irpretrain.stage import stage

with stage(snakemake) as done:
    cell = snakemake.wildcards
    task = DownstreamTaskConfig(**snakemake.params.task)
    options = options_of(task, snakemake.params.options)
    kept = Path(snakemake.params.models, cell.task, cell.model, f"seed-{cell.seed}")
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
            output=kept if options.keep_models else None,
            title=f"{cell.task} {cell.model} seed {cell.seed}",
        )
    )
