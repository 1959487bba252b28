"""Check a run of others against queries and documents, and write it as one of ours."""

from irpretrain.config.retrieval import RunConfig
from irpretrain.foundation.stage import stage
from irpretrain.retrieval.runs_of_others import take_run

with stage(snakemake) as counts:
    counts |= take_run(
        RunConfig(**snakemake.params.options),
        list(snakemake.input.run),
        snakemake.wildcards.candidates,
        snakemake.input.queries,
        list(snakemake.input.documents),
        snakemake.params.depth,
        snakemake.output.run,
        snakemake.params.queries_are_documents,
    )
