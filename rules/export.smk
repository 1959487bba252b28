"""Trained models for others to take; for the target exported_models alone."""


rule export_model:
    """A model's directory without snapshots, with a card that says what it was made from and what it reached."""
    input:
        model=pretrained_model,
        trained="results/models/pretrained/{model}/seed-{seed}",
        scores=exported_scores,
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
