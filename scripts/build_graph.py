"""Join a collection's links to the See Also graph and the hyperlink graph."""

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.stage import by_corpus, stage
from irpretrain.wikipedia.build_graph import build_graph

with stage(snakemake) as counts:
    corpora = snakemake.params.corpora
    counts |= build_graph(
        by_corpus(snakemake.input.sources, corpora),
        by_corpus(snakemake.input.links, corpora),
        by_corpus(snakemake.input.redirects, corpora),
        GraphConfig(**snakemake.params.options),
        snakemake.output.graph,
    )
