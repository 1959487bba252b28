"""Scores → tables, figures, and one HTML report."""


rule make_tables:
    """The papers' tables, ours beside the published numbers, and the headline table."""
    input:
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=published(PAPERS),
    output:
        verdicts="results/verdicts.csv",
        tables=tables(PAPERS),
        meta="results/verdicts.csv.meta.json",
    log:
        "results/logs/make_tables.log",
    benchmark:
        "results/benchmarks/make_tables.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        config=dump(CFG),
    script:
        "../scripts/make_tables.py"


rule make_figures:
    input:
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=published(PAPERS),
        metrics=training_metrics(),
        groups=sampling_counts(),
    output:
        figures=figures(PAPERS),
        meta=f"{figures(PAPERS)[0]}.meta.json",
    log:
        "results/logs/make_figures.log",
    benchmark:
        "results/benchmarks/make_figures.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        config=dump(CFG),
    script:
        "../scripts/make_figures.py"


rule draw_dag:
    output:
        dag="results/figures/dag.svg",
        meta="results/figures/dag.svg.meta.json",
    log:
        "results/logs/draw_dag.log",
    benchmark:
        "results/benchmarks/draw_dag.tsv"
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        snakefile=str(workflow.main_snakefile),
        config=config,
    script:
        "../scripts/draw_dag.py"


rule write_report:
    input:
        tables=tables(PAPERS),
        verdicts="results/verdicts.csv",
        figures=figures(PAPERS),
        dag="results/figures/dag.svg",
        scores="results/scores.csv",
        per_query="results/per_query.parquet",
        published=published(PAPERS),
        manifest=RESOURCES / "embedded.yaml",
    output:
        report="results/report.html",
        meta="results/report.html.meta.json",
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        config=dump(CFG),
    script:
        "../scripts/write_report.py"
