"""Trained models for others to take; for the target exported_models, or a model's directory as a target."""


rule export_model:
    """A model's directory without snapshots, with a card that says what it was made from."""
    input:
        model=plan.models.directory,
        trained=paths.PRETRAINED,
    output:
        model=directory(paths.EXPORTED),
        meta=sidecar(paths.EXPORTED),
    log:
        "results/logs/export_model/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/export_model/{model}-{seed}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        facts=plan.exports.card,
    script:
        "../scripts/export_model.py"


rule score_exported_model:
    """What a model reached in the experiments that test it, for its card."""
    input:
        scores=plan.exports.scores,
    output:
        scores=paths.EXPORTED_SCORES,
        meta=sidecar(paths.EXPORTED_SCORES),
    log:
        "results/logs/score_exported_model/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/score_exported_model/{model}-{seed}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        label=settings("models.label"),
    script:
        "../scripts/score_exported_model.py"
