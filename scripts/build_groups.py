"""Make one corpus shard's ranking groups for one objective."""

from pathlib import Path

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.objectives.registry import load_objective, read_options
from irpretrain.stage import stage

with stage(snakemake) as done:
    options = read_options(snakemake.wildcards.objective, snakemake.params.options)
    extra = {}
    if snakemake.input.collection:
        extra["collection"] = snakemake.input.collection
    if snakemake.input.collection_tokens:
        extra["collection_tokens"] = list(snakemake.input.collection_tokens)
    if snakemake.input.anchor_texts:
        extra["anchor_texts"] = snakemake.input.anchor_texts
    if snakemake.input.axiom_values:
        extra["axiom_values"] = snakemake.input.axiom_values
        predictor = snakemake.input.predictor
        extra["predictor"] = Path(predictor).parent if predictor else None
        extra["axioms"] = AxiomsConfig(**snakemake.params.axioms)
    done(
        load_objective(options).build_groups(
            snakemake.input.documents,
            str(snakemake.input.statistics) or None,
            snakemake.input.tokens,
            str(snakemake.input.graph) or None,
            options,
            TextConfig(**snakemake.params.text),
            snakemake.params.seed,
            snakemake.output.groups,
            **extra,
        )
    )
