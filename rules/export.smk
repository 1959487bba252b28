"""Trained models and ranking groups for others to take; for the targets exported_models and exported_groups, or one
directory as a target."""


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


rule export_groups:
    """An objective's groups as a Hugging Face data set of texts."""
    input:
        groups=paths.GROUPS,
        tokens=plan.of_collection(paths.TOKENS),
        encoder=plan.model_files_at("encoder.path"),
    output:
        groups=directory(paths.EXPORTED_GROUPS),
        meta=sidecar(paths.EXPORTED_GROUPS),
    log:
        "results/logs/export_groups/{collection}-{objective}.log",
    benchmark:
        "results/benchmarks/export_groups/{collection}-{objective}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        facts=plan.exports.group_card,
        encoder_directory=plan.source_at("encoder.path"),
    script:
        "../scripts/export_groups.py"
