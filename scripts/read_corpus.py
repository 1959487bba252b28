"""Read one shard of a corpus, whatever its format, into the document contract."""

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.shards import write_shard
from irpretrain.stage import stage

with stage(snakemake) as done:
    corpus = CorpusConfig(**snakemake.params.corpus)
    done(write_shard(corpus, snakemake.params.source, snakemake.params.shard, snakemake.output.documents))
