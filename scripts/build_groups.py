"""Make one corpus shard's ranking groups for one objective."""

import os

from irpretrain.config.text import TextConfig
from irpretrain.objectives.registry import load_objective, read_options
from irpretrain.stage import stage

with stage(snakemake) as done:
    options = read_options(snakemake.wildcards.objective, snakemake.params.options)
    done(
        load_objective(options).build_groups(
            snakemake.input.documents,
            str(snakemake.input.statistics) or None,
            snakemake.input.tokens,
            os.path.commonpath(snakemake.input.graph) if snakemake.input.graph else None,
            options,
            TextConfig(**snakemake.params.text),
            snakemake.params.seed,
            snakemake.output.groups,
        )
    )
