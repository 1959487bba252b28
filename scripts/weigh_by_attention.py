"""Weight the words of every document of a corpus shard by an encoder's attention."""

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.infer import infer_documents

with stage(snakemake) as done:
    done(
        infer_documents(
            snakemake.params.encoder_directory,
            snakemake.input.documents,
            TermWeightsConfig(**snakemake.params.options),
            TextConfig(**snakemake.params.text),
            snakemake.output.weights,
            snakemake.params.checkpoints,
            f"weigh {snakemake.wildcards.corpus}-{snakemake.wildcards.shard} {snakemake.wildcards.weighting}",
        )
    )
