"""Read the examples of a task beside retrieval, and deal out who trains, chooses and tests."""

from irpretrain.config.experiments import DownstreamTaskConfig
from irpretrain.foundation.stage import stage
from irpretrain.training.downstream_examples import prepare_task

with stage(snakemake) as done:
    done(
        prepare_task(
            name=snakemake.wildcards.task,
            task=DownstreamTaskConfig(**snakemake.params.task),
            sources=snakemake.params.sources,
            seed=snakemake.params.seed,
            output=snakemake.output.examples,
        )
    )
