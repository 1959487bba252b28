"""Trained models for others to take; for the target exported_models, or one directory as a target."""


rule export_model:
    """A model's directory without snapshots, with a card that says what it was made from, and its scores that are there."""
    input:
        model=plan.models.directory,
        trained=paths.PRETRAINED,
        probes=plan.exports.probes,
        earlier=plan.exports.earlier,
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
        directory=plan.models.directory,
        facts=plan.exports.card,
        scores=plan.exports.scores,
    script:
        "../scripts/export_model.py"


use rule export_model as export_finetuned_model with:
    # Fine-tuning keeps its models, if it does, beside its runs.
    input:
        trained=paths.FINETUNED_RUN,
        probes=[],
        earlier=plan.exports.earlier,
    output:
        model=directory(paths.EXPORTED_FINETUNED),
        meta=sidecar(paths.EXPORTED_FINETUNED),
    log:
        "results/logs/export_model/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.log",
    wildcard_constraints:
        regime=r"full|few-shot-\d+",
    params:
        directory=plan.exports.finetuned_directory,
        facts=plan.exports.finetuned_card,
        scores=plan.exports.scores,


use rule export_model as export_term_weigher with:
    input:
        trained=paths.TERM_MODEL,
        probes=[],
        earlier=[],
    output:
        model=directory(paths.EXPORTED_WEIGHER),
        meta=sidecar(paths.EXPORTED_WEIGHER),
    log:
        "results/logs/export_model/term_weights-{weighting}-{fold}.log",
    wildcard_constraints:
        weighting=one_of(plan.term_weights.learned(None, "regressor")),
    params:
        directory=plan.file(paths.TERM_MODEL, "term_weights"),
        facts=plan.exports.weigher_card,
        scores=plan.exports.weigher_scores,
