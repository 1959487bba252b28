"""Join a collection's links to the See Also graph and the hyperlink graph."""

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.stage import stage
from irpretrain.wikipedia.build_graph import build_graph, by_corpus

with stage(snakemake) as counts:
    shards = [count for _, count in snakemake.params.corpora]
    counts |= build_graph(
        by_corpus(snakemake.input.sources, shards),
        by_corpus(snakemake.input.links, shards),
        by_corpus(snakemake.input.redirects, shards),
        GraphConfig(**snakemake.params.options),
        snakemake.output.graph,
    )
