"""Turn predicted weights into the integers of an index."""

from irpretrain.foundation.stage import stage
from irpretrain.retrieval.term_weights.integers import SCALE, write_vectors

with stage(snakemake) as counts:
    counts |= write_vectors(
        snakemake.input.weights, SCALE, snakemake.params.square_root, output=snakemake.output.vectors
    )
