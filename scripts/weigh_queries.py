"""Weight the words of every query of a data set, each by a model that has not seen it."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.weighing import WeightSource, weigh_queries

with stage(snakemake) as counts:
    given = snakemake.input
    learned = WeightSource(list(given.model), str(given.targets), str(given.vectors), str(given.statistics))
    counts |= weigh_queries(
        learned,
        folds=str(given.folds) or None,
        queries=given.queries,
        options=TermWeightsConfig(**snakemake.params.options),
        text=TextConfig(**snakemake.params.text),
        output=snakemake.output.weights,
    )
