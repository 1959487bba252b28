"""Refuse test queries that train, choose or tune too."""

from irpretrain.corpora.shared_queries import check_shared_queries
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        check_shared_queries(
            snakemake.input.used,
            snakemake.input.tested,
            (snakemake.wildcards.used, snakemake.wildcards.dataset),
            snakemake.params.named_by,
            snakemake.output.counts,
            tuple(snakemake.input.qrels) or None,
        )
    )
