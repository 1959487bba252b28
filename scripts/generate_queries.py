"""Write queries for every document of a corpus shard; goes on after the last finished block."""

from irpretrain.config.retrieval import Doc2QueryConfig
from irpretrain.config.text import TextConfig
from irpretrain.retrieval.query_generation import generate_queries
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        generate_queries(
            model=snakemake.params.model,
            documents=snakemake.input.documents,
            options=Doc2QueryConfig(**snakemake.params.options),
            text=TextConfig(**snakemake.params.text),
            output=snakemake.output.queries,
            checkpoints=snakemake.params.checkpoints,
            title=f"generate {snakemake.wildcards.corpus}-{snakemake.wildcards.shard} {snakemake.wildcards.index}",
        )
    )
