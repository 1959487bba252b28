"""Show which words of a query and a document each model's score comes from."""

from irpretrain.config.experiments import AttributionConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.report.coloured_texts import CaseSource, write_attributions

with stage(snakemake) as counts:
    counts |= write_attributions(
        snakemake.wildcards.page,
        AttributionConfig(**snakemake.params.options),
        snakemake.params.models,
        CaseSource(
            list(snakemake.input.documents),
            snakemake.input.queries,
            snakemake.input.qrels,
            TextConfig(**snakemake.params.text),
        ),
        snakemake.output.page,
        snakemake.output.words,
    )
