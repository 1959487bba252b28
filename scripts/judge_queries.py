"""Bring a data set's queries together with the documents that are relevant to them."""

from irpretrain.axioms.predictor_queries import judged_queries
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= judged_queries(
        list(snakemake.input.documents),
        snakemake.input.queries,
        snakemake.input.qrels,
        snakemake.output.queries,
    )
