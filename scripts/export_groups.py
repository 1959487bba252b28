"""Write ranking groups as a data set for others to take, with its card."""

from irpretrain.report.exports import GroupFacts, export_groups
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        export_groups(
            snakemake.input.groups,
            list(snakemake.input.tokens),
            snakemake.params.encoder_directory,
            GroupFacts.read(snakemake.params.facts),
            snakemake.output.groups,
        )
    )
