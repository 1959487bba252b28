"""Train and test a preference predictor."""

from pathlib import Path

from irpretrain.axioms.train_predictor import train_predictor
from irpretrain.config.axioms import AxiomsConfig, PredictorConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= train_predictor(
        snakemake.input.judged,
        list(snakemake.input.pseudo),
        PredictorConfig(**snakemake.params.options),
        AxiomsConfig(**snakemake.params.axioms),
        Path(snakemake.output.scores).parent,
        threads=snakemake.threads,
    )
