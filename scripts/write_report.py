"""Put tables, figures, counts, costs and provenance into one HTML page."""

from irpretrain.config import Config
from irpretrain.report.axiom_results import AxiomFiles
from irpretrain.report.html import write_report
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        write_report(
            config=Config(**snakemake.params.config),
            published=list(snakemake.input.published),
            scores=list(snakemake.input.scores),
            per_query=list(snakemake.input.per_query),
            verdicts=list(snakemake.input.verdicts),
            results="results",
            dag=snakemake.input.dag,
            manifest=snakemake.input.manifest,
            output=snakemake.output.report,
            axioms=AxiomFiles(
                list(snakemake.input.predictors),
                list(snakemake.input.rank_intervals),
                list(snakemake.input.diagnoses),
                list(snakemake.input.temperatures),
            ),
            depths=list(snakemake.input.depths),
            sweeps=list(snakemake.input.sweeps),
            costs=list(snakemake.input.costs),
            pages=list(snakemake.input.pages),
            answers=list(snakemake.input.answers),
        )
    )
