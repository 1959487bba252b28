"""Show the rankings of two models side by side, query by query."""

from irpretrain.config.query_pages import QueryPageConfig
from irpretrain.config.retrieval import RerankingConfig, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.report.query_pages import write_query_page
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        write_query_page(
            snakemake.wildcards.page,
            QueryPageConfig(**snakemake.params.options),
            snakemake.params.rankings,
            snakemake.params.dataset,
            snakemake.params.measure,
            list(snakemake.input.documents),
            snakemake.input.queries,
            snakemake.input.qrels,
            TextConfig(**snakemake.params.text),
            RetrievalConfig(**snakemake.params.retrieval),
            RerankingConfig(**snakemake.params.reranking),
            snakemake.params.seed,
            snakemake.output.page,
        )
    )
