"""Score first stages and re-ranked runs at several depths."""

from irpretrain.evaluation.evaluate import evaluate_depths
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= evaluate_depths(
        snakemake.params.runs,
        snakemake.input.qrels,
        snakemake.params.depths,
        snakemake.params.measures,
        snakemake.output.per_query,
        snakemake.output.scores,
        snakemake.params.squad,
    )
