"""Weight the words of every document of a corpus shard; goes on after the last saved batch."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.weighing import WeightSource, weigh_documents

with stage(snakemake) as counts:
    given = snakemake.input
    learned = WeightSource(list(given.model), str(given.targets), str(given.vectors), str(given.statistics))
    counts |= weigh_documents(
        learned,
        documents=given.documents,
        options=TermWeightsConfig(**snakemake.params.options),
        text=TextConfig(**snakemake.params.text),
        output=snakemake.output.weights,
        checkpoints=snakemake.params.checkpoints,
        title=f"weigh {snakemake.wildcards.corpus}-{snakemake.wildcards.shard} {snakemake.wildcards.weighting}",
    )
