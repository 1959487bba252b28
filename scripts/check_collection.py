"""Refuse an empty collection, and one in which a document id stands twice."""

from irpretrain.corpora.collection import check_collection
from irpretrain.stage import stage

with stage(snakemake) as done:
    done(check_collection(list(snakemake.input.documents), snakemake.output.checked))
