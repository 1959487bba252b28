"""Embedded assets: found inside installed packages, checked against their SHA-256, copied into results/inputs."""


rule materialise_file:
    output:
        asset="results/inputs/{asset}",
        meta="results/inputs/{asset}.meta.json",
    log:
        "results/logs/inputs/{asset}.log",
    benchmark:
        "results/benchmarks/materialise/{asset}.tsv"
    wildcard_constraints:
        asset="|".join(ASSET_FILES),
    priority: PREPARATION
    resources:
        mem_mb=memory(500),
        runtime=minutes(10),
    params:
        expected=expected_asset,
    script:
        "../scripts/materialise_input.py"


use rule materialise_file as materialise_directory with:
    output:
        asset=directory("results/inputs/{asset}"),
        meta="results/inputs/{asset}.meta.json",
    wildcard_constraints:
        asset="|".join(ASSET_DIRECTORIES),
