"""Read one shard of a corpus, whatever its format, into the document contract."""

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.shards import write_shard
from irpretrain.stage import stage

with stage(snakemake) as done:
    corpus = CorpusConfig(**snakemake.params.corpus)
    outputs = snakemake.output.documents, snakemake.output.redirects
    done(write_shard(corpus, snakemake.params.source, snakemake.params.shard, *outputs))
