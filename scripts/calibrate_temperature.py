"""Choose the temperature of a collection's pseudo-queries by the ranks that they give their documents."""

from irpretrain.axioms.calibration import (
    SAMPLE_DOCUMENTS,
    RankSample,
    calibrate_temperature,
    calibration_sampler,
)
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as done:
    given, seed = snakemake.input, snakemake.params.seed
    options = PseudoQueriesConfig(**snakemake.params.options)
    sampler = calibration_sampler(given.statistics, options, seed)
    sample = RankSample(
        list(given.words),
        given.statistics,
        given.postings,
        AxiomsConfig(**snakemake.params.axioms),
        SAMPLE_DOCUMENTS,
        seed,
        snakemake.threads,
    )
    done(
        calibrate_temperature(
            sampler,
            sample,
            options,
            snakemake.params.shares,
            snakemake.output.temperature,
        )
    )
