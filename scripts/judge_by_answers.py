"""Judge what first stages retrieved for questions by the answers that it holds."""

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.judge_by_answers import judge_by_answers
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= judge_by_answers(
        DatasetConfig(**snakemake.params.dataset),
        snakemake.input.answers,
        snakemake.input.queries,
        list(snakemake.input.runs),
        list(snakemake.input.documents),
        snakemake.output.qrels,
    )
