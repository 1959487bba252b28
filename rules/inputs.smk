"""Embedded assets: found inside installed packages, checked against their SHA-256, copied into results/inputs."""

ASSET_DIRECTORIES = [name for name, asset in MANIFEST.assets.items() if asset.directory]
ASSET_FILES = [name for name in MANIFEST.assets if name not in ASSET_DIRECTORIES]


rule materialise_file:
    output:
        asset="results/inputs/{asset}",
        meta="results/inputs/{asset}.meta.json",
    wildcard_constraints:
        asset="|".join(ASSET_FILES),
    params:
        manifest=str(RESOURCES / "embedded.yaml"),
        expected=lambda wildcards: dump(MANIFEST.assets[wildcards.asset]),
    log:
        "results/logs/inputs/{asset}.log",
    resources:
        mem_mb=memory(500),
        runtime=10,
    script:
        "../scripts/materialise_input.py"


rule materialise_directory:
    output:
        asset=directory("results/inputs/{asset}"),
        meta="results/inputs/{asset}.meta.json",
    wildcard_constraints:
        asset="|".join(ASSET_DIRECTORIES),
    params:
        manifest=str(RESOURCES / "embedded.yaml"),
        expected=lambda wildcards: dump(MANIFEST.assets[wildcards.asset]),
    log:
        "results/logs/inputs/{asset}.log",
    resources:
        mem_mb=memory(500),
        runtime=10,
    script:
        "../scripts/materialise_input.py"
