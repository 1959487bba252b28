"""Find the report's example of a weighting of words."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.report.examples import describe_weighting

with stage(snakemake) as counts:
    counts |= describe_weighting(
        snakemake.input.targets,
        TextConfig(**snakemake.params.text),
        snakemake.output.example,
    )
