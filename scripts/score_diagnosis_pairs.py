"""Score the pairs of a diagnosis by one re-ranker."""

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.rerank import score_diagnosis_pairs

with stage(snakemake) as counts:
    counts |= score_diagnosis_pairs(
        snakemake.params.directory,
        list(snakemake.input.tokens),
        snakemake.input.pairs,
        RerankingConfig(**snakemake.params.options),
        snakemake.output.scores,
        list(snakemake.input.documents),
        TextConfig(**snakemake.params.text) if snakemake.params.text else None,
    )
