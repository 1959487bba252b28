"""Make one corpus shard's ranking groups for one objective."""

from irpretrain.config.text import TextConfig
from irpretrain.objectives.registry import load_objective, read_options
from irpretrain.stage import stage

with stage(snakemake) as done:
    options = read_options(snakemake.wildcards.objective, snakemake.params.options)
    done(
        load_objective(options).build_groups(
            snakemake.input.documents,
            snakemake.input.statistics,
            snakemake.input.tokens,
            options,
            TextConfig(**snakemake.params.text),
            snakemake.params.seed,
            snakemake.output.groups,
        )
    )
