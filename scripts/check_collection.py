"""Refuse an empty collection, and one in which a document id stands twice."""

import json

from irpretrain.atomic import write_text
from irpretrain.corpora.collection import check_collection
from irpretrain.stage import stage

with stage(snakemake) as done:
    counts = check_collection(list(snakemake.input.documents))
    write_text(snakemake.output.checked, json.dumps(counts, indent=1) + "\n")
    done(counts)
