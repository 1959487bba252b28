"""Read a test collection's questions and answers, and check the documents that are searched for them."""

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.judge_by_answers import prepare_questions
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= prepare_questions(
        DatasetConfig(**snakemake.params.dataset),
        snakemake.input.questions,
        snakemake.input.answers,
        list(snakemake.input.documents),
        snakemake.params.seed,
        snakemake.output.queries,
        snakemake.params.corpora,
    )
