"""Make or read the cross-validation folds of a data set."""

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.make_folds import make_folds
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= make_folds(
        snakemake.input.queries,
        DatasetConfig(**snakemake.params.dataset),
        snakemake.params.seed,
        snakemake.output.folds,
        snakemake.params.shots,
    )
