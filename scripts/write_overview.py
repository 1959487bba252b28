"""Join the scores of all experiments and the claims of all papers, and write the headline table."""

from pathlib import Path

from irpretrain.config import Config
from irpretrain.foundation.stage import stage
from irpretrain.report.result_files import ResultFiles
from irpretrain.report.tables import write_overview

with stage(snakemake) as counts:
    counts |= write_overview(
        config=Config(**snakemake.params.config),
        files=ResultFiles.named(snakemake.input),
        all_scores=snakemake.output.scores,
        all_per_query=snakemake.output.per_query,
        all_claims=snakemake.output.claims,
        tables=Path(snakemake.output.tables[0]).parent,
    )
