"""What ir_datasets holds, and embedded assets: found inside installed packages, checked against their SHA-256, copied into results/inputs."""


rule materialise_file:
    output:
        asset=paths.INPUT,
        meta=sidecar(paths.INPUT),
    log:
        "results/logs/inputs/{asset}.log",
    wildcard_constraints:
        asset=pattern_of(plan.embedded(directories=False)),
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
        asset=pattern_of(plan.embedded(directories=True)),


rule describe_ir_dataset:
    """A small file stands for what lies in ir_datasets' own folder; nothing is downloaded."""
    output:
        description=paths.IR_DATASET,
        meta=sidecar(paths.IR_DATASET),
    log:
        "results/logs/ir_datasets/{part}/{identifier}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        several_shards=plan.several_shards,
    script:
        "../scripts/describe_ir_dataset.py"
