"""Refuse an empty collection, and one in which a document id stands twice."""

from irpretrain.corpora.collection import check_collection
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    documents = list(snakemake.input.documents)
    counts |= check_collection(documents, snakemake.output.checked, snakemake.params.corpora)
