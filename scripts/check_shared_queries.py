"""Refuse test queries that train, choose or tune too."""

from irpretrain.corpora.shared_queries import check_shared_queries
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    documents = list(snakemake.input.used_documents), list(snakemake.input.tested_documents)
    counts |= check_shared_queries(
        snakemake.input.used,
        snakemake.input.tested,
        (snakemake.wildcards.used, snakemake.wildcards.dataset),
        snakemake.params.named_by,
        snakemake.output.counts,
        tuple(snakemake.input.qrels) or None,
        documents if all(documents) else None,
    )
