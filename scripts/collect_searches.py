"""Find what the report shows of an experiment's searches."""

from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.report.searches import collect_searches

with stage(snakemake) as counts:
    counts |= collect_searches(
        snakemake.params.runs,
        snakemake.input.queries,
        snakemake.input.qrels,
        list(snakemake.input.documents),
        TextConfig(**snakemake.params.text),
        snakemake.output.searches,
    )
