"""Scores → tables, figures, and HTML reports: of each paper as soon as its experiments are done, then of the whole run."""

# A paper's tables and figures have names of their own, so each paper has rules of its own.
for paper in CFG.report.papers:
    shown = plan.shown_by(paper)

    rule:
        name:
            f"make_tables_{paper}"
        input:
            **shown.measured,
            published=shown.published,
            distributions=shown.distributions,
            claimed=shown.claimed,
        output:
            verdicts=paths.VERDICTS.format(paper=paper),
            claims=paths.CLAIMS.format(paper=paper),
            tables=shown.tables,
            meta=sidecar(paths.VERDICTS.format(paper=paper)),
        log:
            f"results/logs/make_tables/{paper}.log",
        benchmark:
            f"results/benchmarks/make_tables/{paper}.tsv"
        priority: RESULTS
        group:
            travelling("paper")
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=shown.options,
        script:
            "../scripts/make_tables.py"

    if not shown.figures:
        continue

    rule:
        name:
            f"make_figures_{paper}"
        input:
            scores=shown.scores,
            per_query=shown.per_query,
            published=shown.published,
            metrics=shown.metrics,
            groups=shown.groups,
            predictors=shown.predictors,
            rank_intervals=shown.rank_intervals,
            diagnoses=shown.diagnoses,
            distributions=shown.distributions,
        output:
            figures=shown.figures,
            meta=sidecar(shown.figures[0]),
        log:
            f"results/logs/make_figures/{paper}.log",
        benchmark:
            f"results/benchmarks/make_figures/{paper}.tsv"
        priority: RESULTS
        group:
            travelling("paper")
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30),
        params:
            config=shown.options,
        script:
            "../scripts/make_figures.py"


rule draw_dag:
    output:
        dag=paths.DAG,
        meta=sidecar(paths.DAG),
    log:
        "results/logs/draw_dag.log",
    benchmark:
        "results/benchmarks/draw_dag.tsv"
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        config=config,
    script:
        "../scripts/draw_dag.py"


rule write_paper_report:
    """The report of one paper."""
    input:
        unpack(plan.of_paper("reported")),
        published=plan.of_paper("published"),
        dag=paths.DAG,
        manifest=MANIFEST_FILE,
    output:
        report=paths.PAPER_REPORT,
        meta=sidecar(paths.PAPER_REPORT),
    log:
        "results/logs/write_paper_report/{paper}.log",
    benchmark:
        "results/benchmarks/write_paper_report/{paper}.tsv"
    priority: RESULTS
    group:
        travelling("paper")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=plan.of_paper("options"),
    script:
        "../scripts/write_report.py"


rule write_overview:
    """The scores of all experiments, the verdicts of all papers and their claims in one file each; the headline table,
    and how many verdicts of each paper hold."""
    input:
        scores=plan.shown.scores,
        per_query=plan.shown.per_query,
        verdicts=plan.shown.verdicts,
        claims=plan.shown.claims,
        published=plan.shown.published,
    output:
        scores=paths.ALL_SCORES,
        per_query=paths.ALL_PER_QUERY,
        verdicts=paths.ALL_VERDICTS,
        claims=paths.ALL_CLAIMS,
        tables=plan.targets.overview_tables,
        meta=sidecar(paths.ALL_SCORES),
    log:
        "results/logs/write_overview.log",
    benchmark:
        "results/benchmarks/write_overview.tsv"
    group:
        travelling("overview")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=plain(CFG),
    script:
        "../scripts/write_overview.py"


rule write_report:
    """The report of the whole run."""
    input:
        **plan.shown.reported,
        headline=table_files(["headline"]),
        published=plan.shown.published,
        dag=paths.DAG,
        manifest=MANIFEST_FILE,
    output:
        report=paths.REPORT,
        meta=sidecar(paths.REPORT),
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    group:
        travelling("overview")
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        config=plain(CFG),
    script:
        "../scripts/write_report.py"
