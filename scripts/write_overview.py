"""Join the scores of all experiments and the verdicts and claims of all papers, and write the headline table."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.report.overview import write_overview
from irpretrain.report.result_files import ResultFiles
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        write_overview(
            config=Config(**snakemake.params.config),
            files=ResultFiles.named(snakemake.input),
            all_scores=snakemake.output.scores,
            all_per_query=snakemake.output.per_query,
            all_verdicts=snakemake.output.verdicts,
            all_claims=snakemake.output.claims,
            tables=Path(snakemake.output.tables[0]).parent,
        )
    )
