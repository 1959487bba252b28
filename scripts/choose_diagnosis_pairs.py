"""Draw the pairs of pseudo-queries of a diagnosis."""

from irpretrain.axioms.diagnosis import choose_diagnosis_pairs
from irpretrain.config.axioms import AxiomsConfig, DiagnosisConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= choose_diagnosis_pairs(
        list(snakemake.input.values),
        DiagnosisConfig(**snakemake.params.options, models=["any"]),
        AxiomsConfig(**snakemake.params.axioms),
        snakemake.params.seed,
        snakemake.output.pairs,
    )
