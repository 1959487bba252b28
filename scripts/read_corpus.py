"""Read one shard of a corpus, whatever its format, into the document contract."""

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.stage import stage
from irpretrain.text.languages import without_language

with stage(snakemake) as counts:
    options, language = without_language(snakemake.params.corpus)
    outputs = snakemake.output.documents, snakemake.output.redirects
    source, shard = snakemake.params.source, snakemake.params.shard
    setting = f"corpora.{snakemake.wildcards.corpus}.malformed"
    counts |= write_shard(CorpusConfig(**options), source, shard, *outputs, language, setting=setting)
