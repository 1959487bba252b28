"""Trained models for others to take; for the target exported_models, or a model's directory as a target."""


rule export_model:
    """A model's directory without snapshots, with a card that says what it was made from."""
    input:
        model=pretrained_model,
        trained="results/models/pretrained/{model}/seed-{seed}",
    output:
        model=directory("results/exported/{model}/seed-{seed}"),
        meta="results/exported/{model}/seed-{seed}.meta.json",
    log:
        "results/logs/export_model/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/export_model/{model}-{seed}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        facts=card_facts,
    script:
        "../scripts/export_model.py"


rule score_exported_model:
    """What a model reached in the experiments that test it, for its card."""
    input:
        scores=exported_scores,
    output:
        scores="results/exported/{model}/seed-{seed}.scores.md",
        meta="results/exported/{model}/seed-{seed}.scores.md.meta.json",
    log:
        "results/logs/score_exported_model/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/score_exported_model/{model}-{seed}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        label=lambda wildcards: CFG.models[wildcards.model].label,
    script:
        "../scripts/score_exported_model.py"
