"""Compute what the axioms compare, for the queries of documents."""

from irpretrain.axioms.compute import compute_axiom_values
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.stage import stage

with stage(snakemake) as done:
    words = snakemake.input.words
    done(
        compute_axiom_values(
            snakemake.input.queries,
            [words] if isinstance(words, str) else list(words),
            snakemake.input.statistics,
            snakemake.input.postings,
            snakemake.input.vectors,
            AxiomsConfig(**snakemake.params.options),
            TextConfig(**snakemake.params.text),
            snakemake.output.values,
            threads=snakemake.threads,
            held_alone=snakemake.params.held_alone,
        )
    )
