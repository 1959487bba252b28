"""Score the pairs of a diagnosis by one re-ranker."""

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.rerank import CorpusTexts, score_diagnosis_pairs

with stage(snakemake) as counts:
    text = TextConfig(**snakemake.params.text) if snakemake.params.text else None
    counts |= score_diagnosis_pairs(
        snakemake.params.directory,
        CorpusTexts(list(snakemake.input.tokens), list(snakemake.input.documents), text),
        snakemake.input.pairs,
        RerankingConfig(**snakemake.params.options),
        snakemake.output.scores,
    )
