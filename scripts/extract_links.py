"""Find the links of one corpus shard, with their segments, sections and targets' titles."""

from irpretrain.config.text import GraphConfig
from irpretrain.foundation.stage import stage
from irpretrain.text.languages import without_language
from irpretrain.wikipedia.links import extract_links

with stage(snakemake) as counts:
    options, language = without_language(snakemake.params.options)
    counts |= extract_links(
        snakemake.input.documents,
        GraphConfig(**options),
        snakemake.output.sources,
        snakemake.output.links,
        list(snakemake.input.titles),
        language,
    )
