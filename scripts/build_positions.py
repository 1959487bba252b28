"""Write where every term of a corpus stands."""

from irpretrain.config.text import TextConfig
from irpretrain.retrieval.analysis import IndriOptions
from irpretrain.retrieval.positions import build_positions
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        build_positions(
            list(snakemake.input.documents),
            IndriOptions(),
            TextConfig(**snakemake.params.text),
            snakemake.output.positions,
        )
    )
