"""Weight the words of every query of a data set, each by a model that has not seen it."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.stage import stage
from irpretrain.term_weights.weighing import weigh_queries

with stage(snakemake) as done:
    done(
        weigh_queries(
            models=list(snakemake.input.model),
            folds=str(snakemake.input.folds) or None,
            vectors=str(snakemake.input.vectors),
            statistics=str(snakemake.input.statistics),
            targets=str(snakemake.input.targets),
            queries=snakemake.input.queries,
            options=TermWeightsConfig(**snakemake.params.options),
            text=TextConfig(**snakemake.params.text),
            output=snakemake.output.weights,
        )
    )
