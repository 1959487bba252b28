"""Count how often each re-ranker of a diagnosis agrees with each axiom."""

from irpretrain.axioms.diagnosis import diagnose
from irpretrain.foundation.stage import stage

with stage(snakemake) as done:
    labels = snakemake.params.labels
    done(
        diagnose(
            snakemake.input.pairs,
            dict(zip(labels, snakemake.input.scores, strict=True)),
            labels,
            snakemake.output.shares,
            snakemake.output.comparisons,
        )
    )
