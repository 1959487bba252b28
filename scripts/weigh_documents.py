"""Weight the words of every document of a corpus shard; goes on after the last finished block."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.stage import stage
from irpretrain.term_weights.weighing import weigh_documents

with stage(snakemake) as done:
    done(
        weigh_documents(
            models=list(snakemake.input.model),
            vectors=str(snakemake.input.vectors),
            statistics=str(snakemake.input.statistics),
            targets=str(snakemake.input.targets),
            documents=snakemake.input.documents,
            options=TermWeightsConfig(**snakemake.params.options),
            text=TextConfig(**snakemake.params.text),
            output=snakemake.output.weights,
            checkpoints=snakemake.params.checkpoints,
            title=f"weigh {snakemake.wildcards.corpus}-{snakemake.wildcards.shard} {snakemake.wildcards.weighting}",
        )
    )
