"""Embedded assets: found inside installed packages, checked against their SHA-256, copied into results/inputs."""


rule materialise_file:
    output:
        asset=paths.INPUT,
        meta=sidecar(paths.INPUT),
    log:
        "results/logs/inputs/{asset}.log",
    benchmark:
        "results/benchmarks/materialise/{asset}.tsv"
    wildcard_constraints:
        asset=one_of(plan.embedded(directories=False)),
    priority: PREPARATION
    resources:
        mem_mb=memory(500),
        runtime=minutes(10),
    params:
        expected=plan.expected_asset,
    script:
        "../scripts/materialise_input.py"


use rule materialise_file as materialise_directory with:
    output:
        asset=directory(paths.INPUT),
        meta=sidecar(paths.INPUT),
    wildcard_constraints:
        asset=one_of(plan.embedded(directories=True)),
