"""Write where every term of a corpus stands."""

from irpretrain.config.retrieval import IndriOptions
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.indri import build_positions

with stage(snakemake) as counts:
    counts |= build_positions(
        list(snakemake.input.documents),
        IndriOptions(),
        TextConfig(**snakemake.params.text),
        snakemake.output.positions,
    )
