"""Turn predicted weights into the integers of an index."""

from irpretrain.stage import stage
from irpretrain.term_weights.integers import write_vectors

with stage(snakemake) as done:
    done(write_vectors(snakemake.input.weights, output=snakemake.output.vectors, **snakemake.params.options))
