"""Read the examples of a task beside retrieval, and deal out who trains, chooses and tests."""

from irpretrain.config.experiments import DownstreamTaskConfig
from irpretrain.corpora.downstream_questions import prepare_task
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= prepare_task(
        name=snakemake.wildcards.task,
        task=DownstreamTaskConfig(**snakemake.params.task),
        sources=snakemake.params.sources,
        seed=snakemake.params.seed,
        output=snakemake.output.examples,
    )
