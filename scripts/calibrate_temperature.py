"""Choose the temperature of a collection's pseudo-queries by the ranks that they give their documents."""

from irpretrain.axioms.calibration import SAMPLE_DOCUMENTS, RankSample, calibrate_temperature
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    given = snakemake.input
    sample = RankSample(
        list(given.words),
        given.statistics,
        given.postings,
        AxiomsConfig(**snakemake.params.axioms),
        SAMPLE_DOCUMENTS,
        snakemake.params.seed,
        snakemake.threads,
    )
    counts |= calibrate_temperature(
        sample,
        PseudoQueriesConfig(**snakemake.params.options),
        snakemake.params.shares,
        snakemake.output.temperature,
    )
