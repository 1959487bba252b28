"""Find the report's example of an objective."""

from irpretrain.foundation.stage import stage
from irpretrain.report.examples import describe_objective

with stage(snakemake) as counts:
    counts |= describe_objective(
        snakemake.input.groups,
        list(snakemake.input.tokens),
        list(snakemake.input.documents),
        snakemake.params.encoder_directory,
        list(snakemake.input.axiom_values),
        snakemake.params.axioms.get("stm_2_threshold"),
        snakemake.output.example,
    )
