"""Count how often each re-ranker of a diagnosis agrees with each axiom."""

from irpretrain.axioms.diagnosis import diagnose
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= diagnose(
        snakemake.input.pairs,
        snakemake.params.scores,
        snakemake.params.labels,
        snakemake.output.shares,
    )
