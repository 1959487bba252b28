"""Score the predictions of tasks beside retrieval."""

from irpretrain.evaluation.answers import evaluate_downstream
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= evaluate_downstream(
        snakemake.params.runs,
        snakemake.params.tasks,
        snakemake.params.labels,
        snakemake.output.per_query,
        snakemake.output.scores,
        snakemake.output.table,
    )
