"""Make one corpus shard's ranking groups for one objective."""

from pathlib import Path

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.objectives import read_options
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.objectives.shard import Shard, write_groups

with stage(snakemake) as counts:
    given, params = snakemake.input, snakemake.params
    shard = Shard(
        given.documents,
        TextConfig(**params.text),
        params.seed,
        tokens=given.tokens,
        statistics=str(given.statistics),
        graph=str(given.graph),
        collection=tuple(given.collection),
        collection_tokens=tuple(given.collection_tokens),
        anchor_texts=str(given.anchor_texts),
        axiom_values=str(given.axiom_values),
        predictor=Path(given.predictor).parent if given.predictor else "",
        axioms=AxiomsConfig(**params.axioms),
    )
    options = read_options(snakemake.wildcards.objective, params.options)
    counts |= write_groups(shard, options, snakemake.output.groups)
