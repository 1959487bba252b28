"""Write a run for others to take, under a header that says how it was made."""

from irpretrain.report.run_export import RunFacts, export_run
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(export_run(snakemake.input.run, RunFacts(**snakemake.params.facts), snakemake.output.run))
