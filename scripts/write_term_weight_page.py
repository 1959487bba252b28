"""Show what weightings give the words of queries' passages."""

from irpretrain.config.experiments import TermWeightPageConfig
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.report.coloured_texts import CaseSource, write_term_weight_page

with stage(snakemake) as counts:
    counts |= write_term_weight_page(
        snakemake.wildcards.page,
        TermWeightPageConfig(**snakemake.params.options),
        snakemake.params.weightings,
        list(snakemake.input.runs),
        CaseSource(
            list(snakemake.input.documents),
            snakemake.input.queries,
            snakemake.input.qrels,
            TextConfig(**snakemake.params.text),
        ),
        RetrievalConfig(**snakemake.params.retrieval),
        snakemake.output.page,
    )
