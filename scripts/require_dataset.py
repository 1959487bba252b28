"""Refuse a data set with a file that is other than the published one."""

from irpretrain.corpora.catalogue.table import require
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= require(snakemake.wildcards.entry, snakemake.input.report, snakemake.output.sound)
