"""Compute what the axioms compare, for the queries of documents."""

from irpretrain.axioms.axiom_values import compute_axiom_values
from irpretrain.axioms.batch import open_collection
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    words = snakemake.input.words
    given, options = snakemake.input, AxiomsConfig(**snakemake.params.options)
    collection = open_collection(given.statistics, given.postings, given.vectors, options, snakemake.threads)
    counts |= compute_axiom_values(
        snakemake.input.queries,
        [words] if isinstance(words, str) else list(words),
        collection,
        TextConfig(**snakemake.params.text),
        snakemake.output.values,
    )
