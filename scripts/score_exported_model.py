"""Write what an exported model reached, beside it."""

from irpretrain.report.model_card import write_scores
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        write_scores(
            list(snakemake.input.scores),
            snakemake.wildcards.model,
            snakemake.params.label,
            int(snakemake.wildcards.seed),
            snakemake.output.scores,
        )
    )
