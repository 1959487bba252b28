"""Look at every file of a data set that is there: size and checksum."""

from irpretrain.corpora.catalogue.read import Entry
from irpretrain.corpora.catalogue.table import verify
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    entry = Entry(**snakemake.params.entry)
    counts |= verify(snakemake.wildcards.entry, entry, snakemake.params.data, snakemake.output.report)
