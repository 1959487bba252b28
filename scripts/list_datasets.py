"""Write the state of every data set of the catalogue."""

from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.corpora.catalogue.table import list_datasets
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    counts |= list_datasets(
        read_catalogue(),
        dict(zip(snakemake.params.entries, snakemake.input.reports, strict=True)),
        snakemake.params.data,
        snakemake.output.table,
    )
