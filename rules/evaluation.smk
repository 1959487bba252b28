"""Runs → scores."""


rule evaluate:
    input:
        runs=plan.experiments.files,
        qrels=plan.file(paths.QRELS, "experiments"),
        apart=plan.datasets.leakage_check,
        folds=plan.experiments.folds,
    output:
        per_query=paths.PER_QUERY,
        scores=paths.SCORES,
        meta=sidecar(paths.PER_QUERY),
    log:
        "results/logs/evaluate/{experiment}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        runs=plan.experiments.runs,
        measures=plan.experiments.measures,
        squad=plan.experiments.on_squad,
    script:
        "../scripts/evaluate.py"


rule evaluate_depths:
    """Recall of candidates and every re-ranked run, cut to the first candidates (DeepCT, Table 4)."""
    input:
        runs=plan.experiments.files,
        qrels=plan.file(paths.QRELS, "experiments"),
        apart=plan.datasets.leakage_check,
    output:
        per_query=paths.DEPTHS,
        scores=paths.DEPTH_SCORES,
        meta=sidecar(paths.DEPTHS),
    log:
        "results/logs/evaluate_depths/{experiment}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        runs=plan.experiments.runs,
        depths=settings("experiments.depths"),
        measures=plan.experiments.measures,
        squad=plan.experiments.on_squad,
    script:
        "../scripts/evaluate_depths.py"
