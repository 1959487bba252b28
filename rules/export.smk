"""Trained models for others to take; for the target exported_models, or one directory as a target."""


rule export_model:
    """A model's directory without snapshots, with a card that says what it was made from, and its scores that are there."""
    input:
        model=plan.models.directory,
        trained=plan.exports.trained,
        probes=plan.exports.probes,
    output:
        model=directory(paths.EXPORTED),
        meta=sidecar(paths.EXPORTED),
    log:
        "results/logs/export_model/{model}-{seed}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        facts=plan.exports.card,
        scores=plan.exports.scores,
    script:
        "../scripts/export_model.py"
