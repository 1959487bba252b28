"""The catalogue of data sets (resources/datasets): which are there, and whether they are the published ones."""


rule verify_dataset:
    """What is wrong is written, not refused: the target datasets shows it, and require_dataset stops at it.

    The files are no inputs, because a sidecar would hash them all once more; a changed one is known by its size and time.
    """
    output:
        report=paths.CATALOGUE_REPORT,
        meta=sidecar(paths.CATALOGUE_REPORT),
    log:
        "results/logs/verify_dataset/{entry}.log",
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(240),
    params:
        entry=plan.catalogue.options,
        data=plan.catalogue.folder,
        present=plan.catalogue.states,
    script:
        "../scripts/verify_dataset.py"


rule require_dataset:
    """Corpora, queries and judgements from the catalogue are read only if their files are the published ones."""
    input:
        report=paths.CATALOGUE_REPORT,
    output:
        sound=paths.CATALOGUE_SOUND,
        meta=sidecar(paths.CATALOGUE_SOUND),
    log:
        "results/logs/require_dataset/{entry}.log",
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(500),
        runtime=minutes(10),
    script:
        "../scripts/require_dataset.py"


rule list_datasets:
    """For the target datasets alone."""
    input:
        reports=plan.catalogue.reports,
    output:
        table=paths.DATASETS_TABLE,
        meta=sidecar(paths.DATASETS_TABLE),
    log:
        "results/logs/list_datasets.log",
    resources:
        mem_mb=memory(500),
        runtime=minutes(10),
    params:
        entries=plan.catalogue.present,
        data=plan.catalogue.folders,
    script:
        "../scripts/list_datasets.py"
