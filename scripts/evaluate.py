"""Score every run with trec_eval's measures."""

from irpretrain.evaluation.evaluate import evaluate
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= evaluate(
        snakemake.params.runs,
        snakemake.input.qrels,
        snakemake.input.folds or None,
        snakemake.params.measures,
        snakemake.output.per_query,
        snakemake.output.scores,
        snakemake.params.squad,
    )
