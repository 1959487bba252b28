"""Refuse a data set with a file that is other than the published one."""

from irpretrain.catalogue.table import require
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(require(snakemake.wildcards.entry, snakemake.input.report, snakemake.output.sound))
