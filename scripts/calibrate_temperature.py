"""Choose the temperature of a collection's pseudo-queries by the ranks that they give their documents."""

from irpretrain.axioms.calibration import calibrate_temperature
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(
        calibrate_temperature(
            list(snakemake.input.words),
            snakemake.input.statistics,
            snakemake.input.postings,
            PseudoQueriesConfig(**snakemake.params.options),
            AxiomsConfig(**snakemake.params.axioms),
            snakemake.params.shares,
            snakemake.params.seed,
            snakemake.output.temperature,
            threads=snakemake.threads,
        )
    )
