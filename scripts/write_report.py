"""Put tables, figures, counts, costs and provenance into one HTML page."""

from irpretrain.config import Config
from irpretrain.foundation.stage import stage
from irpretrain.report.html import write_report
from irpretrain.report.result_files import ResultFiles

with stage(snakemake) as counts:
    counts |= write_report(
        config=Config(**snakemake.params.config).of_papers(snakemake.params.papers),
        published=list(snakemake.input.published),
        files=ResultFiles.named(snakemake.input),
        results="results",
        manifest=snakemake.input.manifest,
        output=snakemake.output.report,
    )
