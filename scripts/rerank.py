"""Score candidates with a pre-trained cross-encoder that has seen no judgement, or with a re-ranker that is given."""

from pathlib import Path

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.models.encoder_files import SNAPSHOTS, snapshot_name
from irpretrain.retrieval.rerank import CorpusTexts, rerank

with stage(snakemake) as counts:
    model = Path(snakemake.params.directory)
    if snakemake.params.snapshot is not None:
        model = model / SNAPSHOTS / snapshot_name(snakemake.params.snapshot)
    text = TextConfig(**snakemake.params.text) if snakemake.params.text else None
    corpus = CorpusTexts(list(snakemake.input.tokens), list(snakemake.input.documents), text)
    counts |= rerank(
        model,
        corpus,
        snakemake.input.queries,
        snakemake.input.candidates,
        RerankingConfig(**snakemake.params.options),
        snakemake.output.run,
        snakemake.params.checkpoints,
    )
